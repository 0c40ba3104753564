// SPDX-License-Identifier: Apache-2.0
#include "os/this_process.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

namespace cairn {

ProcessId OwnProcessId() {
  return getpid();
}

std::string OwnProgramPath() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : std::string();
}

std::string OwnCommandLine() {
  char line[4096];
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t length = read(file, line, sizeof(line));
  close(file);
  return length > 0 ? std::string(line, static_cast<size_t>(length)) : std::string();
}

std::vector<std::string> CommandLineWords(int argc, char** argv) {
  // The caller of exec may pass no program name.
  return argc < 1 ? std::vector<std::string>() : std::vector<std::string>(argv + 1, argv + argc);
}

void CallInCopies(void (*function)()) {
  pthread_atfork(nullptr, nullptr, function);
}

}  // namespace cairn
