// SPDX-License-Identifier: Apache-2.0
#include "os/linux/unix_sockets.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "os/linux/foreign_handle.h"

namespace cairn {
namespace {

// Linux 6.5; headers of the distributions we build on lack the names.
constexpr int kPassPidfd = 76;        // SO_PASSPIDFD
constexpr int kAttachedPidfd = 0x04;  // SCM_PIDFD

// The most descriptors of one message (SCM_MAX_FD). The kernel closes descriptors without room
// before the message is read, and such a close could wait.
constexpr size_t kMostAttached = 253;

void TakeAttachments(msghdr& header, UnixMessage* message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    if (part->cmsg_type == SCM_CREDENTIALS && part->cmsg_len >= CMSG_LEN(sizeof(ucred))) {
      ucred credentials{};
      std::memcpy(&credentials, CMSG_DATA(part), sizeof(credentials));
      // 0: sent before this end asked for credentials, so by the process that made the socket.
      if (credentials.pid > 0) message->sender.pid = credentials.pid;
    } else if (part->cmsg_type == kAttachedPidfd && part->cmsg_len >= CMSG_LEN(sizeof(int))) {
      int fd = -1;  // or an error, negative
      std::memcpy(&fd, CMSG_DATA(part), sizeof(fd));
      message->sender.handle = FileDescriptor(fd);
    } else if (part->cmsg_type == SCM_RIGHTS) {
      const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(fd));
        ++message->attached;
        message->highest = std::max(message->highest, fd);
        CloseElsewhere(std::exchange(message->last, FileDescriptor(fd)));
      }
    }
  }
}

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

UnixMessage ReceiveFrom(const SystemHandle& connection, std::span<std::byte> data) {
  iovec bytes{data.data(), data.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int)) +
                                CMSG_SPACE(kMostAttached * sizeof(int))];
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  UnixMessage message;
  do {
    message.size_bytes =
        recvmsg(DescriptorOf(connection), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (message.size_bytes < 0 && errno == EINTR);
  if (message.size_bytes < 0) return message;
  message.is_end = message.size_bytes == 0 && header.msg_controllen == 0;
  message.is_cut = (header.msg_flags & MSG_CTRUNC) != 0;
  TakeAttachments(header, &message);
  return message;
}

void CloseConnection(SystemHandle connection) {
  (void)shutdown(DescriptorOf(connection), SHUT_RDWR);
  CloseElsewhere(std::move(connection));
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
