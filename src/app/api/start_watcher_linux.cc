// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "app/api/start_watcher.h"
#include "app/recorder/block_writer.h"
#include "app/recorder/watcher_link.h"
#include "os/channel.h"
#include "os/environment.h"

namespace cairn {
namespace {

constexpr int kSocketInWatcher = 3;
constexpr int kStartTimeoutMs = 10'000;

// In bin/ of the installation that the library belongs to (lib/ or lib/ARCHITECTURE/ of it), beside the
// library, or beside the program; "" if it is in none. PATH is the user's, and not asked: what stands in
// it might be another program of that name.
std::string FindCairn(const CairnWatcherDesc& desc) {
  if (desc.cairn_path != nullptr) return desc.cairn_path;
  std::error_code ignored;
  std::vector<std::filesystem::path> places;
  Dl_info library{};
  if (dladdr(reinterpret_cast<void*>(&cairnStartWatcher), &library) != 0 &&
      library.dli_fname != nullptr) {
    const auto folder = std::filesystem::absolute(library.dli_fname, ignored).parent_path();
    places.push_back(folder.parent_path() / "bin" / "cairn");
    if (folder.parent_path().filename() == "lib") {
      places.push_back(folder.parent_path().parent_path() / "bin" / "cairn");
    }
    places.push_back(folder / "cairn");
  }
  places.push_back(std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() /
                   "cairn");
  for (const std::filesystem::path& place : places) {
    if (access(place.c_str(), X_OK) == 0) return place;
  }
  return "";
}

std::vector<std::string> Arguments(const CairnWatcherDesc& desc, const std::string& cairn) {
  std::vector<std::string> arguments = {cairn, "watch", "--fd", std::to_string(kSocketInWatcher)};
  if (desc.hang_timeout_ms != 0) {
    arguments.push_back("--hang-timeout");
    arguments.push_back(std::to_string(desc.hang_timeout_ms / 1000) + "." +
                        std::to_string(1000 + desc.hang_timeout_ms % 1000).substr(1));
  }
  if (desc.output_path != nullptr) {
    arguments.push_back("-o");
    arguments.push_back(desc.output_path);
  }
  return arguments;
}

[[noreturn]] void FailToStart(int error_pipe) {
  const int error = errno;
  const ssize_t written = write(error_pipe, &error, sizeof(error));
  _exit(written == sizeof(error) ? 127 : 126);
}

// Runs in a forked child of a process with threads: only calls that are safe there. The grandchild
// becomes the watcher, so that the program never sees a child that it did not start.
[[noreturn]] void BecomeWatcher(char* const* arguments, int socket, int error_pipe) {
  const pid_t watcher = fork();
  if (watcher > 0) _exit(0);
  if (watcher < 0) FailToStart(error_pipe);
  setsid();
  // Keep the two descriptors apart before one of them takes the number 3.
  const int moved_pipe = fcntl(error_pipe, F_DUPFD_CLOEXEC, kSocketInWatcher + 1);
  if (moved_pipe >= 0 && dup2(socket, kSocketInWatcher) >= 0) {
    fcntl(kSocketInWatcher, F_SETFD, 0);
    execv(arguments[0], arguments);
  }
  FailToStart(moved_pipe >= 0 ? moved_pipe : error_pipe);
}

// 0, or the errno with which exec failed.
int Launch(char* const* arguments, int socket) {
  std::array<int, 2> error_pipe{};
  if (pipe2(error_pipe.data(), O_CLOEXEC) != 0) return errno;
  const pid_t child = fork();
  if (child < 0) {
    const int fork_error = errno;
    close(error_pipe[0]);
    close(error_pipe[1]);
    return fork_error;
  }
  if (child == 0) BecomeWatcher(arguments, socket, error_pipe[1]);
  close(error_pipe[1]);
  int error = 0;
  ssize_t received = 0;
  // End of file: exec succeeded and closed the pipe.
  do {
    received = read(error_pipe[0], &error, sizeof(error));
  } while (received < 0 && errno == EINTR);
  close(error_pipe[0]);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return received == sizeof(error) ? error : 0;
}

// Waits for the watcher's word that it watches this process.
Status AwaitWatcher(int socket) {
  HandoverMessage message;
  pollfd readable{socket, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&readable, 1, kStartTimeoutMs);
  } while (ready < 0 && errno == EINTR);
  if (ready == 1 && recv(socket, &message, sizeof(message), MSG_DONTWAIT) == sizeof(message) &&
      message.magic == kHandoverMagic && message.kind == HandoverKind::kWatching) {
    return Status();
  }
  return Status(StatusCode::kIo, ready == 0 ? "the watcher does not answer"
                                            : "the watcher ended at once; it says why on stderr");
}

}  // namespace

Status StartWatcher(const CairnWatcherDesc& desc) {
  if (IsPrivilegedProcess()) {
    return Status(StatusCode::kIo,
                  "this program has more rights than its user: it starts no watcher");
  }
  if (WatcherSocket().ok()) return Status();
  const std::string cairn = FindCairn(desc);
  if (cairn.empty()) {
    return Status(StatusCode::kNotFound,
                  "the program cairn is neither in the installation of libcairn nor beside this "
                  "program; set CairnWatcherDesc::cairn_path");
  }
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    return StatusFromErrno(errno, "the watcher's socket cannot be made");
  }
  std::vector<std::string> arguments = Arguments(desc, cairn);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const int error = Launch(pointers.data(), sockets[1]);
  close(sockets[1]);
  if (error != 0) {
    close(sockets[0]);
    return StatusFromErrno(
        error, "the watcher " + cairn + " cannot be started; set CairnWatcherDesc::cairn_path");
  }
  if (Status status = AwaitWatcher(sockets[0]); !status.ok()) {
    close(sockets[0]);
    return status;
  }
  // The descriptor closes with the process; the watcher takes that as its end.
  setenv(kWatcherFdVariable, TextOfInherited(sockets[0]).c_str(), 1);
  return BlockWriter::HandOverToNewWatcher();
}

}  // namespace cairn
