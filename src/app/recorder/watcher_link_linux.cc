// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "app/recorder/watcher_connection.h"
#include "app/recorder/watcher_link.h"
#include "os/environment.h"

namespace cairn {
namespace {

// -1: it was not inherited, or means another file by now.
int InheritedSocket() {
  const char* const value = OwnVariable(kWatcherFdVariable);
  if (value == nullptr) return -1;
  int socket = -1;
  const char* const end = value + std::strlen(value);
  const auto number = std::from_chars(value, end, socket);
  if (number.ec != std::errc() || socket < 0) return -1;
  struct stat info {};
  int type = 0;
  socklen_t size = sizeof(type);
  if (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET ||
      fstat(socket, &info) != 0) {
    return -1;
  }
  if (number.ptr == end) return socket;
  uint64_t inode = 0;
  if (*number.ptr != ':') return -1;
  const auto [rest, error] = std::from_chars(number.ptr + 1, end, inode);
  return error == std::errc() && rest == end && inode == info.st_ino ? socket : -1;
}

// Below `settings`, whose log this would be otherwise.
void SayUnwatched(const Status& status) {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  const char* const level = OwnVariable("CAIRN_LOG");
  const std::string_view wanted = level == nullptr ? "" : level;
  if (wanted == "off" || wanted == "error") return;
  const std::string line = "cairn: warning: process " + std::to_string(getpid()) +
                           " is not watched: " + status.message() + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

Status SendOver(int socket, const HandoverMessage& message, int attached_fd) {
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

Status Send(const HandoverMessage& message, int attached_fd) {
  const Result<int> socket = WatcherSocket();
  if (!socket.ok()) return socket.status();
  return SendOver(*socket, message, attached_fd);
}

}  // namespace

Result<int> WatcherSocket() {
  if (const int inherited = InheritedSocket(); inherited >= 0) return inherited;
  const char* const text = OwnVariable(kWatcherAddressVariable);
  const std::optional<WatcherAddress> address =
      text == nullptr ? std::nullopt : ParseWatcherAddress(text);
  if (!address.has_value()) return Status(StatusCode::kNotFound, "this process has no watcher");
  return ConnectionToWatcher(*address);
}

Status HandOverBlock(const SharedMemory& block) {
  HandoverMessage message;
  message.kind = HandoverKind::kBlock;
  message.block_bytes = block.size_bytes();
  Status sent = Send(message, block.fd());
  if (!sent.ok() && sent.code() != StatusCode::kNotFound) SayUnwatched(sent);
  return sent;
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
