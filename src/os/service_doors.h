// SPDX-License-Identifier: Apache-2.0
//
// The doors of a service of this user, of which there is one at a time. A program finds them without having been told:
// their names follow from its user and its XDG_RUNTIME_DIR. There are two, because no single one is visible everywhere:
//
//   path   SERVICE in XDG_RUNTIME_DIR, or in /run/user/UID where that is not set: other users cannot take it
//   name   an abstract Unix socket: also seen in containers where XDG_RUNTIME_DIR is another folder of that path
//
// Linux only.
#ifndef CAIRN_OS_SERVICE_DOORS_H_
#define CAIRN_OS_SERVICE_DOORS_H_

#include <cstdint>
#include <string>

#include "base/status.h"
#include "os/channel.h"
#include "os/handle.h"
#include "os/process.h"

namespace cairn {

struct ServiceDoorNames {
  std::string name;  // for ConnectTo(DoorName::kName)
  std::string path;  // for DoorName::kPath; "": it would be longer than the system takes
};
// `service`: letters, digits and '-', at most 20.
ServiceDoorNames DoorsOfService(const std::string& service);

// The service's side. One thread.
class ServiceDoors {
 public:
  ServiceDoors() = default;
  ~ServiceDoors();
  ServiceDoors(const ServiceDoors&) = delete;
  ServiceDoors& operator=(const ServiceDoors&) = delete;

  // Opens both, or the one that can be had: another user may have taken the name, and the folder of the path may be
  // missing. Errors: kInvalidArgument if a service of this user has them; kIo with the reasons if none can be had.
  Status Open(const ServiceDoorNames& names);

  // For a WaitSet: something happens when Accept has something to do. Not valid() if the door is not open.
  const SystemHandle& at_path() const { return at_path_; }
  const SystemHandle& at_name() const { return at_name_; }

  struct Visitor {
    SystemHandle connection;  // an end of a channel; its messages say who sent them
    ProcessId peer = -1;      // the process that connected
  };
  enum class Came : uint8_t { kVisitor, kOther, kNobody };
  // The next process at this door. kOther: one of another user, or one for which this process has no handle left; it
  // was turned away.
  Came Accept(const SystemHandle& door, Visitor* visitor);

  // The next message, without what was attached to it; as ReceiveWithin (os/channel.h), without waiting.
  static Received Receive(const SystemHandle& connection, ChannelMessage* message);
  // True if a message waits there, also of a process that is gone.
  static bool HasMessage(const SystemHandle& connection);
  // Closes a connection with messages that nobody will read: what is attached to them could make a close wait.
  static void TurnAway(SystemHandle connection);

 private:
  std::string path_;  // its file is removed with the door
  SystemHandle at_path_;
  SystemHandle at_name_;
  SystemHandle reserve_;  // given up to turn somebody away
};

// The name of cairn watchd's.
inline constexpr char kWatchService[] = "cairn-watchd";

}  // namespace cairn

#endif  // CAIRN_OS_SERVICE_DOORS_H_
