// SPDX-License-Identifier: Apache-2.0
#include "os/thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace cairn {

uint32_t CurrentThreadId() {
  return static_cast<uint32_t>(syscall(SYS_gettid));
}

std::array<char, kThreadNameBytes> CurrentThreadName() {
  std::array<char, kThreadNameBytes> name{};
  prctl(PR_GET_NAME, name.data());
  return name;
}

std::thread StartInnerThread(const char* name, std::function<void()> body) {
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
  return std::thread([name, body = std::move(body)] {
    pthread_setname_np(pthread_self(), name);
    body();
  });
}

void ThreadSlot::Open(void (*at_end)(void*)) {
  pthread_key_t key = 0;
  if (pthread_key_create(&key, at_end) == 0) key_ = key;
}

void* ThreadSlot::Get() const {
  return pthread_getspecific(key_);
}

void ThreadSlot::Set(void* value) const {
  pthread_setspecific(key_, value);
}

}  // namespace cairn
