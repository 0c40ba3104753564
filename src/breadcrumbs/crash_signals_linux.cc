// SPDX-License-Identifier: Apache-2.0
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
std::array<struct sigaction, kFaults.size()> previous;

void PassOn(int signal_number, siginfo_t* info, void* machine_context) {
  const struct sigaction* before = nullptr;
  for (size_t i = 0; i < kFaults.size(); ++i) {
    if (kFaults[i] == signal_number) before = &previous[i];
  }
  if ((before->sa_flags & SA_SIGINFO) != 0) {
    before->sa_sigaction(signal_number, info, machine_context);
  } else if (before->sa_handler == SIG_DFL) {
    // A fault strikes again when the handler returns; what somebody sent has to be sent again.
    signal(signal_number, SIG_DFL);
    if (info->si_code <= 0) raise(signal_number);
  } else if (before->sa_handler != SIG_IGN) {
    before->sa_handler(signal_number);
  }
}

void OnFault(int signal_number, siginfo_t* info, void* machine_context) {
  for (std::atomic<Context*>& slot : contexts) {
    if (Context* context = slot.load(std::memory_order_acquire)) context->Mirror();
  }
  if (BlockHeader* block = header.load(std::memory_order_acquire)) {
    block->crash_thread = static_cast<uint32_t>(syscall(SYS_gettid));
    block->crash_address =
        info->si_code > 0 ? reinterpret_cast<uintptr_t>(info->si_addr) : uintptr_t{0};
    block->crash_signal.store(static_cast<uint32_t>(signal_number), std::memory_order_release);
  }
  PassOn(signal_number, info, machine_context);
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
  header.store(block_header, std::memory_order_release);
  contexts[context->index()].store(context, std::memory_order_release);
  std::call_once(installed, InstallHandlers);
}

void ForgetContextInCrashSignals(Context* context) {
  Context* expected = context;
  contexts[context->index()].compare_exchange_strong(expected, nullptr);
}

}  // namespace cairn
