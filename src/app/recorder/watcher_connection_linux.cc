// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "app/recorder/watcher_connection.h"
#include "app/recorder/watcher_link.h"

namespace cairn {
namespace {

// Programs that close what they inherited begin below this.
constexpr int kFirstOwnDescriptor = 200;
// A watcher that is stopped accepts nothing; the program goes on without it.
constexpr timeval kPatience{1, 0};

// 0, or the errno of the step that failed; ENOENT for an address that cannot be said.
int ConnectTo(int socket, bool abstract, const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t start = abstract ? 1 : 0;  // an abstract name begins with a zero
  if (path.empty() || path.size() + start >= sizeof(address.sun_path)) return ENOENT;
  std::memcpy(address.sun_path + start, path.data(), path.size());
  const size_t size = offsetof(sockaddr_un, sun_path) + start + path.size() + (abstract ? 0 : 1);
  while (connect(socket, reinterpret_cast<const sockaddr*>(&address),
                 static_cast<socklen_t>(size)) != 0) {
    if (errno != EINTR) return errno;
  }
  ucred peer{};
  socklen_t peer_size = sizeof(peer);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) != 0) return errno;
  return peer.uid == geteuid() || peer.uid == 0 ? 0 : EPERM;
}

// -1 with errno set.
int MakeSocket() {
  const int low = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (low < 0) return -1;
  // Where so many are not allowed, the low one serves.
  const int high = fcntl(low, F_DUPFD_CLOEXEC, kFirstOwnDescriptor);
  const int made = high >= 0 ? high : low;
  if (high >= 0) close(low);
  (void)setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  return made;
}

struct Attempt {
  int socket = -1;
  int error = 0;
};

// A socket that failed to connect does not serve again.
Attempt Try(bool abstract, const std::string& path, const WatcherToken& token) {
  Attempt attempt;
  attempt.socket = MakeSocket();
  if (attempt.socket < 0) return {-1, errno};
  attempt.error = ConnectTo(attempt.socket, abstract, path);
  if (attempt.error == 0) {
    HandoverGreeting greeting;
    greeting.token = token;
    while (send(attempt.socket, &greeting, sizeof(greeting), MSG_NOSIGNAL) < 0) {
      if (errno == EINTR) continue;
      attempt.error = errno;
      break;
    }
  }
  if (attempt.error != 0) close(std::exchange(attempt.socket, -1));
  return attempt;
}

Result<int> Connect(const WatcherAddress& address) {
  const Attempt named = Try(true, address.name, address.token);
  if (named.socket >= 0) return named.socket;
  const std::string door_path = DoorPath(address);
  const Attempt door = Try(false, door_path, address.token);
  if (door.socket >= 0) return door.socket;
  return Status(StatusCode::kIo,
                "its watcher, process " + std::to_string(address.pid) +
                    ", cannot be reached, neither by its socket (" + std::strerror(named.error) +
                    ") nor by " + (door_path.empty() ? "/proc" : door_path) + " (" +
                    std::strerror(door.error) +
                    "): it has ended, or this process is in other network and PID namespaces");
}

// A connection, and what shows that its number still means it.
struct Kept {
  int socket = -1;
  dev_t device = 0;
  ino_t inode = 0;

  bool IsStillThere() const {
    struct stat info {};
    return socket >= 0 && fstat(socket, &info) == 0 && info.st_dev == device &&
           info.st_ino == inode;
  }
};

}  // namespace

Result<int> ConnectionToWatcher(const WatcherAddress& address) {
  // Never destroyed: threads may ask while the process ends.
  static std::mutex& mutex = *new std::mutex;
  static Kept kept;
  const std::lock_guard lock(mutex);
  if (kept.IsStillThere()) return kept.socket;
  const Result<int> made = Connect(address);
  if (!made.ok()) return made;
  struct stat info {};
  if (fstat(*made, &info) != 0)
    return StatusFromErrno(errno, "the watcher's socket cannot be kept");
  kept = {*made, info.st_dev, info.st_ino};
  return kept.socket;
}

}  // namespace cairn
