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

constexpr int kAttachedPidfd =
    0x04;  // SCM_PIDFD of Linux 6.5; headers of the distributions we build on lack the name

constexpr uint64_t kNamedDoor = 0;
constexpr uint64_t kSecondDoor = 1;

// The most descriptors of one message (SCM_MAX_FD). The kernel closes descriptors without room
// before the message is read, and such a close could wait.
constexpr size_t kMostAttached = 253;

struct Attachments {
  size_t count = 0;
  int highest = -1;
  FileDescriptor last;
};

void TakeAttachments(msghdr& header, Attachments* attached, ProcessHandle* sender) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    if (part->cmsg_type == SCM_CREDENTIALS && part->cmsg_len >= CMSG_LEN(sizeof(ucred))) {
      ucred credentials{};
      std::memcpy(&credentials, CMSG_DATA(part), sizeof(credentials));
      // 0: sent before this end asked for credentials, so by the process that made the socket.
      if (credentials.pid > 0) sender->pid = credentials.pid;
    } else if (part->cmsg_type == kAttachedPidfd && part->cmsg_len >= CMSG_LEN(sizeof(int))) {
      int fd = -1;  // or an error, negative
      std::memcpy(&fd, CMSG_DATA(part), sizeof(fd));
      sender->handle = FileDescriptor(fd);
    } else if (part->cmsg_type == SCM_RIGHTS) {
      const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(fd));
        ++attached->count;
        attached->highest = std::max(attached->highest, fd);
        // Only one is wanted: with a second one all of them are unusable.
        CloseElsewhere(std::exchange(attached->last, FileDescriptor(fd)));
      }
    }
  }
}

// Messages that were not read may have anything attached, which is closed with the connection. The other end sees at
// once that it is gone.
void CloseConnection(SystemHandle end) {
  (void)shutdown(DescriptorOf(end), SHUT_RDWR);
  CloseElsewhere(std::move(end));
}

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
  iovec data{message->data.data(), message->data.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int)) +
                                CMSG_SPACE(kMostAttached * sizeof(int))];
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t size = 0;
  do {
    size = recvmsg(DescriptorOf(connection->end), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return errno == EAGAIN ? Event::kNothing : Event::kClosed;
  Attachments attached;
  message->sender.pid = connection->peer;
  TakeAttachments(header, &attached, &message->sender);
  // The end of the stream. An empty message looks the same but comes with credentials.
  if (size == 0 && header.msg_controllen == 0) return Event::kClosed;
  message->size_bytes = static_cast<size_t>(size);
  message->memory_lost = (header.msg_flags & MSG_CTRUNC) != 0 && attached.count == 0;
  // The lowest free number is the one that is given out.
  const int highest = std::max({attached.highest, DescriptorOf(message->sender.handle), 0});
  if (attached.count == 1 && IsSealedMemory(attached.last.get())) {
    message->memory = AttachedMemory(std::move(attached.last));
  } else {
    CloseElsewhere(std::move(attached.last));
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
