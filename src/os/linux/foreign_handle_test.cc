// SPDX-License-Identifier: Apache-2.0
#include "os/linux/foreign_handle.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "os/channel.h"
#include "os/clock.h"
#include "os/running_processes.h"
#include "os/shared_memory.h"

namespace cairn {
namespace {

using Event = ChannelServer::Event;

FileDescriptor Memory(unsigned flags, int seals) {
  FileDescriptor memory(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
  if (memory.valid() && ftruncate(memory.get(), 4 << 20) == 0)
    fcntl(memory.get(), F_ADD_SEALS, seals);
  return memory;
}

TEST(ForeignHandle, OnlySealedMemoryInOrdinaryPagesIsTaken) {
  EXPECT_TRUE(IsSealedMemory(Memory(0, F_SEAL_SHRINK | F_SEAL_GROW).get()));
  EXPECT_FALSE(IsSealedMemory(Memory(0, F_SEAL_SHRINK).get()));
  EXPECT_FALSE(IsSealedMemory(Memory(0, 0).get()));
  EXPECT_FALSE(IsSealedMemory(-1));
  EXPECT_FALSE(IsSealedMemory(FileDescriptor(open("/dev/null", O_RDWR)).get()));
  EXPECT_FALSE(IsSealedMemory(FileDescriptor(open("/proc/self/exe", O_RDONLY)).get()));
  const FileDescriptor huge = Memory(MFD_HUGETLB, F_SEAL_SHRINK | F_SEAL_GROW);
  if (huge.valid()) {
    EXPECT_FALSE(IsSealedMemory(huge.get()));
  }
}

// A connection whose other end reads nothing: closing it would wait for an hour.
FileDescriptor LingeringSocket(FileDescriptor* other) {
  FileDescriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(listen(listener.get(), 1), 0);
  EXPECT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  FileDescriptor sender(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(sender.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  *other = FileDescriptor(accept(listener.get(), nullptr, nullptr));
  const std::vector<char> much(1 << 20);
  while (send(sender.get(), much.data(), much.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
  }
  const linger slowly{1, 3600};
  setsockopt(sender.get(), SOL_SOCKET, SO_LINGER, &slowly, sizeof(slowly));
  return sender;
}

// Sends "x" with these attached.
void SendWith(const SystemHandle& end, const std::vector<int>& attached) {
  char x = 'x';
  iovec data{&x, 1};
  std::vector<char> control(CMSG_SPACE(attached.size() * sizeof(int)));
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  cmsghdr* const part = CMSG_FIRSTHDR(&header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(attached.size() * sizeof(int));
  std::memcpy(CMSG_DATA(part), attached.data(), attached.size() * sizeof(int));
  ASSERT_EQ(sendmsg(static_cast<int>(end.get()), &header, MSG_NOSIGNAL), 1);
}

// Alone, among others, and where the connection is closed before it was read.
TEST(ForeignHandle, WhatLingersHoldsNobodyUp) {
  Result<ChannelEnds> ends = MakeChannel();
  ChannelServer server;
  ASSERT_TRUE(ends.ok() && server.Open().ok());
  const Result<uint64_t> number = server.Add(std::move(ends->first), getpid());
  ASSERT_TRUE(number.ok());
  FileDescriptor others[3];
  for (FileDescriptor& other : others) {
    const FileDescriptor socket = LingeringSocket(&other);
    const FileDescriptor memory = Memory(0, F_SEAL_SHRINK | F_SEAL_GROW);
    std::vector<int> attached{socket.get()};
    if (&other != others) attached.insert(attached.end(), 100, memory.get());
    SendWith(ends->second, attached);
  }
  uint64_t connection = 0;
  for (int i = 0; i < 2; ++i) {
    ChannelMessage message;
    ASSERT_EQ(server.Next(&connection, &message), Event::kMessage);
    EXPECT_FALSE(message.memory_lost);
    EXPECT_EQ(message.memory.MapForReading(4 << 20).status().code(), StatusCode::kNotFound);
  }
  server.Close(*number);
  EXPECT_TRUE(IsChannelClosed(ends->second.get()));
  // The other ends still have their sockets, which are not closed yet, or wait.
  for (const FileDescriptor& other : others) EXPECT_TRUE(other.valid());
}

bool IsMapped(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  return text.find(name) != std::string::npos;
}

// On another thread; the time-out of the test ends one that waits for ever.
TEST(ForeignHandle, LargeMemoryIsUnmapped) {
  constexpr uint64_t kBytes = uint64_t{64} << 20;
  for (int i = 0; i < 20; ++i) {
    Result<SharedMemory> memory = SharedMemory::Create("cairn-unmapped", kBytes);
    ASSERT_TRUE(memory.ok());
    const Result<SharedMemory> mapped = memory->MapAgainForReading();
    ASSERT_TRUE(mapped.ok());
    EXPECT_EQ(mapped->data()[kBytes - 1], std::byte{0});
    EXPECT_TRUE(IsMapped("cairn-unmapped"));
  }
  while (IsMapped("cairn-unmapped")) std::this_thread::yield();
}

size_t ClosingThreads() {
  size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    count += name == "cairn-close";
  }
  return count;
}

// Another thread begins only when those that there are have closed nothing for 50 ms.
TEST(ForeignHandle, AtMostSixteenThreadsCloseWhatLingers) {
  FileDescriptor others[24];
  size_t most = 0;
  for (FileDescriptor& other : others) {
    CloseElsewhere(LingeringSocket(&other));
    const uint64_t added_ns = MonotonicNs();
    while (MonotonicNs() - added_ns < 60'000'000) most = std::max(most, ClosingThreads());
  }
  EXPECT_EQ(most, 16u);
  EXPECT_GE(HandlesStillOpen(), std::size(others));
}

// Whoever sends does not wait for ever for one that reads nothing.
TEST(ForeignHandle, EndsOfChannelsHavePatience) {
  Result<ChannelEnds> ends = MakeChannel();
  ASSERT_TRUE(ends.ok());
  for (const SystemHandle* end : {&ends->first, &ends->second}) {
    timeval patience{};
    socklen_t size = sizeof(patience);
    EXPECT_EQ(getsockopt(DescriptorOf(*end), SOL_SOCKET, SO_SNDTIMEO, &patience, &size), 0);
    EXPECT_EQ(patience.tv_sec, 10);
  }
}

// A file, a FIFO and a device that look like memory: not one of them is opened, which a device or a tape would notice.
TEST(ForeignHandle, LookAlikesAreNotOpened) {
  const std::string path = "/memfd:look-alike-test";
  for (const mode_t kind : {S_IFREG, S_IFIFO, S_IFCHR}) {
    const FileDescriptor watch(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    unlink(path.c_str());
    const dev_t null_device = kind == S_IFCHR ? (1u << 8 | 3u) : 0;
    if (mknod(path.c_str(), kind | 0600, null_device) != 0) {
      GTEST_SKIP() << "this user may make no such file: " << std::strerror(errno);
    }
    const FileDescriptor held(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    ASSERT_TRUE(held.valid());
    const std::string held_path = "/proc/self/fd/" + std::to_string(held.get());
    ASSERT_GE(inotify_add_watch(watch.get(), held_path.c_str(), IN_OPEN), 0);
    unlink(path.c_str());
    const std::error_code error =
        LookAtHeldMemory(getpid(), "look-alike-test", [](HeldMemory&) { return true; });
    EXPECT_FALSE(error) << error.message();
    char events[4096];
    EXPECT_LT(read(watch.get(), events, sizeof(events)), 0) << "it was opened";
    EXPECT_FALSE(SharedMemory::MapPathForWriting(held_path).ok());
    EXPECT_LT(read(watch.get(), events, sizeof(events)), 0) << "it was opened";
  }
}

}  // namespace
}  // namespace cairn
