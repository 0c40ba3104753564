// SPDX-License-Identifier: Apache-2.0
//
// The watcher's end of the hand-over (app/recorder/watcher_link.h): the socket that the program inherits, the doors
// for processes that did not (format/block/watcher_address.h), and the connections that came through them.
// Whatever arrives is hostile: only whole messages come out, each with the process that the kernel names.
#ifndef CAIRN_WATCHER_HANDOVER_RECEIVER_H_
#define CAIRN_WATCHER_HANDOVER_RECEIVER_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "base/status.h"
#include "format/block/handover.h"
#include "format/block/watcher_address.h"
#include "os/channel.h"
#include "os/process.h"

namespace cairn {

// One message with what the kernel attached to it.
struct ReceivedMessage {
  HandoverMessage message;
  AttachedMemory memory;
  ProcessHandle sender;  // open where the system attaches it: right even if the sender is gone
  // Memory was attached, and this process may not open it, or hardly anything more.
  bool no_room = false;
};

// One thread.
class HandoverReceiver {
 public:
  // Connections that may wait for their first message; more push the oldest out.
  static constexpr size_t kMaxStrangers = 64;
  // Connections in all; more are turned away.
  static constexpr size_t kMaxConnections = 8192;

  // `inherited`: this end of the socket pair. `maker`: the process that made the pair.
  Status Open(FileDescriptor inherited, pid_t maker);
  // How many handles this process may have. Messages that would leave too few come with `no_room`.
  void set_most_handles(uint64_t most) { most_handles_ = most; }
  // Opens the doors; those that cannot be opened are left out.
  void OpenDoors();
  // For kWatcherAddressVariable; "" if there is no door.
  std::string address() const;

  // Readable when Receive() has something to do.
  int fd() const { return epoll_.get(); }
  // The next message. False: none for now.
  bool Receive(ReceivedMessage* received);
  // Connections that were turned away because there was no room or no descriptor for them.
  uint64_t turned_away() const { return turned_away_; }

 private:
  enum class Read { kMessage, kNothing, kClosed };
  struct Connection {
    FileDescriptor socket;
    pid_t peer = -1;
    bool greeted = false;
    uint64_t number = 0;  // they are counted
  };

  Status Listen(int fd);
  void OpenNamedDoor();
  void OpenHiddenDoor();
  void CloseDoors();
  void Accept(int listener);
  void TurnAway(int listener);
  void ForgetOldestStranger();
  Read ReadFrom(Connection* connection, ReceivedMessage* received);

  FileDescriptor epoll_;
  FileDescriptor named_door_;
  FileDescriptor hidden_door_;
  FileDescriptor hidden_handle_;  // what /proc/PID/fd leads to
  FileDescriptor reserve_;        // given up to turn somebody away
  WatcherAddress address_;
  std::map<int, Connection> connections_;  // by their descriptor
  size_t strangers_ = 0;
  uint64_t most_handles_ = ~uint64_t{0};
  uint64_t next_number_ = 0;
  uint64_t turned_away_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_WATCHER_HANDOVER_RECEIVER_H_
