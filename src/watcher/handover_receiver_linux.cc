// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "watcher/handover_receiver.h"

namespace cairn {
namespace {

// Linux 6.5; headers of the distributions we build on lack the names.
constexpr int kPassPidfd = 76;        // SO_PASSPIDFD
constexpr int kAttachedPidfd = 0x04;  // SCM_PIDFD

// How processes ended is read from files, and reports are written to files: not for programs to take.
constexpr uint64_t kReservedHandles = 8;

// What one call of Receive() looks at: strangers do not keep the watcher from its other work.
constexpr int kLooksAtOnce = 64;

void TakeAttachments(msghdr& header, FileDescriptor* attached, ProcessHandle* sender) {
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
      sender->pidfd = FileDescriptor(fd);
    } else if (part->cmsg_type == SCM_RIGHTS) {
      const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(fd));
        *attached = FileDescriptor(fd);  // a second one closes the first: unusable anyway
      }
    }
  }
}

bool AskForSenders(int socket) {
  const int on = 1;
  // Best effort: there is another way to a process, if not as sure.
  (void)setsockopt(socket, SOL_SOCKET, kPassPidfd, &on, sizeof(on));
  return setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0;
}

FileDescriptor MakeDoor(const sockaddr_un& address, size_t size) {
  FileDescriptor door(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!door.valid() || !AskForSenders(door.get()) ||
      bind(door.get(), reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(size)) !=
          0 ||
      listen(door.get(), SOMAXCONN) != 0) {
    return FileDescriptor();
  }
  return door;
}

bool IsEqual(const WatcherToken& a, const WatcherToken& b) {
  // Takes the same time wherever they differ.
  uint8_t different = 0;
  for (size_t i = 0; i < a.size(); ++i) different |= a[i] ^ b[i];
  return different == 0;
}

}  // namespace

Status HandoverReceiver::Listen(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return Status();
  return StatusFromErrno(errno, "the watcher cannot wait for messages");
}

Status HandoverReceiver::Open(FileDescriptor inherited, pid_t maker) {
  epoll_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.valid()) return StatusFromErrno(errno, "the watcher cannot wait for messages");
  if (!AskForSenders(inherited.get())) {
    return StatusFromErrno(errno, "the watcher's socket cannot be used");
  }
  const int fd = inherited.get();
  CAIRN_RETURN_IF_ERROR(Listen(fd));
  connections_[fd] = {std::move(inherited), maker, true, next_number_++};
  return Status();
}

void HandoverReceiver::OpenDoors() {
  uint64_t random = 0;
  if (getrandom(address_.token.data(), address_.token.size(), 0) !=
          static_cast<ssize_t>(address_.token.size()) ||
      getrandom(&random, sizeof(random), 0) != sizeof(random)) {
    return;
  }
  reserve_ = FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
  address_.name = fmt::format("cairn-{}-{:016x}", getpid(), random);
  OpenNamedDoor();
  OpenHiddenDoor();
}

void HandoverReceiver::OpenNamedDoor() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, address_.name.data(), address_.name.size());
  named_door_ = MakeDoor(address, offsetof(sockaddr_un, sun_path) + 1 + address_.name.size());
  if (!named_door_.valid() || !Listen(named_door_.get()).ok()) {
    named_door_.Close();
    address_.name.clear();
  }
}

