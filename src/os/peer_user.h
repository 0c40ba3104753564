// SPDX-License-Identifier: Apache-2.0
//
// Finds the user at the other end of a connection of this machine, for a server that answers its own user alone.
#ifndef CAIRN_OS_PEER_USER_H_
#define CAIRN_OS_PEER_USER_H_

#include <cstdint>

#include "os/handle.h"

namespace cairn {

// One end of a TCP connection over IPv4, in the byte order of this machine.
struct TcpEnd {
  uint32_t address = 0;
  uint16_t port = 0;
};

enum class PeerUser : uint8_t {
  kSame,   // a process of this user has the other end open
  kOther,  // one of another user, root among them
  // No process has it open any more, it is not on this machine or not in this network namespace, or
  // the system does not report it. Under Wine the system reports no Linux process.
  kUnknown,
};

// One thread.
class PeerUsers {
 public:
  PeerUsers();

  // The user of the process that has made the socket at `there`, which is connected with one of this machine at `here`.
  // Users that this user namespace does not know are others. Cost: some 10 microseconds on Linux, whatever connections
  // there are, where the kernel has sock_diag(7); elsewhere the table of all connections is read.
  PeerUser Find(const TcpEnd& there, const TcpEnd& here);

 private:
  SystemHandle diagnosis_;  // of Linux; invalid if there is none
};

}  // namespace cairn

#endif  // CAIRN_OS_PEER_USER_H_
