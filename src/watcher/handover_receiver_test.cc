// SPDX-License-Identifier: Apache-2.0
#include "watcher/handover_receiver.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/recorder/watcher_connection.h"
#include "app/recorder/watcher_link.h"
#include "format/block/block.h"
#include "format/settings/layer_settings.h"
#include "os/shared_memory.h"

namespace cairn {
namespace {

constexpr int kSkipped = 77;
constexpr uid_t kNobody = 65534;

// Runs `body` in a child with the environment of a program whose inherited socket was closed; its exit code.
int InChild(const std::string& address, const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    unsetenv(kVariableOf<&LayerSettings::watcher_fd>);
    setenv(kVariableOf<&LayerSettings::watcher_address>, address.c_str(), 1);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int HandOverABlock() {
  Result<SharedMemory> block = SharedMemory::Create("test", kMinBlockBytes);
  return block.ok() && HandOverBlock(*block).ok() ? 0 : 1;
}

int ConnectTo(const std::string& name) {
  const int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  EXPECT_EQ(connect(made, reinterpret_cast<const sockaddr*>(&address), size), 0);
  return made;
}

class HandoverReceiverTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair_.data()), 0);
    ASSERT_TRUE(receiver_.Open(SystemHandle(pair_[0]), getpid()).ok());
    receiver_.OpenDoors();
    address_ = ParseWatcherAddress(receiver_.address());
    ASSERT_TRUE(address_.has_value());
  }
  void TearDown() override { close(pair_[1]); }

  // Until there are no more.
  std::vector<ReceivedMessage> ReceiveAll() {
    std::vector<ReceivedMessage> all;
    ReceivedMessage received;
    for (int i = 0; i < 100; ++i) {
      if (receiver_.Receive(&received)) all.push_back(std::move(received));
    }
    return all;
  }

  std::string WithoutName() const {
    WatcherAddress address = *address_;
    address.name.clear();
    return FormatWatcherAddress(address);
  }
  std::string WithoutDoor() const {
    WatcherAddress address = *address_;
    address.pid = 0;
    return FormatWatcherAddress(address);
  }

  std::array<int, 2> pair_{};
  HandoverReceiver receiver_;
  std::optional<WatcherAddress> address_;
};

TEST_F(HandoverReceiverTest, MessagesOfTheInheritedSocketCome) {
  HandoverMessage message;
  message.kind = HandoverKind::kDeviceLost;
  ASSERT_EQ(send(pair_[1], &message, sizeof(message), 0), static_cast<ssize_t>(sizeof(message)));
  const std::vector<ReceivedMessage> all = ReceiveAll();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].message.kind, HandoverKind::kDeviceLost);
  EXPECT_EQ(all[0].sender.pid, getpid());
}

TEST_F(HandoverReceiverTest, EachDoorLeadsIn) {
  for (const std::string& address : {receiver_.address(), WithoutName(), WithoutDoor()}) {
    ASSERT_EQ(InChild(address, HandOverABlock), 0) << address;
    // The process has ended: what it sent is here all the same, and is its own.
    std::vector<ReceivedMessage> all = ReceiveAll();
    ASSERT_EQ(all.size(), 1u) << address;
    EXPECT_EQ(all[0].message.kind, HandoverKind::kBlock);
    EXPECT_EQ(all[0].message.block_bytes, kMinBlockBytes);
    EXPECT_NE(all[0].sender.pid, getpid());
    EXPECT_TRUE(all[0].memory.MapForReading(all[0].message.block_bytes).ok());
  }
}

TEST_F(HandoverReceiverTest, NothingOfTheDoorsStaysInTheFileSystem) {
  char target[4096] = {};
  ASSERT_GT(readlink(DoorPath(*address_).c_str(), target, sizeof(target) - 1), 0);
  const std::string name = target;
  EXPECT_TRUE(name.ends_with("/watcher (deleted)")) << name;
  // The folder that it was in is gone, too.
  EXPECT_NE(access(name.substr(0, name.rfind('/')).c_str(), F_OK), 0) << name;
}

TEST_F(HandoverReceiverTest, AnotherNetworkNamespaceIsNoObstacle) {
  const int code = InChild(receiver_.address(), [] {
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return kSkipped;
    return HandOverABlock();
  });
  if (code == kSkipped) GTEST_SKIP() << "this user may make no network namespace";
  EXPECT_EQ(code, 0);
  EXPECT_EQ(ReceiveAll().size(), 1u);
}

