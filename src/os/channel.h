// SPDX-License-Identifier: Apache-2.0
//
// Messages between processes of this machine: whole or not at all, with memory attached, and with the identity of
// the sender as the system proves it.
#ifndef CAIRN_OS_CHANNEL_H_
#define CAIRN_OS_CHANNEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <system_error>

#include "base/status.h"
#include "os/handle.h"
#include "os/process.h"
#include "os/shared_memory.h"

namespace cairn {

// Memory that a message gives to its receiver.
class AttachedMemory {
 public:
  AttachedMemory() = default;  // there is none
  explicit AttachedMemory(SystemHandle handle) : handle_(std::move(handle)) {}
  // Returns the memory as a receiver would get it.
  static AttachedMemory Of(const SharedMemory& memory);

  // Maps the memory. Call it once. Errors: those of SharedMemory::MapForReading; kNotFound if there
  // is none.
  Result<SharedMemory> MapForReading(uint64_t size_bytes) {
    if (!handle_.valid()) return NoMemory();
    return SharedMemory::MapForReading(std::move(handle_), size_bytes);
  }
  Result<SharedMemory> MapForWriting(uint64_t size_bytes) {
    if (!handle_.valid()) return NoMemory();
    return SharedMemory::MapForWriting(std::move(handle_), size_bytes);
  }

 private:
  static Status NoMemory() { return Status(StatusCode::kNotFound, "no memory is attached"); }

  SystemHandle handle_;
};

// Longer ones are received cut to this.
inline constexpr size_t kMostMessageBytes = 64;

struct ChannelMessage {
  std::span<const std::byte> bytes() const { return {data.data(), size_bytes}; }

  std::array<std::byte, kMostMessageBytes> data;
  size_t size_bytes = 0;
  AttachedMemory memory;
  // Memory was attached, and this process may open nothing more.
  bool memory_lost = false;
  // A held process where the system reports the sender reliably even if it has ended. On Windows a
  // pipe knows only the process that opened it: a process that has inherited an end names itself,
  // and is believed if it has that end, or has ended.
  ProcessHandle sender;
  // This process has at least so many handles, as those show that came with the message.
  uint64_t handles_in_use = 0;
};

// Both ends of a new channel. Either may be inherited by a program.
struct ChannelEnds {
  SystemHandle first;
  SystemHandle second;
};
Result<ChannelEnds> MakeChannel();

// The process that made it. Without a handle: it is gone, and the system no longer tells how it ended. kInvalidArgument,
// kIo: this is no end of a channel, or the process cannot be opened.
Result<ProcessHandle> MakerOfChannel(RawHandle end);

// TextOfInherited returns the environment's text for an end that a program inherits under the same
// number. The other function returns that end as long as the number still means it; else -1. It is
// safe in any process and allocates nothing.
std::string TextOfInherited(RawHandle end);
RawHandle FindInherited(const char* text);

// Waits until there is room, ten seconds at most, on Windows one second. Raises no signal in this
// process if the receiver is gone. With memory it returns on Windows when the receiver has it: that
// is a ChannelServer, which takes it at once, whatever its thread does.
Status SendOver(RawHandle end, std::span<const std::byte> message,
                const SharedMemory* memory = nullptr);
// The other end was closed, or its process has ended.
bool IsChannelClosed(RawHandle end);

enum class Received : uint8_t { kMessage, kNothing, kClosed };
// The next message that comes to this end before the time is over; memory that is attached is lost.
Received ReceiveWithin(RawHandle end, uint64_t timeout_ns, ChannelMessage* message);

// The kind of name of a ChannelServer's door.
enum class DoorName : uint8_t {
  kName,  // what OpenDoors was given
  kPath,  // of the second door, format/block/watcher_address.h; there is none on Windows
};
// Connects to a server, and sends a first message. Sends only to a server of this user or of root:
// another user may have taken the name of one that ended. Waits a second for a server that does not
// accept, and later as long for one that does not receive. Returns a high number: programs that
// close inherited handles close low ones. Invalid, with the system's reason, on failure.
SystemHandle ConnectTo(DoorName kind, const std::string& door, std::span<const std::byte> first,
                       std::error_code& error);

// The watcher's side: ends of channels, and doors through which processes connect that have
// inherited none. Only processes of this user connect, unless this process is root's.
class ChannelServer {
 public:
  ChannelServer();
  ~ChannelServer();
  ChannelServer(const ChannelServer&) = delete;
  ChannelServer& operator=(const ChannelServer&) = delete;

  Status Open();
  // Adds an end that another part made; returns its number. `peer` counts as the sender of messages
  // without one.
  Result<uint64_t> Add(SystemHandle end, ProcessId peer);

  // The addresses of this process (format/block/watcher_address.h).
  struct Doors {
    bool named = false;  // by `name`
    ProcessId pid = 0;   // of this process; 0: there is no second door
    int32_t second_door = -1;
  };
  // `name`: letters, digits and '-', at most 64.
  Doors OpenDoors(const std::string& name);
  bool has_doors() const;

  enum class Event : uint8_t {
    kNone,       // nothing more for now
    kNothing,    // something came that is nothing
    kConnected,  // a connection that was not there before
    kMessage,
    kClosed,      // a connection is not there any more
    kTurnedAway,  // there was no handle left for a connection
  };
  // The next event; of which connection, for the three that have one.
  Event Next(uint64_t* connection, ChannelMessage* message);
  // Connections are numbered in the order in which they came.
  void Close(uint64_t connection);

  // For a WaitSet: something happens when Next has something to do.
  const SystemHandle& handle() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_OS_CHANNEL_H_
