// SPDX-License-Identifier: Apache-2.0
#include "os/linux/unix_sockets.h"

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace cairn {
namespace {

constexpr int kPassPidfd =
    76;  // SO_PASSPIDFD of Linux 6.5; headers of the distributions we build on lack the name

}  // namespace

UnixAddress AddressOf(DoorName kind, const std::string& door) {
  UnixAddress made;
  made.address.sun_family = AF_UNIX;
  // An abstract name begins with a zero, and a path ends with one.
  const size_t start = kind == DoorName::kName ? 1 : 0;
  if (door.empty() || door.size() + 1 > sizeof(made.address.sun_path)) return made;
  std::memcpy(made.address.sun_path + start, door.data(), door.size());
  made.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + door.size() + 1);
  return made;
}

bool AskForSenders(const SystemHandle& socket) {
  const int on = 1;
  const int fd = DescriptorOf(socket);
  // Best effort: there is another way to a process, if not as sure.
  (void)setsockopt(fd, SOL_SOCKET, kPassPidfd, &on, sizeof(on));
  return setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0;
}

FileDescriptor ListenAt(const UnixAddress& address) {
  if (address.size == 0) {
    errno = ENAMETOOLONG;
    return FileDescriptor();
  }
  FileDescriptor door(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!door.valid() || !AskForSenders(door) ||
      bind(door.get(), reinterpret_cast<const sockaddr*>(&address.address), address.size) != 0 ||
      listen(door.get(), SOMAXCONN) != 0) {
    const int error = errno;
    door.Close();
    errno = error;
    return FileDescriptor();
  }
  return door;
}

std::optional<ucred> PeerOf(const SystemHandle& connection) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(DescriptorOf(connection), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return std::nullopt;
  }
  return peer;
}

}  // namespace cairn
