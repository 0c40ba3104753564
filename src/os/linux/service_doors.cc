// SPDX-License-Identifier: Apache-2.0
#include "os/service_doors.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "os/environment.h"
#include "os/linux/foreign_handle.h"
#include "os/linux/unix_sockets.h"

namespace cairn {
namespace {

// Connects to a door, or fails with errno.
FileDescriptor Probe(DoorName kind, const std::string& door) {
  const UnixAddress address = AddressOf(kind, door);
  FileDescriptor probe(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (probe.valid() && connect(probe.get(), reinterpret_cast<const sockaddr*>(&address.address),
                               address.size) == 0) {
    return probe;
  }
  return FileDescriptor();
}

// Returns true for a socket at which nobody listens any more: the one that made it was killed.
bool IsDead(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode) &&
         !Probe(DoorName::kPath, path).valid() && errno == ECONNREFUSED;
}

// Returns true if a process of this user listens there.
bool IsOurs(DoorName kind, const std::string& door) {
  const FileDescriptor probe = Probe(kind, door);
  const std::optional<ucred> peer = PeerOf(probe);
  return probe.valid() && peer && peer->uid == geteuid();
}

FileDescriptor OpenReserve() {
  return FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace

ServiceDoorNames DoorsOfService(const std::string& service) {
  const std::string user = std::to_string(geteuid());
  const std::string usual = "/run/user/" + user;
  const char* const variable = OwnVariable("XDG_RUNTIME_DIR");
  // By the XDG base directory specification, relative paths are ignored.
  std::string folder = variable == nullptr || variable[0] != '/' ? usual : variable;
  while (folder.ends_with('/')) folder.pop_back();
  ServiceDoorNames names;
  names.name = service + "-" + user + (folder == usual ? "" : "-" + folder);
  names.path = folder + "/" + service;
  for (std::string* name : {&names.name, &names.path}) {
    if (name->size() + 1 > sizeof(sockaddr_un::sun_path)) name->clear();
  }
  return names;
}

ServiceDoors::~ServiceDoors() {
  if (at_path_.valid()) unlink(path_.c_str());
}

Status ServiceDoors::Open(const ServiceDoorNames& names) {
  reserve_ = OpenReserve();
  // One service at a time finds out whether a file is a dead one's.
  const FileDescriptor lock(
      open((names.path + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.valid()) (void)flock(lock.get(), LOCK_EX);
  FileDescriptor at_path = ListenAt(AddressOf(DoorName::kPath, names.path));
  int path_error = errno;
  if (!at_path.valid() && path_error == EADDRINUSE && IsDead(names.path)) {
    unlink(names.path.c_str());
    at_path = ListenAt(AddressOf(DoorName::kPath, names.path));
    path_error = errno;
  }
  at_name_ = ListenAt(AddressOf(DoorName::kName, names.name));
  const int name_error = errno;
  const auto runs_already = [](const std::string& door) {
    return Status(StatusCode::kInvalidArgument, "it runs already: " + door + " is open");
  };
  if (!at_path.valid() && IsOurs(DoorName::kPath, names.path)) return runs_already(names.path);
  if (!at_name_.valid() && IsOurs(DoorName::kName, names.name)) {
    if (at_path.valid()) unlink(names.path.c_str());
    return runs_already("@" + names.name);
  }
  if (at_path.valid()) {
    path_ = names.path;
    at_path_ = std::move(at_path);
    return Status();
  }
  if (at_name_.valid()) return Status();
  const auto reason = [](int error) { return std::generic_category().message(error); };
  return Status(StatusCode::kIo, "programs cannot be heard: neither " +
                                     (names.path.empty() ? "XDG_RUNTIME_DIR" : names.path) + " (" +
                                     reason(path_error) + ") nor the socket @" + names.name + " (" +
                                     reason(name_error) + ") can be opened");
}

ServiceDoors::Came ServiceDoors::Accept(const SystemHandle& door, Visitor* visitor) {
  FileDescriptor connection(
      accept4(DescriptorOf(door), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!connection.valid()) {
    if (errno != EMFILE && errno != ENFILE) return Came::kNobody;
    reserve_.Close();
    CloseConnection(FileDescriptor(accept4(DescriptorOf(door), nullptr, nullptr, SOCK_CLOEXEC)));
    reserve_ = OpenReserve();
    return Came::kOther;
  }
  const std::optional<ucred> peer = PeerOf(connection);
  if (!peer || peer->uid != geteuid() || !AskForSenders(connection)) {
    CloseConnection(std::move(connection));
    return Came::kOther;
  }
  *visitor = {std::move(connection), peer->pid};
  return Came::kVisitor;
}

Received ServiceDoors::Receive(const SystemHandle& connection, ChannelMessage* message) {
  UnixMessage received = ReceiveFrom(connection, message->data);
  const int error = errno;
  CloseElsewhere(std::move(received.last));
  if (received.size_bytes < 0) return error == EAGAIN ? Received::kNothing : Received::kClosed;
  if (received.is_end) return Received::kClosed;
  message->size_bytes = static_cast<size_t>(received.size_bytes);
  return Received::kMessage;
}

void ServiceDoors::TurnAway(SystemHandle connection) {
  CloseConnection(std::move(connection));
}

bool ServiceDoors::HasMessage(const SystemHandle& connection) {
  char byte = 0;
  return recv(DescriptorOf(connection), &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT) > 0;
}

}  // namespace cairn
