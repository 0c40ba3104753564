// SPDX-License-Identifier: Apache-2.0
#include "os/service_doors.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "os/channel.h"
#include "os/environment.h"
#include "os/linux/unix_sockets.h"

namespace cairn {
namespace {

bool Answers(const std::string& path) {
  const UnixAddress address = AddressOf(DoorName::kPath, path);
  const FileDescriptor probe(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // EAGAIN: somebody listens, and is behind with accepting.
  return connect(probe.get(), reinterpret_cast<const sockaddr*>(&address.address), address.size) ==
             0 ||
         errno == EAGAIN;
}

bool IsSocket(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode);
}

}  // namespace

ServiceDoorNames DoorsOfService(const std::string& service) {
  const std::string user = std::to_string(geteuid());
  const std::string usual = "/run/user/" + user;
  const char* const variable = OwnVariable("XDG_RUNTIME_DIR");
  // By the XDG base directory specification, relative paths are ignored.
  const std::string folder = variable == nullptr || variable[0] != '/' ? usual : variable;
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
  const auto taken = [](const std::string& door) {
    return Status(StatusCode::kInvalidArgument, "it runs already: " + door + " is open");
  };
  FileDescriptor at_path = ListenAt(AddressOf(DoorName::kPath, names.path));
  int path_error = errno;
  if (!at_path.valid() && path_error == EADDRINUSE && IsSocket(names.path)) {
    if (Answers(names.path)) return taken(names.path);
    // The one that made it was killed.
    unlink(names.path.c_str());
    at_path = ListenAt(AddressOf(DoorName::kPath, names.path));
    path_error = errno;
  }
  at_name_ = ListenAt(AddressOf(DoorName::kName, names.name));
  const int name_error = errno;
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

ServiceDoors::Visitor ServiceDoors::Accept(const SystemHandle& door) {
  FileDescriptor connection(
      accept4(DescriptorOf(door), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const std::optional<ucred> peer = PeerOf(connection);
  if (!peer || peer->uid != geteuid() || !AskForSenders(connection)) return {};
  return {std::move(connection), peer->pid};
}

bool ServiceDoors::HasMessage(const SystemHandle& connection) {
  char byte = 0;
  return recv(DescriptorOf(connection), &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT) > 0;
}

}  // namespace cairn