TEST_F(HandoverReceiverTest, WithoutTheTokenNobodyIsHeard) {
  WatcherAddress wrong = *address_;
  wrong.token[15] ^= 1;
  // The sender is not told at once.
  InChild(FormatWatcherAddress(wrong), HandOverABlock);
  EXPECT_EQ(ReceiveAll().size(), 0u);
  const int stranger = ConnectTo(address_->name);
  HandoverMessage message;
  EXPECT_GT(send(stranger, &message, sizeof(message), MSG_NOSIGNAL), 0);
  EXPECT_EQ(ReceiveAll().size(), 0u);
  EXPECT_TRUE(WatcherIsGone(stranger));
  close(stranger);
}

TEST_F(HandoverReceiverTest, ProgramsThatSayNothingPushEachOtherOut) {
  std::vector<int> strangers;
  for (size_t i = 0; i < HandoverReceiver::kMaxStrangers + 10; ++i) {
    strangers.push_back(ConnectTo(address_->name));
    ReceiveAll();
  }
  size_t gone = 0;
  for (const int stranger : strangers) gone += WatcherIsGone(stranger) ? 1 : 0;
  EXPECT_EQ(gone, 10u);
  EXPECT_TRUE(WatcherIsGone(strangers[0]));
  ASSERT_EQ(InChild(receiver_.address(), HandOverABlock), 0);
  EXPECT_EQ(ReceiveAll().size(), 1u);
  for (const int stranger : strangers) close(stranger);
}

// All of them have shown the token. The inherited connection is one of them.
TEST_F(HandoverReceiverTest, ConnectionsBeyondTheirBoundAreTurnedAway) {
  constexpr rlim_t kNeeded = 2 * HandoverReceiver::kMaxConnections + 200;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  if (before.rlim_max < kNeeded) {
    GTEST_SKIP() << "the hard limit of descriptors is " << before.rlim_max;
  }
  const rlimit enough = {kNeeded, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &enough), 0);
  receiver_.set_most_handles(kNeeded);
  HandoverGreeting greeting;
  greeting.token = address_->token;
  std::vector<int> connections;
  ReceivedMessage received;
  for (size_t i = 0; i < 8192 + 2; ++i) {
    connections.push_back(ConnectTo(address_->name));
    (void)send(connections.back(), &greeting, sizeof(greeting), MSG_NOSIGNAL);
    for (int turn = 0; turn < 4; ++turn) EXPECT_FALSE(receiver_.Receive(&received));
  }
  EXPECT_EQ(receiver_.turned_away(), 3u);
  EXPECT_TRUE(WatcherIsGone(connections.back()));
  EXPECT_FALSE(WatcherIsGone(connections.front()));
  for (const int connection : connections) close(connection);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

// The name is visible to every user of the machine.
TEST_F(HandoverReceiverTest, AnotherUserTakesNothingAndIsGivenNothing) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to be somebody else";
  const std::string address = receiver_.address();
  // Make the other user's listener, under a name that we would trust if it were ours.
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  WatcherAddress theirs = *address_;
  theirs.name = "cairn-test-" + std::to_string(getpid());
  theirs.pid = 0;
  const pid_t other = fork();
  if (other == 0) {
    if (setuid(kNobody) != 0) _exit(1);
    const int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path + 1, theirs.name.data(), theirs.name.size());
    const auto size =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + theirs.name.size());
    if (bind(listener, reinterpret_cast<const sockaddr*>(&name), size) != 0 ||
        listen(listener, 1) != 0 || write(ready[1], "x", 1) != 1) {
      _exit(1);
    }
    for (;;) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const Result<RawHandle> connection = ConnectionToWatcher(theirs);
  ASSERT_FALSE(connection.ok());
  EXPECT_NE(connection.status().message().find("Operation not permitted"), std::string::npos)
      << connection.status().message();
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  for (const int end : ready) close(end);
}

// There is no descriptor for a connection: who comes is told so, and the watcher does not turn in circles.
TEST_F(HandoverReceiverTest, WhoFindsNoRoomIsTurnedAway) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int stranger = ConnectTo(address_->name);
  const int highest = dup(0);
  close(highest);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(highest);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  ReceiveAll();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(receiver_.turned_away(), 1u);
  EXPECT_TRUE(WatcherIsGone(stranger));
  close(stranger);
  ASSERT_EQ(InChild(receiver_.address(), HandOverABlock), 0);
  EXPECT_EQ(ReceiveAll().size(), 1u);
}

}  // namespace
}  // namespace cairn
