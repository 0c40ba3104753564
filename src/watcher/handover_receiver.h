// SPDX-License-Identifier: Apache-2.0
//
// The watcher's end of the hand-over (app/recorder/watcher_link.h): the channel that the program
// inherits, the doors for processes that did not (format/block/watcher_address.h), and the
// connections that came through them. Messages are hostile: only whole messages come out, each with
// the process that the system names.
#ifndef CAIRN_WATCHER_HANDOVER_RECEIVER_H_
#define CAIRN_WATCHER_HANDOVER_RECEIVER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/status.h"
#include "format/block/handover.h"
#include "format/block/watcher_address.h"
#include "os/channel.h"
#include "os/process.h"

namespace cairn {

// One message with what came with it.
struct ReceivedMessage {
  HandoverMessage message;
  AttachedMemory memory;
  ProcessHandle sender;  // held where the system attaches it: right even if the sender is gone
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

  // `inherited`: this end of the channel. `maker`: the process that made it.
  Status Open(SystemHandle inherited, ProcessId maker);
  // Sets the number of handles that this process may have. Messages that would leave too few arrive
  // with `no_room`.
  void set_most_handles(uint64_t most) { most_handles_ = most; }
  // Opens the doors; those that cannot be opened are left out.
  void OpenDoors();
  // For LayerSettings::watcher_address; "" if there is no door.
  std::string address() const;

  // For a WaitSet: something happens when Receive() has something to do.
  const SystemHandle& handle() const { return server_.handle(); }
  // The next message. False: none for now.
  bool Receive(ReceivedMessage* received);
  // Connections that were turned away because there was no room or no handle for them.
  uint64_t turned_away() const { return turned_away_; }

 private:
  void Welcome(uint64_t connection);
  // Handles the first message of a connection.
  void Greet(uint64_t connection, const ChannelMessage& message);

  ChannelServer server_;
  WatcherAddress address_;
  std::map<uint64_t, bool> greeted_;  // by the connection
  size_t strangers_ = 0;              // that have not greeted
  uint64_t most_handles_ = ~uint64_t{0};
  uint64_t turned_away_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_WATCHER_HANDOVER_RECEIVER_H_
