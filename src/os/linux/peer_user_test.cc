// SPDX-License-Identifier: Apache-2.0
#include "os/peer_user.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/linux/file_descriptor.h"

namespace cairn {
namespace {

constexpr uid_t kNobody = 65534;

TcpEnd EndOf(const sockaddr_in& address) {
  return {ntohl(address.sin_addr.s_addr), ntohs(address.sin_port)};
}

class PeerUserTest : public testing::Test {
 protected:
  PeerUserTest() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address_), sizeof(address_)), 0);
    EXPECT_EQ(listen(listener_.get(), 8), 0);
    socklen_t size = sizeof(address_);
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address_), &size);
  }
  FileDescriptor Connected() const {
    FileDescriptor near(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(near.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof(address_)),
              0);
    return near;
  }
  // Accepts the next connection and returns its user.
  PeerUser Next() {
    sockaddr_in there = {};
    socklen_t size = sizeof(there);
    accepted_ = FileDescriptor(accept(listener_.get(), reinterpret_cast<sockaddr*>(&there), &size));
    EXPECT_TRUE(accepted_.valid());
    return users_.Find(EndOf(there), EndOf(address_));
  }

  sockaddr_in address_ = {};
  FileDescriptor listener_;
  FileDescriptor accepted_;
  PeerUsers users_;
};

TEST_F(PeerUserTest, OwnConnectionsAreThisUsers) {
  const FileDescriptor near = Connected();
  EXPECT_EQ(Next(), PeerUser::kSame);
}

TEST_F(PeerUserTest, AConnectionOfIpv6IsTheSame) {
  const FileDescriptor near(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 mapped = {};
  mapped.sin6_family = AF_INET6;
  mapped.sin6_port = address_.sin_port;
  ASSERT_EQ(inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr), 1);
  if (connect(near.get(), reinterpret_cast<sockaddr*>(&mapped), sizeof(mapped)) != 0) {
    GTEST_SKIP() << "no IPv6";
  }
  EXPECT_EQ(Next(), PeerUser::kSame);
}

TEST_F(PeerUserTest, WhoHasGoneIsNotKnown) {
  { const FileDescriptor near = Connected(); }
  EXPECT_EQ(Next(), PeerUser::kUnknown);
  EXPECT_EQ(users_.Find({INADDR_LOOPBACK, 1}, {INADDR_LOOPBACK, 2}), PeerUser::kUnknown);
}

TEST_F(PeerUserTest, AnotherUserIsAnother) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    char letter;
    const int near = setuid(kNobody) == 0 ? socket(AF_INET, SOCK_STREAM, 0) : -1;
    const bool connected =
        connect(near, reinterpret_cast<const sockaddr*>(&address_), sizeof(address_)) == 0;
    (void)!read(ends[0], &letter, 1);  // until it was looked at
    _exit(connected ? 0 : 1);
  }
  close(ends[0]);
  EXPECT_EQ(Next(), PeerUser::kOther);
  close(ends[1]);
  int end = -1;
  waitpid(child, &end, 0);
  EXPECT_EQ(end, 0);
}

}  // namespace
}  // namespace cairn
