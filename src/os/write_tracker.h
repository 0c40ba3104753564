// SPDX-License-Identifier: Apache-2.0
//
// Ways to learn from the system which pages of memory were written. docs/performance.md compares them.
#ifndef CAIRN_OS_WRITE_TRACKER_H_
#define CAIRN_OS_WRITE_TRACKER_H_

#include <cstdint>
#include <memory>
#include <vector>

namespace cairn {

// Addresses, multiples of PageBytes() (os/memory.h).
struct PageRange {
  uintptr_t begin;
  uintptr_t end;
};

// One thread at a time; all but Name() may make system calls.
class WriteTracker {
 public:
  virtual ~WriteTracker() = default;

  // For people: the system's name of it, and how it works.
  virtual const char* Name() const = 0;
  // Pages may be tracked in which only a part is the program's mapping: other writers there, and
  // the kernel, notice nothing.
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

// Makes a tracker that lets the kernel record writes: no thread waits, and the program notices
// nothing. Null: not supported.
std::unique_ptr<WriteTracker> MakeKernelWriteTracker();
// The first word of its name, by which users choose it: "userfaultfd", "GetWriteWatch".
extern const char kKernelWriteTracker[];

// The first write to each page is a fault, which is handled here. The program sees its own page faults, and
// the kernel refuses to write into such pages for it (read() fails with EFAULT). Null: not here.
std::unique_ptr<WriteTracker> MakeFaultWriteTracker();
extern const char kFaultWriteTracker[];  // "mprotect", "VirtualProtect"

// Returns false for memory that a driver maps, whose writes the kernel does not report. True for
// ordinary memory of programs, private or shared, and where the kernel gives no answer.
bool IsOrdinaryMemory(const void* place);

}  // namespace cairn

#endif  // CAIRN_OS_WRITE_TRACKER_H_
