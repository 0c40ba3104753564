// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/watcher_link.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "format/block/block.h"
#include "format/settings/layer_settings.h"
#include "os/channel.h"

namespace cairn {
namespace {

class Handover : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets_.data()), 0);
    setenv(kVariableOf<&LayerSettings::watcher_fd>, std::to_string(sockets_[0]).c_str(), 1);
  }
  void TearDown() override {
    unsetenv(kVariableOf<&LayerSettings::watcher_fd>);
    close(sockets_[0]);
    if (sockets_[1] >= 0) close(sockets_[1]);
  }
  std::array<int, 2> sockets_{};
};

TEST_F(Handover, TheReceiverMapsTheSameMemory) {
  Result<SharedMemory> block = SharedMemory::Create("test", kMinBlockBytes);
  ASSERT_TRUE(block.ok());
  std::memcpy(block->data(), "stones", 7);
  ASSERT_TRUE(HandOverBlock(*block).ok());

  HandoverMessage message;
  iovec data{&message, sizeof(message)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ASSERT_EQ(recvmsg(sockets_[1], &header, 0), static_cast<ssize_t>(sizeof(message)));
  EXPECT_EQ(message.magic, kHandoverMagic);
  EXPECT_EQ(message.kind, HandoverKind::kBlock);
  EXPECT_EQ(message.block_bytes, kMinBlockBytes);
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof(fd));
  Result<SharedMemory> seen = SharedMemory::MapForReading(SystemHandle(fd), message.block_bytes);
  ASSERT_TRUE(seen.ok()) << seen.status().message();
  EXPECT_STREQ(reinterpret_cast<const char*>(seen->data()), "stones");
  // The memory stays readable without the sender.
  *block = SharedMemory();
  EXPECT_STREQ(reinterpret_cast<const char*>(seen->data()), "stones");
}

TEST_F(Handover, ADeadWatcherIsAnErrorNotASignal) {
  close(sockets_[1]);
  sockets_[1] = -1;
  EXPECT_EQ(SendDeviceLost().code(), StatusCode::kIo);
}

TEST_F(Handover, ACaptureIsToldFromABlock) {
  Result<SharedMemory> region = SharedMemory::Create("test", 8192);
  ASSERT_TRUE(region.ok());
  ASSERT_TRUE(HandOverCapture(*region).ok());
  HandoverMessage message;
  ASSERT_EQ(recv(sockets_[1], &message, sizeof(message), 0), static_cast<ssize_t>(sizeof(message)));
  EXPECT_EQ(message.kind, HandoverKind::kCapture);
  EXPECT_EQ(message.block_bytes, 8192u);
}

TEST_F(Handover, AnEndedWatcherIsSeenWithoutSending) {
  EXPECT_FALSE(WatcherIsGone(sockets_[0]));
  // Unread messages, either way, do not hide it.
  ASSERT_TRUE(SendDeviceLost().ok());
  EXPECT_FALSE(WatcherIsGone(sockets_[0]));
  close(sockets_[1]);
  sockets_[1] = -1;
  EXPECT_TRUE(WatcherIsGone(sockets_[0]));
}

TEST_F(Handover, ANumberThatIsNotASocketIsNoWatcher) {
  EXPECT_EQ(*WatcherSocket(), sockets_[0]);
  setenv(kVariableOf<&LayerSettings::watcher_fd>, "0x3", 1);
  EXPECT_EQ(WatcherSocket().status().code(), StatusCode::kNotFound);
  const int file = open("/dev/null", O_RDONLY);
  setenv(kVariableOf<&LayerSettings::watcher_fd>, std::to_string(file).c_str(), 1);
  EXPECT_EQ(WatcherSocket().status().code(), StatusCode::kNotFound);
  close(file);
  unsetenv(kVariableOf<&LayerSettings::watcher_fd>);
  EXPECT_EQ(SendDeviceLost().code(), StatusCode::kNotFound);
}

// A launcher closed ours, and the program opened one of its own under the same number.
TEST_F(Handover, AnotherSocketUnderTheSameNumberIsNoWatcher) {
  const std::string value = TextOfInherited(sockets_[0]);
  setenv(kVariableOf<&LayerSettings::watcher_fd>, value.c_str(), 1);
  EXPECT_EQ(*WatcherSocket(), sockets_[0]);
  std::array<int, 2> others{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, others.data()), 0);
  ASSERT_EQ(dup2(others[0], sockets_[0]), sockets_[0]);
  EXPECT_EQ(WatcherSocket().status().code(), StatusCode::kNotFound);
  EXPECT_EQ(SendDeviceLost().code(), StatusCode::kNotFound);
  for (const std::string& bad : {value + "x", value + ":", value + " ", std::string("3:")}) {
    setenv(kVariableOf<&LayerSettings::watcher_fd>, bad.c_str(), 1);
    EXPECT_EQ(WatcherSocket().status().code(), StatusCode::kNotFound) << bad;
  }
  for (const int other : others) close(other);
}

TEST_F(Handover, AnAddressThatLeadsNowhereIsSaid) {
  unsetenv(kVariableOf<&LayerSettings::watcher_fd>);
  WatcherAddress address;
  address.name = "cairn-nobody-listens-here";
  address.pid = getpid();
  address.door = 4242;
  setenv(kVariableOf<&LayerSettings::watcher_address>, FormatWatcherAddress(address).c_str(), 1);
  Result<SharedMemory> block = SharedMemory::Create("test", kMinBlockBytes);
  ASSERT_TRUE(block.ok());
  testing::internal::CaptureStderr();
  EXPECT_EQ(HandOverBlock(*block).code(), StatusCode::kIo);
  EXPECT_EQ(HandOverBlock(*block).code(), StatusCode::kIo);
  unsetenv(kVariableOf<&LayerSettings::watcher_address>);
  const std::string pid = std::to_string(getpid());
  // The warning comes once.
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "cairn: warning: process " + pid + " is not watched: its watcher, process " + pid +
                ", cannot be reached, neither by its socket (Connection refused) nor by /proc/" +
                pid +
                "/fd/4242 (No such file or directory): it has ended, or this process is in other "
                "network and PID namespaces\n");
}

TEST(SharedMemory, ReadersRefuseMemoryThatCouldShrink) {
  const int fd = memfd_create("unsealed", 0);
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  EXPECT_EQ(SharedMemory::MapForReading(SystemHandle(fd), 4096).status().code(),
            StatusCode::kCorrupt);
}

TEST(SharedMemory, ReadersRefuseAnotherSizeThanAnnounced) {
  Result<SharedMemory> memory = SharedMemory::Create("test", 8192);
  ASSERT_TRUE(memory.ok());
  const Result<SharedMemory> seen =
      SharedMemory::MapForReading(SystemHandle(dup(static_cast<int>(memory->handle()))), 4096);
  EXPECT_EQ(seen.status().code(), StatusCode::kCorrupt);
  EXPECT_NE(seen.status().message().find("8192"), std::string::npos);
}

}  // namespace
}  // namespace cairn
