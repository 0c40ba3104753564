// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "recorder/handover.h"

namespace cairn {
namespace {

Status Send(const HandoverMessage& message, int attached_fd) {
  const int socket = WatcherSocket();
  if (socket < 0) return Status(StatusCode::kNotFound, "this process has no watcher");
  iovec data{const_cast<HandoverMessage*>(&message), sizeof(message)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (attached_fd >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    cmsghdr* attachment = CMSG_FIRSTHDR(&header);
    attachment->cmsg_level = SOL_SOCKET;
    attachment->cmsg_type = SCM_RIGHTS;
    attachment->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(attachment), &attached_fd, sizeof(int));
  }
  for (;;) {
    if (sendmsg(socket, &header, MSG_NOSIGNAL) >= 0) return Status();
    if (errno != EINTR) return StatusFromErrno(errno, "the watcher does not take the message");
  }
}

}  // namespace

int WatcherSocket() {
  const char* value = std::getenv(kWatcherFdVariable);
  if (value == nullptr) return -1;
  int socket = -1;
  const char* end = value + std::strlen(value);
  const auto [rest, error] = std::from_chars(value, end, socket);
  if (error != std::errc() || rest != end || socket < 0) return -1;
  // The number may have been inherited without the descriptor, and mean another file by now.
  int type = 0;
  socklen_t size = sizeof(type);
  if (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) {
    return -1;
  }
  return socket;
}

Status HandOverBlock(const SharedMemory& block) {
  HandoverMessage message;
  message.kind = HandoverKind::kBlock;
  message.block_bytes = block.size_bytes();
  return Send(message, block.fd());
}

Status HandOverCapture(const SharedMemory& region) {
  HandoverMessage message;
  message.kind = HandoverKind::kCapture;
  message.block_bytes = region.size_bytes();
  return Send(message, region.fd());
}

Status SendDeviceLost() {
  HandoverMessage message;
  message.kind = HandoverKind::kDeviceLost;
  return Send(message, -1);
}

bool WatcherIsGone(int socket) {
  pollfd state{socket, 0, 0};
  return poll(&state, 1, 0) == 1 && (state.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

}  // namespace cairn
