// SPDX-License-Identifier: Apache-2.0
#include "os/crash.h"

#include <signal.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace cairn {
namespace {

constexpr std::array<int, 5> kFaults = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

void (*crash_handler)(Crash& crash) = nullptr;
std::array<struct sigaction, kFaults.size()> previous;

// Returns true if the action is a function, not one of the kernel's own two.
bool IsHandler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

void CallHandlerBefore(int signal_number, siginfo_t* info, void* machine_context) {
  const struct sigaction* before = nullptr;
  for (size_t i = 0; i < kFaults.size(); ++i) {
    if (kFaults[i] == signal_number) before = &previous[i];
  }
  // The kernel does so before it calls such a handler.
  if (IsHandler(*before) && (before->sa_flags & SA_RESETHAND) != 0) signal(signal_number, SIG_DFL);
  if ((before->sa_flags & SA_SIGINFO) != 0) {
    before->sa_sigaction(signal_number, info, machine_context);
  } else if (before->sa_handler == SIG_DFL ||
             (before->sa_handler == SIG_IGN && info->si_code > 0)) {
    // A fault strikes again when the handler returns (also an ignored one: the kernel ends a
    // process that ignores its own fault); a signal that was sent has to be sent again.
    signal(signal_number, SIG_DFL);
    if (info->si_code <= 0) raise(signal_number);
  } else if (before->sa_handler != SIG_IGN) {
    before->sa_handler(signal_number);
  }
}

void OnSignal(int signal_number, siginfo_t* info, void* machine_context);

bool HandlerIsStillOurs(int signal_number) {
  struct sigaction now {};
  return sigaction(signal_number, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
         now.sa_sigaction == OnSignal;
}

class SignalCrash final : public Crash {
 public:
  SignalCrash(int signal_number, siginfo_t* info, void* machine_context)
      : Crash(static_cast<uint32_t>(signal_number),
              info->si_code > 0 ? reinterpret_cast<uintptr_t>(info->si_addr) : uintptr_t{0}),
        signal_number_(signal_number),
        info_(info),
        machine_context_(machine_context),
        error_(errno) {}

  bool PassOn() override {
    errno = error_;
    CallHandlerBefore(signal_number_, info_, machine_context_);
    error_ = errno;
    return HandlerIsStillOurs(signal_number_);
  }
  int error() const { return error_; }

 private:
  int signal_number_;
  siginfo_t* info_;
  void* machine_context_;
  int error_;  // what the program finds in errno
};

void OnSignal(int signal_number, siginfo_t* info, void* machine_context) {
  SignalCrash crash(signal_number, info, machine_context);
  crash_handler(crash);
  errno = crash.error();
}

// Returns an action that keeps the flags and the mask of the earlier handler.
struct sigaction ActionOver(const struct sigaction& before) {
  struct sigaction action {};
  action.sa_sigaction = OnSignal;
  if (IsHandler(before)) {
    constexpr int kKept = SA_ONSTACK | SA_NODEFER | SA_RESTART;
    action.sa_flags = SA_SIGINFO | (before.sa_flags & kKept);
    action.sa_mask = before.sa_mask;
  } else {
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
  }
  return action;
}

}  // namespace

void InstallCrashHandler(void (*handler)(Crash& crash)) {
  crash_handler = handler;
  for (size_t i = 0; i < kFaults.size(); ++i) {
    if (sigaction(kFaults[i], nullptr, &previous[i]) != 0) continue;
    const struct sigaction action = ActionOver(previous[i]);
    sigaction(kFaults[i], &action, nullptr);
  }
}

// The kernel reports exits.
void TellExit(void (*)()) {}

}  // namespace cairn
