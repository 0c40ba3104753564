// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_OS_LINUX_USER_REQUESTS_H_
#define CAIRN_OS_LINUX_USER_REQUESTS_H_

#include <csignal>

#include "os/linux/file_descriptor.h"
#include "os/user_requests.h"

namespace cairn {

struct UserRequests::State {
  // Safe between fork and exec.
  void Restore() const {
    if (!listens) return;
    signal(SIGPIPE, ignored_broken_pipes ? SIG_IGN : SIG_DFL);
    sigprocmask(SIG_SETMASK, &mask_before, nullptr);
  }

  bool listens = false;
  sigset_t mask_before{};
  bool ignored_broken_pipes = false;
  FileDescriptor signals;
};

}  // namespace cairn

#endif  // CAIRN_OS_LINUX_USER_REQUESTS_H_
