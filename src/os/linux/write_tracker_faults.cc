// SPDX-License-Identifier: Apache-2.0
//
// By mprotect, and a handler of SIGSEGV that takes the protection away.
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <new>

#include "os/protected_pages.h"

namespace cairn {
namespace {

bool ProtectPages(PageRange pages, bool writable) {
  return mprotect(reinterpret_cast<void*>(pages.begin), pages.end - pages.begin,
                  writable ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
}

// Never destroyed: a thread may write while the process ends.
ProtectedPages& Shared() {
  static ProtectedPages& pages = *new ProtectedPages(&ProtectPages);
  return pages;
}

// The handlers that were there when ours was installed, the first and the last time. Never changed nor
// freed once they can be found: another thread may be in the middle of calling them.
constinit std::atomic<const struct sigaction*> first_before{nullptr};
constinit std::atomic<const struct sigaction*> last_before{nullptr};

// The library is there when the program starts: the handler finds these without a call.
// The fault that this thread has passed on last, and where our handler stood then.
[[gnu::tls_model("initial-exec")]] constinit thread_local const siginfo_t* passed_on = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local uintptr_t passed_on_frame = 0;

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
  if (info->si_code == SEGV_ACCERR &&
      Shared().NoteWrite(reinterpret_cast<uintptr_t>(info->si_addr))) {
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

// Installs the handler again if the program has set its own meanwhile, and calls that one for other
// faults.
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
  Shared().lock().lock();
}
void UnlockAfterFork() {
  Shared().lock().unlock();
}

class ProtectTracker final : public WriteTracker {
 public:
  const char* Name() const override { return "mprotect (write-protection and a signal handler)"; }
  bool MayShareAPage() const override { return false; }
  bool Add(PageRange pages) override { return Install() && Shared().Add(pages); }
  void Remove(PageRange pages) override { Shared().Remove(pages); }
  bool Collect(PageRange pages, std::vector<PageRange>* written) override {
    if (!Install()) return false;
    Shared().Collect(pages, written);
    return true;
  }
};

}  // namespace

const char kFaultWriteTracker[] = "mprotect";

std::unique_ptr<WriteTracker> MakeFaultWriteTracker() {
  static const int prepared = pthread_atfork(&LockBeforeFork, &UnlockAfterFork, &UnlockAfterFork);
  if (prepared != 0) return nullptr;
  return std::make_unique<ProtectTracker>();
}

}  // namespace cairn
