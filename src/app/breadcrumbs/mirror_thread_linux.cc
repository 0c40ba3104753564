// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <signal.h>

#include <utility>

#include "app/breadcrumbs/mirror_thread.h"

namespace cairn {

std::thread StartMirrorThread(std::function<void()> loop) {
  // The new thread inherits this thread's mask.
  sigset_t all;
  sigset_t previous;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, &previous);
  // Put back also if no thread can be had: the caller's signals must not stay blocked.
  struct RestoreMask {
    const sigset_t& mask;
    ~RestoreMask() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
  } const restore{previous};
  return std::thread([loop = std::move(loop)] {
    pthread_setname_np(pthread_self(), "cairn-mirror");
    loop();
  });
}

}  // namespace cairn
