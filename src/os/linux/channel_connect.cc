// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "os/channel.h"
#include "os/linux/file_descriptor.h"
#include "os/linux/unix_sockets.h"

namespace cairn {
namespace {

// A watcher that is stopped accepts nothing; the program goes on without it.
constexpr timeval kPatience{1, 0};

// 0, or the errno of the step that failed; ENOENT for an address that cannot be said.
int Connect(const SystemHandle& socket, DoorName kind, const std::string& door) {
  const UnixAddress address = AddressOf(kind, door);
  if (address.size == 0) return ENOENT;
  while (connect(DescriptorOf(socket), reinterpret_cast<const sockaddr*>(&address.address),
                 address.size) != 0) {
    if (errno != EINTR) return errno;
  }
  const std::optional<ucred> peer = PeerOf(socket);
  if (!peer) return errno;
  return peer->uid == geteuid() || peer->uid == 0 ? 0 : EPERM;
}

SystemHandle MakeSocket() {
  SystemHandle low = FileDescriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!low.valid()) return low;
  // If the limit allows no high number, the low one serves.
  SystemHandle high = CopyOf(low.get());
  SystemHandle made = std::move(high.valid() ? high : low);
  (void)setsockopt(DescriptorOf(made), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  return made;
}

}  // namespace

SystemHandle ConnectTo(DoorName kind, const std::string& door, std::span<const std::byte> first,
                       std::error_code& error) {
  // A socket that failed to connect cannot be used again.
  SystemHandle made = MakeSocket();
  int failed = made.valid() ? Connect(made, kind, door) : errno;
  while (failed == 0 && send(DescriptorOf(made), first.data(), first.size(), MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) failed = errno;
  }
  error.assign(failed, std::generic_category());
  return failed == 0 ? std::move(made) : SystemHandle();
}

}  // namespace cairn
