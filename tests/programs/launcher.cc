// SPDX-License-Identifier: Apache-2.0
//
// Starts a program as launchers do: launcher [OPTIONS] PROGRAM [ARGUMENTS]. Every descriptor but the standard
// ones is closed before; the exit code is the program's, 128 + N for signal N, 77 where this user may not
// do what an option asks for.
//   --other-socket   the number of the socket that was inherited is another socket's
//   --other-network  in a network namespace of its own
//   --no-proc        where /proc shows nothing
//   --stay           ends when the program has written a line, says "ready PID", and leaves it running
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr int kSkipped = 77;

void TakeNumberOfInherited() {
  const char* const value = std::getenv("CAIRN_WATCHER_FD");
  int ends[2];
  if (value == nullptr || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0 ||
      dup2(ends[0], std::atoi(value)) < 0) {
    std::exit(70);
  }
}

void Hide(bool network, bool proc) {
  if (network && unshare(CLONE_NEWNET) != 0) std::exit(kSkipped);
  if (!proc) return;
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", "/proc", "tmpfs", 0, nullptr) != 0) {
    std::exit(kSkipped);
  }
}

}  // namespace

int main(int argc, char** argv) {
  bool other_socket = false, other_network = false, no_proc = false, stay = false;
  int first = 1;
  for (; first < argc && argv[first][0] == '-'; ++first) {
    const std::string option = argv[first];
    other_socket |= option == "--other-socket";
    other_network |= option == "--other-network";
    no_proc |= option == "--no-proc";
    stay |= option == "--stay";
  }
  if (first >= argc) return 70;
  Hide(other_network, no_proc);
  syscall(SYS_close_range, 3u, ~0u, 0u);
  if (other_socket) TakeNumberOfInherited();
  int output[2];
  if (stay && pipe2(output, O_CLOEXEC) != 0) return 73;
  const pid_t child = fork();
  if (child == 0) {
    if (stay) dup2(output[1], STDOUT_FILENO);
    execv(argv[first], argv + first);
    _exit(71);
  }
  if (stay) {
    char byte = 0;
    while (byte != '\n') {
      if (read(output[0], &byte, 1) != 1) return 74;
    }
    std::printf("ready %d\n", child);
    return 0;
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return 72;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
