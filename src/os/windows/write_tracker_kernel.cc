// SPDX-License-Identifier: Apache-2.0
//
// By GetWriteWatch, of memory that was allocated with MEM_WRITE_WATCH.
#include <array>

#include "os/memory.h"
#include "os/windows/system.h"
#include "os/write_tracker.h"

namespace cairn {
namespace {

void* At(uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

class WriteWatchTracker final : public WriteTracker {
 public:
  const char* Name() const override { return "GetWriteWatch (without faults)"; }
  bool MayShareAPage() const override { return true; }
  // The system refuses other memory.
  bool Add(PageRange pages) override {
    return ResetWriteWatch(At(pages.begin), pages.end - pages.begin) == 0;
  }
  // The memory is watched as long as it lives.
  void Remove(PageRange) override {}
  bool Collect(PageRange pages, std::vector<PageRange>* written) override;
  // Returns true if it finds exactly the writes to memory of its own.
  bool Works();

 private:
  std::array<void*, 512> found_;
};

bool WriteWatchTracker::Collect(PageRange pages, std::vector<PageRange>* written) {
  const size_t first = written->size();
  for (;;) {
    ULONG_PTR count = found_.size();
    DWORD page_bytes = 0;
    if (GetWriteWatch(WRITE_WATCH_FLAG_RESET, At(pages.begin), pages.end - pages.begin,
                      found_.data(), &count, &page_bytes) != 0) {
      return false;
    }
    for (ULONG_PTR i = 0; i < count; ++i) {
      const auto page = reinterpret_cast<uintptr_t>(found_[i]);
      if (written->size() > first && written->back().end == page) {
        written->back().end += page_bytes;
      } else {
        written->push_back({page, page + page_bytes});
      }
    }
    // More pages may follow those that had room.
    if (count < found_.size()) return true;
    pages.begin = reinterpret_cast<uintptr_t>(found_.back()) + page_bytes;
    if (pages.begin >= pages.end) return true;
  }
}

bool WriteWatchTracker::Works() {
  const size_t page = PageBytes();
  void* const memory =
      VirtualAlloc(nullptr, 4 * page, MEM_RESERVE | MEM_COMMIT | MEM_WRITE_WATCH, PAGE_READWRITE);
  if (memory == nullptr) return false;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const PageRange pages{begin, begin + 4 * page};
  auto* const bytes = static_cast<volatile char*>(memory);
  bytes[0] = 1;
  std::vector<PageRange> first;
  std::vector<PageRange> second;
  bool works = Add(pages) && Collect(pages, &first) && first.empty();
  bytes[0] = 2;
  bytes[2 * page] = 2;  // was never touched
  works = works && Collect(pages, &first) && Collect(pages, &second) && first.size() == 2 &&
          first[0].begin == begin && first[0].end == begin + page &&
          first[1].begin == begin + 2 * page && second.empty();
  VirtualFree(memory, 0, MEM_RELEASE);
  return works;
}

}  // namespace

const char kKernelWriteTracker[] = "GetWriteWatch";

std::unique_ptr<WriteTracker> MakeKernelWriteTracker() {
  auto tracker = std::make_unique<WriteWatchTracker>();
  if (!tracker->Works()) return nullptr;
  return tracker;
}

// Drivers map what the processor does not cache.
bool IsOrdinaryMemory(const void* place) {
  MEMORY_BASIC_INFORMATION info = {};
  if (VirtualQuery(place, &info, sizeof(info)) == 0) return true;
  return (info.Protect & (PAGE_NOCACHE | PAGE_WRITECOMBINE)) == 0;
}

}  // namespace cairn
