// SPDX-License-Identifier: Apache-2.0
//
// Ways to learn from the kernel which pages of memory were written. docs/performance.md compares them.
#ifndef CAIRN_APP_CAPTURE_WRITE_TRACKER_H_
#define CAIRN_APP_CAPTURE_WRITE_TRACKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cairn {

struct PageRange {
  uintptr_t begin;
  uintptr_t end;
};

size_t PageBytes();

// One thread at a time; all but Name() may make system calls.
class WriteTracker {
 public:
  virtual ~WriteTracker() = default;

  virtual const char* Name() const = 0;
  // Pages may be tracked in which only a part is the program's mapping: whoever else writes there, the
  // kernel too, notices nothing.
  virtual bool MayShareAPage() const = 0;

  // Tracks these pages from now on, none of which is tracked yet. False: this memory cannot be tracked
  // this way, and nothing has changed.
  virtual bool Add(PageRange pages) = 0;
  // Pages that may have been unmapped since.
  virtual void Remove(PageRange pages) = 0;
  // Appends the pages among these tracked ones that were written since the last time, in order. A write
  // that comes after that is found the next time. False: tracking failed; nothing is known.
  virtual bool Collect(PageRange pages, std::vector<PageRange>* written) = 0;
};

// userfaultfd with asynchronous write-protection and PAGEMAP_SCAN (Linux 6.7): the kernel notes writes,
// nobody waits. Null: not here.
std::unique_ptr<WriteTracker> MakeUserfaultTracker();

// Write-protection, and a handler of SIGSEGV that takes it away. The program sees its own page faults,
// and the kernel refuses to write into protected pages for it (read() fails with EFAULT). Null: not here.
std::unique_ptr<WriteTracker> MakeProtectTracker();

}  // namespace cairn

#endif  // CAIRN_APP_CAPTURE_WRITE_TRACKER_H_
