// SPDX-License-Identifier: Apache-2.0
#include "os/detached_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "os/linux/file_descriptor.h"

namespace cairn {
namespace {

constexpr int kInherited = 3;

[[noreturn]] void FailToStart(int error_pipe) {
  const int error = errno;
  const ssize_t written = write(error_pipe, &error, sizeof(error));
  _exit(written == sizeof(error) ? 127 : 126);
}

// Runs in a forked child of a process with threads: only calls that are safe there. The grandchild
// becomes the program, so that the caller gets no child that it did not start.
[[noreturn]] void BecomeDetached(char* const* arguments, int inherited, int error_pipe) {
  const pid_t detached = fork();
  if (detached > 0) _exit(0);
  if (detached < 0) FailToStart(error_pipe);
  setsid();
  // Keep the two descriptors apart before one of them takes the number.
  const int moved_pipe = fcntl(error_pipe, F_DUPFD_CLOEXEC, kInherited + 1);
  if (moved_pipe >= 0 && dup2(inherited, kInherited) >= 0) {
    fcntl(kInherited, F_SETFD, 0);
    // It is asked to end as ever, whatever this process makes of such requests.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execv(arguments[0], arguments);
  }
  FailToStart(moved_pipe >= 0 ? moved_pipe : error_pipe);
}

std::error_code LastError() {
  return {errno, std::generic_category()};
}

}  // namespace

uint64_t NumberInDetached(RawHandle) {
  return kInherited;
}

std::error_code StartDetached(const std::vector<std::string>& arguments, RawHandle inherited) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  std::array<int, 2> error_pipe{};
  if (pipe2(error_pipe.data(), O_CLOEXEC) != 0) return LastError();
  const FileDescriptor reader(error_pipe[0]);
  FileDescriptor writer(error_pipe[1]);
  const pid_t child = fork();
  if (child < 0) return LastError();
  if (child == 0) BecomeDetached(pointers.data(), static_cast<int>(inherited), writer.get());
  writer.Close();
  int error = 0;
  ssize_t received = 0;
  // End of file: exec succeeded and closed the pipe.
  do {
    received = read(reader.get(), &error, sizeof(error));
  } while (received < 0 && errno == EINTR);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return {received == sizeof(error) ? error : 0, std::generic_category()};
}

}  // namespace cairn
