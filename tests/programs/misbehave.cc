// SPDX-License-Identifier: Apache-2.0
//
// A program that ends badly on request: misbehave MODE [ARGUMENT]. Every mode first records one
// frame and lets the simulated GPU stand still inside the dispatch "Blur".
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "programs/simulated_frame.h"

extern char** environ;

namespace {

void WaitForFile(const char* path) {
  const timespec pause{0, 5'000'000};
  while (access(path, R_OK) != 0) nanosleep(&pause, nullptr);
}

void WaitForEver() {
  for (;;) pause();
}

// Runs this program again with another mode, and returns its wait status.
int RunAnother(const char* self, const char* mode) {
  char* arguments[] = {const_cast<char*>(self), const_cast<char*>(mode), nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, self, nullptr, nullptr, arguments, environ) != 0) std::exit(71);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

int KillsItsChild() {
  const pid_t child = fork();
  if (child == 0) WaitForEver();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return 0;
}

// Never returns a value that the mode does not promise.
int Misbehave(const std::string& mode, const char* argument, const char* self,
              SimulatedDevice& device, SimulatedCommandList& native) {
  if (mode == "exit") {
    device.Finish(native);
    Must(cairnDestroyContext(device.context()), "cairnDestroyContext");
    return argument == nullptr ? 0 : std::atoi(argument);
  }
  if (mode == "kill") raise(SIGKILL);
  if (mode == "abort") std::abort();
  // As Wine does when a Windows program has died of an access violation.
  if (mode == "exit-by-exception") _exit(static_cast<int>(0xc0000005));
  if (mode == "segv-in-thread") {
    std::thread([] { *reinterpret_cast<volatile int*>(0xdead000) = 1; }).join();
  }
  if (mode == "device-lost") {
    Must(cairnReportDeviceLost(device.context(), -4, "vkQueueSubmit"), "cairnReportDeviceLost");
    return 3;
  }
  if (mode == "hang") WaitForEver();
  if (mode == "hang-then-finish" || mode == "hang-then-kill") {
    WaitForFile(argument);
    if (mode == "hang-then-kill") raise(SIGKILL);
    device.Finish(native);
    cairnRefresh(device.context());
    return 0;
  }
  if (mode == "idle") {
    device.Finish(native);
    cairnRefresh(device.context());
    const timespec time{std::atoi(argument) / 1000, std::atoi(argument) % 1000 * 1'000'000};
    nanosleep(&time, nullptr);
    return 0;
  }
  if (mode == "fork") {
    device.Finish(native);
    cairnRefresh(device.context());
    return KillsItsChild();
  }
  if (mode == "two") {
    const int status = RunAnother(self, "kill");
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) return 72;
    raise(SIGKILL);
  }
  if (mode == "start-watcher" || mode == "start-watcher-late") raise(SIGKILL);
  return 73;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const char* argument = argc > 2 ? argv[2] : nullptr;
  CairnWatcherDesc watcher{};
  watcher.struct_size = sizeof(watcher);
  watcher.output_path = argument;
  watcher.cairn_path = argc > 3 ? argv[3] : nullptr;
  if (mode == "start-watcher") Must(cairnStartWatcher(&watcher), "cairnStartWatcher");
  SimulatedDevice device;
  SimulatedCommandList native;
  RecordFrame(device, native);
  if (mode == "start-watcher-late") Must(cairnStartWatcher(&watcher), "cairnStartWatcher");
  device.Execute(native, kWritesIntoBlur);
  cairnRefresh(device.context());
  // Tests wait for this line before they kill the program.
  std::printf("ready %d\n", getpid());
  std::fflush(stdout);
  return Misbehave(mode, argument, argv[0], device, native);
}
