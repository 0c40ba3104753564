// SPDX-License-Identifier: Apache-2.0
#include "os/channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "os/random.h"

namespace cairn {
namespace {

using Event = ChannelServer::Event;

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string Text(const ChannelMessage& message) {
  return std::string(reinterpret_cast<const char*>(message.data.data()), message.size_bytes);
}

class ChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<ChannelEnds> ends = MakeChannel();
    ASSERT_TRUE(ends.ok());
    theirs_ = std::move(ends->second);
    ASSERT_TRUE(server_.Open().ok());
    const Result<uint64_t> added = server_.Add(std::move(ends->first), OwnProcessId());
    ASSERT_TRUE(added.ok());
    number_ = *added;
  }
  Event Next() { return server_.Next(&connection_, &message_); }

  ChannelServer server_;
  SystemHandle theirs_;
  uint64_t number_ = 0;
  uint64_t connection_ = 0;
  ChannelMessage message_;
};

TEST_F(ChannelTest, MessagesStayApartAndNameTheirSender) {
  EXPECT_EQ(Next(), Event::kNone);
  ASSERT_TRUE(SendOver(theirs_.get(), Bytes("one")).ok());
  ASSERT_TRUE(SendOver(theirs_.get(), Bytes("three")).ok());
  ASSERT_EQ(Next(), Event::kMessage);
  EXPECT_EQ(Text(message_), "one");
  EXPECT_EQ(connection_, number_);
  EXPECT_EQ(message_.sender.pid, OwnProcessId());
  EXPECT_FALSE(message_.memory.MapForReading(4096).ok());
  ASSERT_EQ(Next(), Event::kMessage);
  EXPECT_EQ(Text(message_), "three");
  EXPECT_EQ(Next(), Event::kNone);
}

TEST_F(ChannelTest, AChildIsNotTakenForItsParent) {
  const pid_t child = fork();
  if (child == 0) _exit(SendOver(theirs_.get(), Bytes("x")).ok() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(Next(), Event::kMessage);
  EXPECT_EQ(message_.sender.pid, child);
}

TEST_F(ChannelTest, MemoryIsTheSame) {
  Result<SharedMemory> memory = SharedMemory::Create("test", 8192);
  ASSERT_TRUE(memory.ok());
  ASSERT_TRUE(SendOver(theirs_.get(), Bytes("m"), &*memory).ok());
  ASSERT_EQ(Next(), Event::kMessage);
  EXPECT_FALSE(message_.memory_lost);
  EXPECT_GT(message_.handles_in_use, 2u);
  Result<SharedMemory> seen = message_.memory.MapForWriting(8192);
  ASSERT_TRUE(seen.ok()) << seen.status().message();
  std::strcpy(reinterpret_cast<char*>(seen->data()), "stones");
  EXPECT_STREQ(reinterpret_cast<const char*>(memory->data()), "stones");
  // Only once.
  EXPECT_EQ(message_.memory.MapForReading(8192).status().code(), StatusCode::kNotFound);
}

TEST_F(ChannelTest, ALongMessageIsCut) {
  ASSERT_TRUE(SendOver(theirs_.get(), Bytes(std::string(100, 'a'))).ok());
  ASSERT_EQ(Next(), Event::kMessage);
  EXPECT_EQ(message_.size_bytes, kMostMessageBytes);
}

TEST_F(ChannelTest, EitherSideSeesThatTheOtherIsGone) {
  EXPECT_FALSE(IsChannelClosed(theirs_.get()));
  server_.Close(number_);
  EXPECT_TRUE(IsChannelClosed(theirs_.get()));
  EXPECT_EQ(SendOver(theirs_.get(), Bytes("x")).code(), StatusCode::kIo);
}

TEST_F(ChannelTest, AnEndThatIsClosedIsToldOnce) {
  theirs_.Close();
  EXPECT_EQ(Next(), Event::kClosed);
  EXPECT_EQ(connection_, number_);
  EXPECT_EQ(Next(), Event::kNone);
}

TEST_F(ChannelTest, AnEmptyMessageIsNotTheEnd) {
  ASSERT_TRUE(SendOver(theirs_.get(), {}).ok());
  ASSERT_EQ(Next(), Event::kMessage);
  EXPECT_EQ(message_.size_bytes, 0u);
}

TEST_F(ChannelTest, ItsMakerIsKnown) {
  const Result<ProcessId> maker = MakerOfChannel(theirs_.get());
  ASSERT_TRUE(maker.ok());
  EXPECT_EQ(*maker, OwnProcessId());
  EXPECT_FALSE(MakerOfChannel(0).ok());
}

TEST_F(ChannelTest, WhatIsInheritedIsFoundByItsTextAsLongAsTheNumberMeansIt) {
  const std::string text = TextOfInherited(theirs_.get());
  EXPECT_EQ(FindInherited(text.c_str()), theirs_.get());
  Result<ChannelEnds> others = MakeChannel();
  ASSERT_TRUE(others.ok());
  ASSERT_GE(dup2(static_cast<int>(others->first.get()), static_cast<int>(theirs_.get())), 0);
  EXPECT_EQ(FindInherited(text.c_str()), -1);
  for (const char* bad : {"", "x", "-1", "0", "4294967299"})
    EXPECT_EQ(FindInherited(bad), -1) << bad;
}

// handover_receiver_test.cc goes through them.
TEST_F(ChannelTest, DoorsAreOpened) {
  const std::string name = "cairn-channel-test-" + std::to_string(OwnProcessId());
  const ChannelServer::Doors doors = server_.OpenDoors(name);
  EXPECT_TRUE(doors.named);
  EXPECT_EQ(doors.pid, OwnProcessId());
  EXPECT_GE(doors.second_door, 0);
  EXPECT_TRUE(server_.has_doors());
}

TEST(FillWithSecrets, NoTwoAreEqual) {
  std::array<std::byte, 16> a{};
  std::array<std::byte, 16> b{};
  ASSERT_TRUE(FillWithSecrets(a));
  ASSERT_TRUE(FillWithSecrets(b));
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace cairn
