// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "os/channel.h"
#include "os/linux/file_descriptor.h"
#include "os/linux/foreign_handle.h"
#include "os/linux/unix_sockets.h"

namespace cairn {
namespace {

constexpr uint64_t kNamedDoor = 0;
constexpr uint64_t kSecondDoor = 1;

FileDescriptor OpenReserve() {
  return FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace

struct ChannelServer::State {
  struct Connection {
    SystemHandle end;
    ProcessId peer = -1;
  };

  Status Listen(const SystemHandle& handle, uint64_t number);
  Result<uint64_t> Add(SystemHandle end, ProcessId peer);
  bool OpenSecondDoor();
  Event Accept(const SystemHandle& door, uint64_t* connection);
  Event Receive(Connection* connection, ChannelMessage* message);

  SystemHandle events;
  SystemHandle named_door;
  SystemHandle second_door;
  SystemHandle second_door_name;  // what the number of the second door means
  SystemHandle reserve;           // given up to turn somebody away
  std::map<uint64_t, Connection> connections;
  uint64_t next_number = 2;  // those before are the doors'
};

ChannelServer::ChannelServer() : state_(std::make_unique<State>()) {}
ChannelServer::~ChannelServer() {
  for (auto& [number, connection] : state_->connections) CloseConnection(std::move(connection.end));
}

Status ChannelServer::State::Listen(const SystemHandle& handle, uint64_t number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = number;
  if (epoll_ctl(DescriptorOf(events), EPOLL_CTL_ADD, DescriptorOf(handle), &event) == 0) {
    return Status();
  }
  return StatusFromErrno(errno, "the watcher cannot wait for messages");
}

Status ChannelServer::Open() {
  state_->events = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  if (state_->events.valid()) return Status();
  return StatusFromErrno(errno, "the watcher cannot wait for messages");
}

Result<uint64_t> ChannelServer::State::Add(SystemHandle end, ProcessId peer) {
  if (!AskForSenders(end)) return StatusFromErrno(errno, "the watcher's socket cannot be used");
  const uint64_t number = next_number++;
  CAIRN_RETURN_IF_ERROR(Listen(end, number));
  connections[number] = {std::move(end), peer};
  return number;
}

Result<uint64_t> ChannelServer::Add(SystemHandle end, ProcessId peer) {
  return state_->Add(std::move(end), peer);
}

bool ChannelServer::has_doors() const {
  return state_->named_door.valid() || state_->second_door.valid();
}

void ChannelServer::Close(uint64_t connection) {
  const auto found = state_->connections.find(connection);
  if (found == state_->connections.end()) return;
  (void)epoll_ctl(DescriptorOf(state_->events), EPOLL_CTL_DEL, DescriptorOf(found->second.end),
                  nullptr);
  CloseConnection(std::move(found->second.end));
  state_->connections.erase(found);
}

const SystemHandle& ChannelServer::handle() const {
  return state_->events;
}

ChannelServer::Doors ChannelServer::OpenDoors(const std::string& name) {
  Doors doors;
  state_->reserve = OpenReserve();
  state_->named_door = ListenAt(AddressOf(DoorName::kName, name));
  doors.named = state_->named_door.valid() && state_->Listen(state_->named_door, kNamedDoor).ok();
  if (!doors.named) state_->named_door.Close();
  if (state_->OpenSecondDoor()) {
    doors.pid = getpid();
    doors.second_door = DescriptorOf(state_->second_door_name);
  }
  return doors;
}

// A socket in the file system, whose name goes as soon as it is open: /proc/PID/fd still leads to it.
bool ChannelServer::State::OpenSecondDoor() {
  for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR", ""}) {
    const char* const value = *variable == 0 ? "/tmp" : std::getenv(variable);
    if (value == nullptr || value[0] != '/') continue;
    std::string folder = std::string(value) + "/cairn-XXXXXX";
    if (folder.size() + sizeof("/watcher") > sizeof(sockaddr_un::sun_path)) continue;
    if (mkdtemp(folder.data()) == nullptr) continue;
    const std::string path = folder + "/watcher";
    second_door = ListenAt(AddressOf(DoorName::kPath, path));
    second_door_name = FileDescriptor(open(path.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
    unlink(path.c_str());
    rmdir(folder.c_str());
    if (second_door.valid() && second_door_name.valid() && Listen(second_door, kSecondDoor).ok()) {
      return true;
    }
    second_door.Close();
    second_door_name.Close();
  }
  return false;
}

ChannelServer::Event ChannelServer::State::Accept(const SystemHandle& door, uint64_t* connection) {
  FileDescriptor socket(
      accept4(DescriptorOf(door), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.valid()) {
    if (errno != EMFILE && errno != ENFILE) return Event::kNothing;
    reserve.Close();
    // A connection that cannot even be refused would wake this process forever.
    if (!FileDescriptor(accept4(DescriptorOf(door), nullptr, nullptr, SOCK_CLOEXEC)).valid()) {
      named_door.Close();
      second_door.Close();
      second_door_name.Close();
    }
    reserve = OpenReserve();
    return Event::kTurnedAway;
  }
  const std::optional<ucred> peer = PeerOf(socket);
  // Root's process may have started a program for another user.
  if (!peer || (peer->uid != geteuid() && geteuid() != 0)) {
    CloseConnection(std::move(socket));
    return Event::kNothing;
  }
  const Result<uint64_t> added = Add(std::move(socket), peer->pid);
  if (!added.ok()) return Event::kNothing;
  *connection = *added;
  return Event::kConnected;
}

ChannelServer::Event ChannelServer::State::Receive(Connection* connection,
                                                   ChannelMessage* message) {
  UnixMessage received = ReceiveFrom(connection->end, message->data);
  if (received.size_bytes < 0) return errno == EAGAIN ? Event::kNothing : Event::kClosed;
  message->sender = std::move(received.sender);
  if (message->sender.pid < 0) message->sender.pid = connection->peer;
  if (received.is_end) return Event::kClosed;
  message->size_bytes = static_cast<size_t>(received.size_bytes);
  message->memory_lost = received.is_cut && received.attached == 0;
  // The lowest free number is the one that is given out.
  const int highest = std::max(received.highest, DescriptorOf(message->sender.handle));
  if (received.attached == 1 && IsSealedMemory(received.last.get())) {
    message->memory = AttachedMemory(std::move(received.last));
  } else {
    CloseElsewhere(std::move(received.last));
  }
  const auto in_use = static_cast<uint64_t>(highest);
  message->handles_in_use = in_use - std::min(in_use, HandlesStillOpen());
  return Event::kMessage;
}

ChannelServer::Event ChannelServer::Next(uint64_t* connection, ChannelMessage* message) {
  epoll_event event{};
  if (epoll_wait(DescriptorOf(state_->events), &event, 1, 0) != 1) return Event::kNone;
  *connection = event.data.u64;
  if (*connection == kNamedDoor) return state_->Accept(state_->named_door, connection);
  if (*connection == kSecondDoor) return state_->Accept(state_->second_door, connection);
  const auto found = state_->connections.find(*connection);
  if (found == state_->connections.end()) return Event::kNothing;
  *message = ChannelMessage();
  const Event what = state_->Receive(&found->second, message);
  if (what == Event::kClosed) Close(*connection);
  return what;
}

}  // namespace cairn
