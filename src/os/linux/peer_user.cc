// SPDX-License-Identifier: Apache-2.0
#include "os/peer_user.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "os/linux/file_descriptor.h"

namespace cairn {
namespace {

struct Owner {
  uint32_t user = 0;
  uint64_t inode = 0;
};

// The kernel answers at once; do not wait longer than this.
constexpr timeval kMostWaiting = {1, 0};

SystemHandle OpenDiagnosis() {
  FileDescriptor diagnosis(socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (diagnosis.valid()) {
    (void)setsockopt(diagnosis.get(), SOL_SOCKET, SO_RCVTIMEO, &kMostWaiting, sizeof(kMostWaiting));
  }
  return diagnosis;
}

// Finds a socket by its two ends, as the other side names them. nullopt: there is none, or the
// kernel does not answer (`*answers` is false). sock_diag(7).
std::optional<Owner> AskKernel(int diagnosis, const TcpEnd& there, const TcpEnd& here,
                               bool* answers) {
  *answers = false;
  struct {
    nlmsghdr head;
    inet_diag_req_v2 body;
  } question = {};
  question.head.nlmsg_len = sizeof(question);
  question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.head.nlmsg_flags = NLM_F_REQUEST;
  question.body.sdiag_family = AF_INET;
  question.body.sdiag_protocol = IPPROTO_TCP;
  question.body.idiag_states = ~0u;
  question.body.id.idiag_sport = htons(there.port);
  question.body.id.idiag_dport = htons(here.port);
  question.body.id.idiag_src[0] = htonl(there.address);
  question.body.id.idiag_dst[0] = htonl(here.address);
  question.body.id.idiag_cookie[0] = question.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  sockaddr_nl kernel = {};
  kernel.nl_family = AF_NETLINK;
  if (sendto(diagnosis, &question, sizeof(question), 0, reinterpret_cast<sockaddr*>(&kernel),
             sizeof(kernel)) != sizeof(question)) {
    return std::nullopt;
  }
  alignas(nlmsghdr) char answer[8192];
  const ssize_t size = recv(diagnosis, answer, sizeof(answer), 0);
  nlmsghdr head;
  if (size < static_cast<ssize_t>(sizeof(head))) return std::nullopt;
  std::memcpy(&head, answer, sizeof(head));
  const char* const body = answer + NLMSG_HDRLEN;
  const size_t body_size = static_cast<size_t>(size) - NLMSG_HDRLEN;
  if (head.nlmsg_type == NLMSG_ERROR && body_size >= sizeof(nlmsgerr)) {
    nlmsgerr error;
    std::memcpy(&error, body, sizeof(error));
    // The kernel knows such sockets, and has none with these ends.
    *answers = error.error == -ENOENT;
    return std::nullopt;
  }
  if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || body_size < sizeof(inet_diag_msg)) {
    return std::nullopt;
  }
  inet_diag_msg told;
  std::memcpy(&told, body, sizeof(told));
  *answers = true;
  return Owner{told.idiag_uid, told.idiag_inode};
}

// proc_pid_net(5): addresses as 32-bit numbers of this machine, in hexadecimal.
std::optional<Owner> ReadTable(const char* path, const std::string& there,
                               const std::string& here) {
  std::ifstream table(path);
  for (std::string line; std::getline(table, line);) {
    char local[64] = {}, remote[64] = {};
    unsigned user = 0;
    unsigned long inode = 0;
    if (std::sscanf(line.c_str(), " %*d: %63s %63s %*x %*s %*s %*s %u %*d %lu", local, remote,
                    &user, &inode) == 4 &&
        there == local && here == remote) {
      return Owner{user, inode};
    }
  }
  return std::nullopt;
}

std::optional<Owner> SearchTables(const TcpEnd& there, const TcpEnd& here) {
  const auto text = [](const TcpEnd& end) {
    return fmt::format("{:08X}:{:04X}", htonl(end.address), end.port);
  };
  std::optional<Owner> found = ReadTable("/proc/net/tcp", text(there), text(here));
  // A socket of IPv6 that is connected with IPv4.
  const auto mapped = [&](const TcpEnd& end) {
    return fmt::format("{:08X}{:08X}{:08X}", 0, 0, htonl(0xffff)) + text(end);
  };
  if (!found) found = ReadTable("/proc/net/tcp6", mapped(there), mapped(here));
  return found;
}

// Returns true if `user` is the ID that stands for every user whom this user namespace does not know, this process's
// own among them if the namespace does not know it.
bool IsNobody(uint32_t user) {
  uint32_t nobody = 65534;
  std::ifstream("/proc/sys/kernel/overflowuid") >> nobody;
  if (user != nobody) return false;
  std::string map;
  std::getline(std::ifstream("/proc/self/uid_map"), map);
  unsigned inside = 1, outside = 1, count = 0;
  // The first namespace knows all of them.
  return std::sscanf(map.c_str(), "%u %u %u", &inside, &outside, &count) != 3 || inside != 0 ||
         outside != 0 || count != ~0u;
}

}  // namespace

PeerUsers::PeerUsers() : diagnosis_(OpenDiagnosis()) {}

PeerUser PeerUsers::Find(const TcpEnd& there, const TcpEnd& here) {
  std::optional<Owner> owner;
  bool answers = false;
  if (diagnosis_.valid()) owner = AskKernel(DescriptorOf(diagnosis_), there, here, &answers);
  if (diagnosis_.valid() && !answers) {
    // A late answer would be taken for the next one's.
    diagnosis_ = SystemHandle();
  }
  if (!answers) owner = SearchTables(there, here);
  // A socket that is closed has no inode, and is shown as root's.
  if (!owner || owner->inode == 0 || IsNobody(owner->user)) return PeerUser::kUnknown;
  return owner->user == geteuid() ? PeerUser::kSame : PeerUser::kOther;
}

}  // namespace cairn
