// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "programs/misbehave.h"

extern char** environ;

namespace {

int KillsItsChild() {
  const pid_t child = fork();
  if (child == 0) WaitForEver();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return 0;
}

}  // namespace

void EndSuddenly() {
  raise(SIGKILL);
  __builtin_unreachable();
}

bool AnotherIsKilled(const char* self) {
  char mode[] = "kill";
  char* arguments[] = {const_cast<char*>(self), mode, nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, self, nullptr, nullptr, arguments, environ) != 0) std::exit(71);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

void WaitForEver() {
  for (;;) pause();
}

std::optional<int> MisbehaveAsHere(const std::string& mode, const char*, SimulatedDevice& device,
                                   SimulatedCommandList& native) {
  // Exits like Wine when a Windows program has died of an access violation.
  if (mode == "exit-by-exception") _exit(static_cast<int>(0xc0000005));
  if (mode == "segv-in-thread") {
    std::thread([] { *reinterpret_cast<volatile int*>(0xdead000) = 1; }).join();
  }
  if (mode == "fork") {
    device.Finish(native);
    cairnRefresh(device.context());
    return KillsItsChild();
  }
  return std::nullopt;
}