// A socket in the file system, whose name goes as soon as it is open: /proc still leads to it.
void HandoverReceiver::OpenHiddenDoor() {
  for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR", ""}) {
    const char* const value = *variable == 0 ? "/tmp" : std::getenv(variable);
    if (value == nullptr || value[0] != '/') continue;
    std::string folder = std::string(value) + "/cairn-XXXXXX";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (folder.size() + sizeof("/watcher") > sizeof(address.sun_path)) continue;
    if (mkdtemp(folder.data()) == nullptr) continue;
    const std::string path = folder + "/watcher";
    std::memcpy(address.sun_path, path.data(), path.size());
    hidden_door_ = MakeDoor(address, sizeof(address));
    hidden_handle_ = FileDescriptor(open(path.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
    unlink(path.c_str());
    rmdir(folder.c_str());
    if (!hidden_door_.valid() || !hidden_handle_.valid() || !Listen(hidden_door_.get()).ok()) {
      hidden_door_.Close();
      hidden_handle_.Close();
      continue;
    }
    address_.pid = getpid();
    address_.door = hidden_handle_.get();
    return;
  }
}

std::string HandoverReceiver::address() const {
  return named_door_.valid() || hidden_door_.valid() ? FormatWatcherAddress(address_) : "";
}

void HandoverReceiver::TurnAway(int listener) {
  ++turned_away_;
  reserve_.Close();
  // Who cannot even be turned away would wake the watcher for ever.
  if (!FileDescriptor(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)).valid()) CloseDoors();
  reserve_ = FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

void HandoverReceiver::CloseDoors() {
  named_door_.Close();
  hidden_door_.Close();
  hidden_handle_.Close();
}

void HandoverReceiver::ForgetOldestStranger() {
  auto oldest = connections_.end();
  for (auto each = connections_.begin(); each != connections_.end(); ++each) {
    if (each->second.greeted) continue;
    if (oldest == connections_.end() || each->second.number < oldest->second.number) oldest = each;
  }
  if (oldest == connections_.end()) return;
  connections_.erase(oldest);
  --strangers_;
}

void HandoverReceiver::Accept(int listener) {
  FileDescriptor socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.valid()) {
    if (errno == EMFILE || errno == ENFILE) TurnAway(listener);
    return;
  }
  ucred peer{};
  socklen_t size = sizeof(peer);
  // Root's watcher may have started a program for another user; the token shows which are meant.
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      (peer.uid != geteuid() && geteuid() != 0) || !AskForSenders(socket.get())) {
    return;
  }
  if (strangers_ >= kMaxStrangers) ForgetOldestStranger();
  if (connections_.size() >= kMaxConnections) {
    ++turned_away_;
    return;
  }
  const int fd = socket.get();
  if (!Listen(fd).ok()) return;
  connections_[fd] = {std::move(socket), peer.pid, false, next_number_++};
  ++strangers_;
}

HandoverReceiver::Read HandoverReceiver::ReadFrom(Connection* connection,
                                                  ReceivedMessage* received) {
  // As large as the largest message, and a byte that shows one that is larger.
  std::byte bytes[sizeof(HandoverGreeting) + 1];
  iovec data{bytes, sizeof(bytes)};
  alignas(cmsghdr) char
      control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int)) + CMSG_SPACE(8 * sizeof(int))];
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t size = 0;
  do {
    size = recvmsg(connection->socket.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return errno == EAGAIN ? Read::kNothing : Read::kClosed;
  FileDescriptor attached;
  received->sender.pid = connection->peer;
  TakeAttachments(header, &attached, &received->sender);
  // The end of the stream. An empty message looks the same but comes with credentials.
  if (size == 0 && header.msg_controllen == 0) return Read::kClosed;
  if (!connection->greeted) {
    HandoverGreeting greeting;
    if (size != sizeof(greeting)) return Read::kClosed;
    std::memcpy(&greeting, bytes, sizeof(greeting));
    if (greeting.magic != kHandoverMagic || greeting.version != kHandoverVersion ||
        greeting.kind != HandoverKind::kGreeting || !IsEqual(greeting.token, address_.token)) {
      return Read::kClosed;
    }
    connection->greeted = true;
    --strangers_;
    return Read::kNothing;
  }
  if (size != sizeof(received->message)) return Read::kNothing;
  std::memcpy(&received->message, bytes, sizeof(received->message));
  // The lowest free number is the one that is given out: a high one says that few are left.
  const int highest = std::max(attached.get(), received->sender.pidfd.get());
  received->no_room =
      ((header.msg_flags & MSG_CTRUNC) != 0 && !attached.valid()) ||
      (highest >= 0 && static_cast<uint64_t>(highest) + kReservedHandles >= most_handles_);
  received->memory = AttachedMemory(std::move(attached));
  const bool usable =
      received->message.magic == kHandoverMagic && received->message.version == kHandoverVersion;
  return usable ? Read::kMessage : Read::kNothing;
}

bool HandoverReceiver::Receive(ReceivedMessage* received) {
  for (int look = 0; look < kLooksAtOnce; ++look) {
    epoll_event event{};
    if (epoll_wait(epoll_.get(), &event, 1, 0) != 1) return false;
    const auto found = connections_.find(event.data.fd);
    if (found == connections_.end()) {
      Accept(event.data.fd);
      continue;
    }
    *received = ReceivedMessage();
    const Read read = ReadFrom(&found->second, received);
    if (read == Read::kMessage) return true;
    if (read == Read::kNothing) continue;
    if (!found->second.greeted) --strangers_;
    connections_.erase(found);  // closing it also takes it out of epoll
  }
  return false;
}

}  // namespace cairn
