// SPDX-License-Identifier: Apache-2.0
//
// By mprotect, and a handler of SIGSEGV that takes the protection away.
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <new>

#include "os/memory.h"
#include "os/write_tracker.h"

namespace cairn {
namespace {

struct TrackedPages {
  PageRange pages;
  std::unique_ptr<std::atomic<uint8_t>[]> written;  // one a page: 1 if it is not protected
};

// What the handler sees. The lock is held for moments, by nobody who touches tracked memory meanwhile,
// so that the handler may wait for it.
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

struct Tracked {
  SpinLock lock;
  std::map<uintptr_t, TrackedPages> ranges;  // by end
  // A thread may have faulted on pages that were given up before its handler came to look.
  std::array<PageRange, 64> given_up{};
  size_t given_up_count = 0;
};

Tracked& Shared() {
  static Tracked& tracked = *new Tracked;
  return tracked;
}

// The handlers that were there when ours was installed, the first and the last time. Never changed nor
// freed once they can be found: another thread may be in the middle of calling them.
constinit std::atomic<const struct sigaction*> first_before{nullptr};
constinit std::atomic<const struct sigaction*> last_before{nullptr};

// The library is there when the program starts: the handler finds these without a call.
[[gnu::tls_model("initial-exec")]] constinit thread_local uintptr_t last_retry = 0;
[[gnu::tls_model("initial-exec")]] constinit thread_local int retries = 0;
// The fault that this thread has passed on last, and where our handler stood then.
[[gnu::tls_model("initial-exec")]] constinit thread_local const siginfo_t* passed_on = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local uintptr_t passed_on_frame = 0;

bool Protect(PageRange pages, int protection) {
  return mprotect(reinterpret_cast<void*>(pages.begin), pages.end - pages.begin, protection) == 0;
}

TrackedPages* Find(Tracked& tracked, uintptr_t address) {
  const auto found = tracked.ranges.upper_bound(address);
  if (found == tracked.ranges.end() || found->second.pages.begin > address) return nullptr;
  return &found->second;
}

void UnprotectAll(TrackedPages* range) {
  const size_t count = (range->pages.end - range->pages.begin) / PageBytes();
  for (size_t i = 0; i < count; ++i) range->written[i].store(1, std::memory_order_relaxed);
  Protect(range->pages, PROT_READ | PROT_WRITE);
}

// True: the write can be tried again.
bool NoteWrite(uintptr_t address) {
  Tracked& tracked = Shared();
  const std::lock_guard lock(tracked.lock);
  if (TrackedPages* const range = Find(tracked, address)) {
    const uintptr_t page = address & ~(PageBytes() - 1);
    range->written[(page - range->pages.begin) / PageBytes()].store(1, std::memory_order_relaxed);
    // Each page with another protection than its neighbours is a mapping of its own, of which the
    // kernel allows a process only so many.
    if (!Protect({page, page + PageBytes()}, PROT_READ | PROT_WRITE)) UnprotectAll(range);
    return true;
  }
  const size_t count = std::min(tracked.given_up_count, tracked.given_up.size());
  for (size_t i = 0; i < count; ++i) {
    if (address < tracked.given_up[i].begin || address >= tracked.given_up[i].end) continue;
    // Not for ever: it may be a mistake of the program.
    constexpr int kMostRetries = 16;
    retries = last_retry == address ? retries + 1 : 0;
    last_retry = address;
    return retries < kMostRetries;
  }
  return false;
}

void PassOn(const struct sigaction& action, int signal, siginfo_t* info, void* context) {
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
    // The instruction comes again, and ends the process as if we were not here.
    sigaction(SIGSEGV, &action, nullptr);
  } else {
    action.sa_handler(signal);
  }
}

void OnFault(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  if (info->si_code == SEGV_ACCERR && NoteWrite(reinterpret_cast<uintptr_t>(info->si_addr))) {
    errno = error;
    return;
  }
  errno = error;
  // A handler that the program has set after ours may pass on to ours what we pass on to it. (One that
  // jumps out leaves these as they are; a new fault at the same place has its frame at the same place,
  // not below.)
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const bool again = info == passed_on && frame < passed_on_frame;
  if (again) {
    PassOn(*first_before.load(std::memory_order_acquire), signal, info, context);
    return;
  }
  passed_on = info;
  passed_on_frame = frame;
  PassOn(*last_before.load(std::memory_order_acquire), signal, info, context);
  passed_on = nullptr;
}

bool IsOurs(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &OnFault;
}

// Also when the program has set a handler of its own meanwhile: it is called for what is not ours.
bool Install() {
  struct sigaction current {};
  if (sigaction(SIGSEGV, nullptr, &current) != 0) return false;
  if (IsOurs(current)) return true;
  const auto* const seen = new (std::nothrow) struct sigaction(current);
  if (seen == nullptr) return false;
  const struct sigaction* nothing = nullptr;
  first_before.compare_exchange_strong(nothing, seen, std::memory_order_acq_rel);
  last_before.store(seen, std::memory_order_release);
  struct sigaction ours {};
  ours.sa_sigaction = &OnFault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
  sigemptyset(&ours.sa_mask);
  return sigaction(SIGSEGV, &ours, nullptr) == 0;
}

// The child of a fork has the protected pages too, and may not wait for a lock of a thread that it does
// not have.
void LockBeforeFork() {
  Shared().lock.lock();
}
void UnlockAfterFork() {
  Shared().lock.unlock();
}

class ProtectTracker final : public WriteTracker {
 public:
  const char* Name() const override { return "mprotect (write-protection and a signal handler)"; }
  bool MayShareAPage() const override { return false; }
  bool Add(PageRange pages) override;
  void Remove(PageRange pages) override;
  bool Collect(PageRange pages, std::vector<PageRange>* written) override;

