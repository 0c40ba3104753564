// SPDX-License-Identifier: Apache-2.0
#include "os/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "os/linux/file_descriptor.h"

namespace cairn {
namespace {

// SO_PEERPIDFD, Linux 6.5; since 6.16 also of a process that has been reaped. Headers of the distributions we build on
// lack the name.
constexpr int kPeerPidfd = 77;

}  // namespace

AttachedMemory AttachedMemory::Of(const SharedMemory& memory) {
  return AttachedMemory(
      FileDescriptor(fcntl(static_cast<int>(memory.handle()), F_DUPFD_CLOEXEC, 0)));
}

Result<ChannelEnds> MakeChannel() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return StatusFromErrno(errno, "the watcher's socket cannot be made");
  }
  // The socket may be full while its reader is stopped: a program goes on without a watcher.
  constexpr timeval kPatience{10, 0};
  for (const int end : ends) {
    (void)setsockopt(end, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  }
  return ChannelEnds{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

Result<ProcessHandle> MakerOfChannel(RawHandle end) {
  const int socket = static_cast<int>(end);
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0) {
    int pidfd = -1;
    size = sizeof(pidfd);
    if (getsockopt(socket, SOL_SOCKET, kPeerPidfd, &pidfd, &size) == 0) {
      return ProcessHandle{peer.pid, FileDescriptor(pidfd)};
    }
    Result<ProcessHandle> opened = OpenProcess(peer.pid);
    if (opened.status().code() == StatusCode::kNotFound) return ProcessHandle{peer.pid, {}};
    return opened;
  }
  return StatusFromErrno(errno, "descriptor " + std::to_string(end) + " is not a watcher's socket");
}

// "N:INODE" with the number that fstat gives it. A launcher may close it, and N be another one then.
std::string TextOfInherited(RawHandle end) {
  struct stat info {};
  std::string value = std::to_string(end);
  if (fstat(static_cast<int>(end), &info) == 0) value += ":" + std::to_string(info.st_ino);
  return value;
}

RawHandle FindInherited(const char* text) {
  int socket = -1;
  const char* const end = text + std::strlen(text);
  const auto number = std::from_chars(text, end, socket);
  if (number.ec != std::errc() || socket < 0) return -1;
  struct stat info {};
  int type = 0;
  socklen_t size = sizeof(type);
  if (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET ||
      fstat(socket, &info) != 0) {
    return -1;
  }
  // Some say only "N".
  if (number.ptr == end) return socket;
  uint64_t inode = 0;
  if (*number.ptr != ':') return -1;
  const auto [rest, error] = std::from_chars(number.ptr + 1, end, inode);
  return error == std::errc() && rest == end && inode == info.st_ino ? socket : -1;
}

Status SendOver(RawHandle end, std::span<const std::byte> message, const SharedMemory* memory) {
  iovec data{const_cast<std::byte*>(message.data()), message.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (memory != nullptr) {
    const int attached = static_cast<int>(memory->handle());
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    cmsghdr* const attachment = CMSG_FIRSTHDR(&header);
    attachment->cmsg_level = SOL_SOCKET;
    attachment->cmsg_type = SCM_RIGHTS;
    attachment->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(attachment), &attached, sizeof(int));
  }
  for (;;) {
    if (sendmsg(static_cast<int>(end), &header, MSG_NOSIGNAL) >= 0) return Status();
    if (errno != EINTR) return StatusFromErrno(errno, "the watcher does not take the message");
  }
}

Received ReceiveWithin(RawHandle end, uint64_t timeout_ns, ChannelMessage* message) {
  pollfd readable{static_cast<int>(end), POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&readable, 1, static_cast<int>(timeout_ns / 1'000'000));
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) return Received::kNothing;
  const ssize_t size =
      recv(static_cast<int>(end), message->data.data(), message->data.size(), MSG_DONTWAIT);
  if (size <= 0) return Received::kClosed;
  message->size_bytes = static_cast<size_t>(size);
  return Received::kMessage;
}

bool IsChannelClosed(RawHandle end) {
  pollfd state{static_cast<int>(end), 0, 0};
  return poll(&state, 1, 0) == 1 && (state.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

}  // namespace cairn
