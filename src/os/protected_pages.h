// SPDX-License-Identifier: Apache-2.0
//
// The common part of write trackers that protect pages and handle the faults: the protected pages,
// and those that were written. The system's part gives Protect, and calls NoteWrite from its
// handler.
#ifndef CAIRN_OS_PROTECTED_PAGES_H_
#define CAIRN_OS_PROTECTED_PAGES_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "os/write_tracker.h"

namespace cairn {

// Held for moments, by threads that do not touch tracked memory meanwhile, so that a handler may
// wait for it.
class SpinLock {
 public:
  void lock() {
    while (held_.test_and_set(std::memory_order_acquire)) {
    }
  }
  void unlock() { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_ = ATOMIC_FLAG_INIT;
};

// Any thread.
class ProtectedPages {
 public:
  // Makes the pages readable only, or writable. Safe in a handler.
  using Protect = bool (*)(PageRange pages, bool writable);
  explicit ProtectedPages(Protect protect) : protect_(protect) {}

  // Same contract as WriteTracker.
  bool Add(PageRange pages);
  void Remove(PageRange pages);
  void Collect(PageRange pages, std::vector<PageRange>* written);

  // A write to `address` was a fault. True: it can be tried again. Allocates nothing.
  bool NoteWrite(uintptr_t address);

  // For copies of this process (fork), which may not wait for a thread that they do not have.
  SpinLock& lock() { return lock_; }

 private:
  struct Range {
    PageRange pages;
    std::unique_ptr<std::atomic<uint8_t>[]> written;  // one a page: 1 if it is not protected
  };
  // A thread may have faulted on pages that were given up before its handler came to look.
  struct GivenUp {
    PageRange pages = {};
    uint32_t retries = 0;
  };

  static Range Part(const Range& range, PageRange pages);
  Range* Find(uintptr_t address);
  void UnprotectAll(Range* range);
  void CollectFrom(Range* range, PageRange pages, std::vector<PageRange>* written);

  Protect protect_;
  SpinLock lock_;
  std::map<uintptr_t, Range> ranges_;  // by end
  std::array<GivenUp, 64> given_up_{};
  size_t given_up_count_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_OS_PROTECTED_PAGES_H_
