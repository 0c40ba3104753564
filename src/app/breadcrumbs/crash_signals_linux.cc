// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/crash_signals.h"
#include "os/clock.h"

namespace cairn {
namespace {

constexpr std::array<int, 5> kFaults = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

// Read by the handler: plain atomics, no lock.
std::array<std::atomic<Context*>, kMaxContexts> contexts;
std::atomic<BlockHeader*> header{nullptr};
// Handlers that may be using a context right now.
std::atomic<uint32_t> mirroring{0};
// The thread that writes the note of its fault, 0 for none.
std::atomic<uint32_t> writer{0};
static_assert(std::atomic<uint32_t>::is_always_lock_free);
std::array<struct sigaction, kFaults.size()> previous;

// A note takes microseconds; who writes it for longer than this is stuck, and nobody waits for it.
constexpr int kTriesForTurn = 1 << 16;

uint32_t ThisThread() {
  return static_cast<uint32_t>(syscall(SYS_gettid));
}

// False for a thread that writes its note already: that is what faults now.
bool TakeTurn(uint32_t thread) {
  for (int i = 0; i < kTriesForTurn; ++i) {
    uint32_t nobody = 0;
    if (writer.compare_exchange_weak(nobody, thread)) return true;
    if (nobody == thread) return false;
  }
  return false;
}

struct Note {
  uint32_t signal = 0;
  uint32_t thread = 0;
  uint64_t address = 0;
};

// Returns the note that was there: of a fault whose handler has not returned.
Note NoteFault(BlockHeader* block, uint32_t thread, int signal_number, const siginfo_t& info) {
  const Note before = {block->crash_signal.load(), block->crash_thread.load(),
                       block->crash_address};
  const uint64_t now_ns = MonotonicNs();
  block->crash_ns.store(0);
  block->crash_thread.store(thread);
  block->crash_address =
      info.si_code > 0 ? reinterpret_cast<uintptr_t>(info.si_addr) : uintptr_t{0};
  // The note comes first: mirroring reads a device's memory, and may be what faults next.
  block->crash_signal.store(static_cast<uint32_t>(signal_number), std::memory_order_release);
  mirroring.fetch_add(1);
  for (std::atomic<Context*>& slot : contexts) {
    if (Context* context = slot.load()) context->KeepWords(now_ns);
  }
  mirroring.fetch_sub(1);
  block->crash_ns.store(now_ns, std::memory_order_release);
  return before;
}

// The fault of `thread` was handled. Somebody may die of the one before, meanwhile or around it: that is
// noted again, and the words stay those that were copied last.
void ForgetFault(BlockHeader* block, uint32_t thread, const Note& before) {
  if (block->crash_thread.load() != thread || !TakeTurn(thread)) return;
  if (block->crash_thread.load() == thread) {
    if (before.signal == 0) block->crash_ns.store(0);
    block->crash_thread.store(before.thread);
    block->crash_address = before.address;
    block->crash_signal.store(before.signal, std::memory_order_release);
  }
  writer.store(0);
}

void PassOn(int signal_number, siginfo_t* info, void* machine_context) {
  const struct sigaction* before = nullptr;
  for (size_t i = 0; i < kFaults.size(); ++i) {
    if (kFaults[i] == signal_number) before = &previous[i];
  }
  const bool is_handler = (before->sa_flags & SA_SIGINFO) != 0 ||
                          (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN);
  // The kernel does so before it calls such a handler.
  if (is_handler && (before->sa_flags & SA_RESETHAND) != 0) signal(signal_number, SIG_DFL);
  if ((before->sa_flags & SA_SIGINFO) != 0) {
    before->sa_sigaction(signal_number, info, machine_context);
  } else if (before->sa_handler == SIG_DFL ||
             (before->sa_handler == SIG_IGN && info->si_code > 0)) {
    // A fault strikes again when the handler returns (also an ignored one: the kernel ends a process
    // that ignores its own fault); what somebody sent has to be sent again.
    signal(signal_number, SIG_DFL);
    if (info->si_code <= 0) raise(signal_number);
  } else if (before->sa_handler != SIG_IGN) {
    before->sa_handler(signal_number);
  }
}

bool HandlerIsStillOurs(int signal_number);

void OnFault(int signal_number, siginfo_t* info, void* machine_context) {
  const int errno_before = errno;
  BlockHeader* block = header.load(std::memory_order_acquire);
  // The block of a forked child is its parent's.
  if (block == nullptr || block->process_id != static_cast<uint64_t>(getpid())) {
    errno = errno_before;
    PassOn(signal_number, info, machine_context);
    return;
  }
  const uint32_t thread = ThisThread();
  Note before;
  if (TakeTurn(thread)) {
    before = NoteFault(block, thread, signal_number, *info);
    writer.store(0);
  }
  errno = errno_before;
  PassOn(signal_number, info, machine_context);
  // An application that repairs its faults (write tracking, null checks of a virtual machine) lives
  // on: that was no crash. A fault that was not repaired comes back here, or ends the process.
  const int errno_after = errno;
  if (HandlerIsStillOurs(signal_number)) ForgetFault(block, thread, before);
  errno = errno_after;
}

bool HandlerIsStillOurs(int signal_number) {
  struct sigaction now {};
  return sigaction(signal_number, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
         now.sa_sigaction == OnFault;
}

// What the kernel does around the call of a handler is as it was, but for the end of the process.
struct sigaction ActionOver(const struct sigaction& before) {
  struct sigaction action {};
  action.sa_sigaction = OnFault;
  const bool is_handler = (before.sa_flags & SA_SIGINFO) != 0 ||
                          (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);
  if (is_handler) {
    constexpr int kKept = SA_ONSTACK | SA_NODEFER | SA_RESTART;
    action.sa_flags = SA_SIGINFO | (before.sa_flags & kKept);
    action.sa_mask = before.sa_mask;
  } else {
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
  }
  return action;
}

void InstallHandlers() {
  for (size_t i = 0; i < kFaults.size(); ++i) {
    if (sigaction(kFaults[i], nullptr, &previous[i]) != 0) continue;
    const struct sigaction action = ActionOver(previous[i]);
    sigaction(kFaults[i], &action, nullptr);
  }
}

}  // namespace

void RememberContextInCrashSignals(Context* context, BlockHeader* block_header) {
  static std::once_flag installed;
  // A forked child that has a block of its own must not mirror into its parent's.
  if (header.exchange(block_header) != block_header) {
    for (std::atomic<Context*>& slot : contexts) slot.store(nullptr);
    writer.store(0);
  }
  contexts[context->index()].store(context, std::memory_order_release);
  std::call_once(installed, InstallHandlers);
}

void ForgetContextInCrashSignals(Context* context) {
  Context* expected = context;
  contexts[context->index()].compare_exchange_strong(expected, nullptr);
  // A handler on another thread may have found the context just before.
  while (mirroring.load() != 0) sched_yield();
}

void ForgetFaultOfThisThread(BlockHeader* block_header) {
  ForgetFault(block_header, ThisThread(), {});
}

}  // namespace cairn
