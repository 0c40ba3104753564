// SPDX-License-Identifier: Apache-2.0
//
// Sockets with names, over which processes of one machine send each other whole messages.
#ifndef CAIRN_OS_LINUX_UNIX_SOCKETS_H_
#define CAIRN_OS_LINUX_UNIX_SOCKETS_H_

#include <sys/socket.h>
#include <sys/un.h>

#include <optional>
#include <string>

#include "os/channel.h"
#include "os/linux/file_descriptor.h"

namespace cairn {

struct UnixAddress {
  sockaddr_un address{};
  socklen_t size = 0;  // 0: it is empty, or longer than the system takes
};
UnixAddress AddressOf(DoorName kind, const std::string& door);

// Messages that are received from this socket, and from those that it accepts, say who sent them.
bool AskForSenders(const SystemHandle& socket);

// Listens there; not valid(), with errno, if that cannot be.
FileDescriptor ListenAt(const UnixAddress& address);

// The process at the other end, as it was when it connected.
std::optional<ucred> PeerOf(const SystemHandle& connection);

}  // namespace cairn

#endif  // CAIRN_OS_LINUX_UNIX_SOCKETS_H_
