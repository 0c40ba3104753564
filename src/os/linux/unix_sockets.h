// SPDX-License-Identifier: Apache-2.0
//
// Sockets with names, over which processes of one machine send each other whole messages.
#ifndef CAIRN_OS_LINUX_UNIX_SOCKETS_H_
#define CAIRN_OS_LINUX_UNIX_SOCKETS_H_

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "os/channel.h"
#include "os/linux/file_descriptor.h"
#include "os/process.h"

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

// A message, with everything that came with it.
struct UnixMessage {
  ssize_t size_bytes = -1;  // as recvmsg returns it, with its errno
  bool is_end = false;  // of the stream; an empty message looks the same but comes with credentials
  bool is_cut = false;  // something that was attached is lost
  size_t attached = 0;  // descriptors
  int highest = 0;      // number of those
  FileDescriptor last;  // the only one that was attached; with more of them none is usable
  ProcessHandle sender;
};
// The next message, without waiting.
UnixMessage ReceiveFrom(const SystemHandle& connection, std::span<std::byte> data);

// Closes a connection so that the other end sees at once that it is gone. Messages that were not read may have anything
// attached, which is closed with it, on another thread.
void CloseConnection(SystemHandle connection);

// The process at the other end, as it was when it connected.
std::optional<ucred> PeerOf(const SystemHandle& connection);

}  // namespace cairn

#endif  // CAIRN_OS_LINUX_UNIX_SOCKETS_H_
