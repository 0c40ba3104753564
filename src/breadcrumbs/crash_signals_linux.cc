// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>

#include "breadcrumbs/context.h"
#include "breadcrumbs/crash_signals.h"

namespace cairn {
namespace {

constexpr std::array<int, 5> kFaults = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

// Read by the handler: plain atomics, no lock.
std::array<std::atomic<Context*>, kMaxContexts> contexts;
std::atomic<BlockHeader*> header{nullptr};
// Handlers that may be using a context right now.
std::atomic<uint32_t> mirroring{0};
static_assert(std::atomic<uint32_t>::is_always_lock_free);
std::array<struct sigaction, kFaults.size()> previous;

void PassOn(int signal_number, siginfo_t* info, void* machine_context) {
  const struct sigaction* before = nullptr;
  for (size_t i = 0; i < kFaults.size(); ++i) {
    if (kFaults[i] == signal_number) before = &previous[i];
  }
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
  BlockHeader* block = header.load(std::memory_order_acquire);
  // The block of a forked child is its parent's.
  if (block == nullptr || block->process_id != static_cast<uint64_t>(getpid())) {
    PassOn(signal_number, info, machine_context);
    return;
  }
  // The note comes first: mirroring reads a device's memory, and may be what faults next.
  block->crash_thread = static_cast<uint32_t>(syscall(SYS_gettid));
  block->crash_address =
      info->si_code > 0 ? reinterpret_cast<uintptr_t>(info->si_addr) : uintptr_t{0};
  block->crash_signal.store(static_cast<uint32_t>(signal_number), std::memory_order_release);
  mirroring.fetch_add(1);
  for (std::atomic<Context*>& slot : contexts) {
    if (Context* context = slot.load()) context->Mirror();
  }
  mirroring.fetch_sub(1);
  PassOn(signal_number, info, machine_context);
  // An application that repairs its faults (write tracking, null checks of a virtual machine) lives
  // on: that was no crash. A fault that was not repaired comes back here, or ends the process.
  if (HandlerIsStillOurs(signal_number)) block->crash_signal.store(0, std::memory_order_release);
}

bool HandlerIsStillOurs(int signal_number) {
  struct sigaction now {};
  return sigaction(signal_number, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
         now.sa_sigaction == OnFault;
}

void InstallHandlers() {
  for (size_t i = 0; i < kFaults.size(); ++i) {
    struct sigaction action {};
    action.sa_sigaction = OnFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(kFaults[i], &action, &previous[i]);
  }
}

}  // namespace

void RememberContextInCrashSignals(Context* context, BlockHeader* block_header) {
  static std::once_flag installed;
  // A forked child that has a block of its own must not mirror into its parent's.
  if (header.exchange(block_header) != block_header) {
    for (std::atomic<Context*>& slot : contexts) slot.store(nullptr);
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

}  // namespace cairn
