// SPDX-License-Identifier: Apache-2.0
#include "os/linux/user_requests.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

namespace cairn {

UserRequests::UserRequests() : state_(std::make_unique<State>()) {}

UserRequests::~UserRequests() {
  state_->Restore();
}

Status UserRequests::Listen(bool with_trigger) {
  sigset_t mask;
  sigemptyset(&mask);
  // SIGXFSZ: a file that may not grow.
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGXFSZ}) sigaddset(&mask, number);
  if (with_trigger) sigaddset(&mask, SIGUSR1);
  sigprocmask(SIG_BLOCK, &mask, &state_->mask_before);
  state_->ignored_broken_pipes = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  state_->listens = true;
  state_->signals = FileDescriptor(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  return state_->signals.valid() ? Status()
                                 : StatusFromErrno(errno, "signals cannot be waited for");
}

bool UserRequests::Take(UserRequest* request) {
  signalfd_siginfo info{};
  while (read(state_->signals.get(), &info, sizeof(info)) == sizeof(info)) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGXFSZ) continue;
    // The terminal sends ^C and ^\ to all: each decides what they mean.
    const bool from_terminal =
        info.ssi_code == SI_KERNEL && (number == SIGINT || number == SIGQUIT);
    *request = {number == SIGUSR1 ? UserRequest::Kind::kTrigger : UserRequest::Kind::kSignal,
                number, from_terminal};
    return true;
  }
  return false;
}

const SystemHandle& UserRequests::handle() const {
  return state_->signals;
}

}  // namespace cairn
