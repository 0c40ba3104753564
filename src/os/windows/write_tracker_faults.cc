// SPDX-License-Identifier: Apache-2.0
//
// By VirtualProtect, and a vectored handler that takes the protection away. Pages that may only be read, not
// PAGE_GUARD, which reads would take away, too.
#include "os/protected_pages.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

bool ProtectPages(PageRange pages, bool writable) {
  DWORD before = 0;
  return VirtualProtect(reinterpret_cast<void*>(pages.begin), pages.end - pages.begin,
                        writable ? PAGE_READWRITE : PAGE_READONLY, &before) != 0;
}

// Never destroyed: a thread may write while the process ends.
ProtectedPages& Shared() {
  static ProtectedPages& pages = *new ProtectedPages(&ProtectPages);
  return pages;
}

LONG WINAPI OnException(EXCEPTION_POINTERS* what) {
  constexpr ULONG_PTR kWrite = 1;
  const EXCEPTION_RECORD& record = *what->ExceptionRecord;
  if (record.ExceptionCode != EXCEPTION_ACCESS_VIOLATION || record.NumberParameters < 2 ||
      record.ExceptionInformation[0] != kWrite) {
    return EXCEPTION_CONTINUE_SEARCH;
  }
  const DWORD error = GetLastError();
  const bool again = Shared().NoteWrite(record.ExceptionInformation[1]);
  SetLastError(error);
  return again ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_CONTINUE_SEARCH;
}

// Returns true if all pages are readable and writable without further attributes.
bool IsPlain(PageRange pages) {
  while (pages.begin < pages.end) {
    MEMORY_BASIC_INFORMATION info = {};
    if (VirtualQuery(reinterpret_cast<void*>(pages.begin), &info, sizeof(info)) == 0 ||
        info.State != MEM_COMMIT || info.Protect != PAGE_READWRITE) {
      return false;
    }
    pages.begin = reinterpret_cast<uintptr_t>(info.BaseAddress) + info.RegionSize;
  }
  return true;
}

class ProtectTracker final : public WriteTracker {
 public:
  const char* Name() const override { return "VirtualProtect (write-protection and a handler)"; }
  bool MayShareAPage() const override { return false; }
  // Other memory would not get back the protection that it has.
  bool Add(PageRange pages) override { return IsPlain(pages) && Shared().Add(pages); }
  void Remove(PageRange pages) override { Shared().Remove(pages); }
  bool Collect(PageRange pages, std::vector<PageRange>* written) override {
    Shared().Collect(pages, written);
    return true;
  }
};

}  // namespace

const char kFaultWriteTracker[] = "VirtualProtect";

std::unique_ptr<WriteTracker> MakeFaultWriteTracker() {
  // First in the list: other handlers would take the exception for a crash.
  static const void* const handler = AddVectoredExceptionHandler(/*First=*/1, OnException);
  if (handler == nullptr) return nullptr;
  return std::make_unique<ProtectTracker>();
}

}  // namespace cairn
