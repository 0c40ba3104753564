// SPDX-License-Identifier: Apache-2.0
//
// By userfaultfd with asynchronous write-protection and PAGEMAP_SCAN (Linux 6.7).
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "os/memory.h"
#include "os/write_tracker.h"

namespace cairn {
namespace {

// Newer than the headers of the systems that we build on; names and values are the kernel's.
constexpr uint64_t kFeatureWpHugetlbfsShmem = 1u << 12;
constexpr uint64_t kFeatureWpUnpopulated = 1u << 13;
constexpr uint64_t kFeatureWpAsync = 1u << 15;
struct PageRegion {
  uint64_t start;
  uint64_t end;
  uint64_t categories;
};

struct ScanArguments {
  uint64_t size;
  uint64_t flags;
  uint64_t start;
  uint64_t end;
  uint64_t walk_end;
  uint64_t regions;
  uint64_t region_count;
  uint64_t max_pages;
  uint64_t category_inverted;
  uint64_t category_mask;
  uint64_t category_anyof_mask;
  uint64_t return_mask;
};
static_assert(sizeof(ScanArguments) == 96);

constexpr uint64_t kProtectMatching = 1;
constexpr uint64_t kCheckAsync = 2;
constexpr uint64_t kPageIsWritten = 2;
constexpr unsigned long kPagemapScan = _IOWR('f', 16, ScanArguments);

// -1 where there is none.
int OpenUserfault() {
  constexpr int kUserModeOnly = 1;
  return static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | kUserModeOnly));
}

class UserfaultTracker final : public WriteTracker {
 public:
  UserfaultTracker(int userfault, int pagemap) : userfault_(userfault), pagemap_(pagemap) {}
  ~UserfaultTracker() override {
    close(userfault_);
    close(pagemap_);
  }

  const char* Name() const override { return "userfaultfd (write-protection without faults)"; }
  bool MayShareAPage() const override { return true; }
  bool Add(PageRange pages) override;
  void Remove(PageRange pages) override;
  bool Collect(PageRange pages, std::vector<PageRange>* written) override;
  // Returns true if it finds exactly the writes to memory of its own.
  bool Works();

 private:
  int userfault_;
  int pagemap_;
  std::array<PageRegion, 512> regions_;
};

bool UserfaultTracker::Add(PageRange pages) {
  uffdio_register range{};
  range.range = {pages.begin, pages.end - pages.begin};
  range.mode = UFFDIO_REGISTER_MODE_WP;
  if (ioctl(userfault_, UFFDIO_REGISTER, &range) != 0) return false;
  uffdio_writeprotect protect{};
  protect.range = range.range;
  protect.mode = UFFDIO_WRITEPROTECT_MODE_WP;
  if (ioctl(userfault_, UFFDIO_WRITEPROTECT, &protect) == 0) return true;
  Remove(pages);
  return false;
}

void UserfaultTracker::Remove(PageRange pages) {
  uffdio_range range{pages.begin, pages.end - pages.begin};
  // Memory that is not there any more is not tracked any more.
  (void)ioctl(userfault_, UFFDIO_UNREGISTER, &range);
}

bool UserfaultTracker::Collect(PageRange pages, std::vector<PageRange>* written) {
  ScanArguments scan{};
  scan.size = sizeof(scan);
  scan.flags = kProtectMatching | kCheckAsync;
  scan.end = pages.end;
  scan.regions = reinterpret_cast<uintptr_t>(regions_.data());
  scan.region_count = regions_.size();
  scan.category_mask = kPageIsWritten;
  scan.return_mask = kPageIsWritten;
  for (uintptr_t begin = pages.begin; begin < pages.end;) {
    scan.start = begin;
    const int found = ioctl(pagemap_, kPagemapScan, &scan);
    if (found < 0 && errno == EINTR) continue;
    if (found < 0 || scan.walk_end <= begin) return false;
    for (int i = 0; i < found; ++i) written->push_back({regions_[i].start, regions_[i].end});
    begin = scan.walk_end;
  }
  return true;
}

bool UserfaultTracker::Works() {
  const size_t page = PageBytes();
  void* const memory =
      mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const PageRange pages{begin, begin + 4 * page};
  auto* const bytes = static_cast<volatile char*>(memory);
  bytes[0] = 1;
  std::vector<PageRange> first;
  std::vector<PageRange> second;
  bool works = Add(pages) && Collect(pages, &first) && first.empty();
  if (works) {
    bytes[0] = 2;
    bytes[2 * page] = 2;  // was never touched
    works = Collect(pages, &first) && Collect(pages, &second);
  }
  works = works && first.size() == 2 && first[0].begin == begin && first[0].end == begin + page &&
          first[1].begin == begin + 2 * page && first[1].end == begin + 3 * page && second.empty();
  Remove(pages);
  munmap(memory, 4 * page);
  return works;
}

}  // namespace

const char kKernelWriteTracker[] = "userfaultfd";

std::unique_ptr<WriteTracker> MakeKernelWriteTracker() {
  const int userfault = OpenUserfault();
  if (userfault < 0) return nullptr;
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) {
    close(userfault);
    return nullptr;
  }
  auto tracker = std::make_unique<UserfaultTracker>(userfault, pagemap);
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = kFeatureWpAsync | kFeatureWpUnpopulated | kFeatureWpHugetlbfsShmem;
  if (ioctl(userfault, UFFDIO_API, &api) != 0 || !tracker->Works()) return nullptr;
  return tracker;
}

// userfaultfd is for ordinary memory only, and says so when a page is registered. The registration
// is undone at once: a thread that touches the page meanwhile waits.
bool IsOrdinaryMemory(const void* place) {
  const int userfault = OpenUserfault();
  if (userfault < 0) return true;
  uffdio_api api{};
  api.api = UFFD_API;
  const uintptr_t page_bytes = PageBytes();
  uffdio_register range{};
  range.range = {reinterpret_cast<uintptr_t>(place) & ~(page_bytes - 1), page_bytes};
  range.mode = UFFDIO_REGISTER_MODE_MISSING;
  const bool refused = ioctl(userfault, UFFDIO_API, &api) == 0 &&
                       ioctl(userfault, UFFDIO_REGISTER, &range) != 0 && errno == EINVAL;
  if (!refused) (void)ioctl(userfault, UFFDIO_UNREGISTER, &range.range);
  close(userfault);
  return !refused;
}

}  // namespace cairn