 private:
  void CollectFrom(TrackedPages* range, PageRange pages, std::vector<PageRange>* written);
};

bool ProtectTracker::Add(PageRange pages) {
  if (!Install()) return false;
  const size_t count = (pages.end - pages.begin) / PageBytes();
  TrackedPages range{pages, std::make_unique<std::atomic<uint8_t>[]>(count)};
  Tracked& tracked = Shared();
  const std::lock_guard lock(tracked.lock);
  if (!Protect(pages, PROT_READ)) return false;
  tracked.ranges.insert_or_assign(pages.end, std::move(range));
  return true;
}

// The part `pages` of `range`, with what is known of it.
TrackedPages Part(const TrackedPages& range, PageRange pages) {
  const size_t first = (pages.begin - range.pages.begin) / PageBytes();
  const size_t count = (pages.end - pages.begin) / PageBytes();
  TrackedPages part{pages, std::make_unique<std::atomic<uint8_t>[]>(count)};
  for (size_t i = 0; i < count; ++i) {
    part.written[i].store(range.written[first + i].load(std::memory_order_relaxed),
                          std::memory_order_relaxed);
  }
  return part;
}

void ProtectTracker::Remove(PageRange pages) {
  Tracked& tracked = Shared();
  const std::lock_guard lock(tracked.lock);
  Protect(pages, PROT_READ | PROT_WRITE);
  tracked.given_up[tracked.given_up_count++ % tracked.given_up.size()] = pages;
  auto next = tracked.ranges.upper_bound(pages.begin);
  while (next != tracked.ranges.end() && next->second.pages.begin < pages.end) {
    const auto range = tracked.ranges.extract(next++);
    const PageRange whole = range.mapped().pages;
    if (whole.begin < pages.begin) {
      tracked.ranges.emplace(pages.begin, Part(range.mapped(), {whole.begin, pages.begin}));
    }
    if (pages.end < whole.end) {
      next = tracked.ranges.emplace(whole.end, Part(range.mapped(), {pages.end, whole.end})).first;
    }
  }
}

bool ProtectTracker::Collect(PageRange pages, std::vector<PageRange>* written) {
  if (!Install()) return false;
  Tracked& tracked = Shared();
  const std::lock_guard lock(tracked.lock);
  for (auto range = tracked.ranges.upper_bound(pages.begin);
       range != tracked.ranges.end() && range->second.pages.begin < pages.end; ++range) {
    CollectFrom(&range->second, pages, written);
  }
  return true;
}

void ProtectTracker::CollectFrom(TrackedPages* range, PageRange pages,
                                 std::vector<PageRange>* written) {
  const uintptr_t begin = std::max(pages.begin, range->pages.begin);
  const uintptr_t end = std::min(pages.end, range->pages.end);
  const uintptr_t page_bytes = PageBytes();
  const auto is_written = [range, page_bytes](uintptr_t page) -> std::atomic<uint8_t>& {
    return range->written[(page - range->pages.begin) / page_bytes];
  };
  for (uintptr_t page = begin; page < end; page += page_bytes) {
    if (is_written(page).load(std::memory_order_relaxed) == 0) continue;
    const uintptr_t first = page;
    while (page < end && is_written(page).load(std::memory_order_relaxed) != 0) page += page_bytes;
    written->push_back({first, page});
    // Pages that cannot be protected again stay written, and are looked at each time.
    if (!Protect({first, page}, PROT_READ)) continue;
    for (uintptr_t i = first; i < page; i += page_bytes) {
      is_written(i).store(0, std::memory_order_relaxed);
    }
  }
}

}  // namespace

std::unique_ptr<WriteTracker> MakeFaultWriteTracker() {
  static const int prepared = pthread_atfork(&LockBeforeFork, &UnlockAfterFork, &UnlockAfterFork);
  if (prepared != 0) return nullptr;
  return std::make_unique<ProtectTracker>();
}

}  // namespace cairn
