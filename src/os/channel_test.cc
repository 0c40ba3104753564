// SPDX-License-Identifier: Apache-2.0
#include "os/channel.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "os/clock.h"
#include "os/random.h"
#include "os/testing/test_role.h"
#include "os/wait_set.h"

namespace cairn {
namespace {

using Event = ChannelServer::Event;

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string Text(const ChannelMessage& message) {
  return std::string(reinterpret_cast<const char*>(message.data.data()), message.size_bytes);
}

const TestRole sends_x("sends-x", [](const TestWords& words) {
  return SendOver(TakeInherited(std::stoull(words.at(0))).Release(), Bytes("x")).ok() ? 0 : 1;
});
const TestRole attaches_and_dies("attaches-and-dies", [](const TestWords& words) -> int {
  Result<SharedMemory> memory = SharedMemory::Create("test", 8192);
  if (!memory.ok()) return 1;
  std::strcpy(reinterpret_cast<char*>(memory->data()), "left behind");
  const RawHandle end = TakeInherited(std::stoull(words.at(0))).Release();
  std::_Exit(SendOver(end, Bytes("m"), &*memory).ok() ? 0 : 2);
});

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
  // Returns the next event; waits for it.
  Event Next() {
    WaitSet set;
    EXPECT_TRUE(set.Open().ok() && set.Add(server_.handle(), 1).ok());
    const auto happened = set.Wait(MonotonicNs() + 60'000'000'000);
    EXPECT_TRUE(happened.ok() && happened->front() == 1);
    return server_.Next(&connection_, &message_);
  }
  bool IsNothingMore() { return server_.Next(&connection_, &message_) == Event::kNone; }
  ProcessHandle StartWithEnd(const std::string& role) {
    SpawnRequest request;
    request.arguments = ArgumentsOfRole(role, {std::to_string(theirs_.get())});
    request.inherited = &theirs_;
    Result<ProcessHandle> process = SpawnProgram(request);
    EXPECT_TRUE(process.ok()) << process.status().message();
    return process.ok() ? std::move(*process) : ProcessHandle();
  }

  ChannelServer server_;
  SystemHandle theirs_;
  uint64_t number_ = 0;
  uint64_t connection_ = 0;
  ChannelMessage message_;
};

TEST_F(ChannelTest, MessagesStayApartAndNameTheirSender) {
  EXPECT_TRUE(IsNothingMore());
  ASSERT_TRUE(SendOver(theirs_.get(), Bytes("one")).ok());
  ASSERT_TRUE(SendOver(theirs_.get(), Bytes("three")).ok());
  ASSERT_EQ(Next(), Event::kMessage);
  EXPECT_EQ(Text(message_), "one");
  EXPECT_EQ(connection_, number_);
  EXPECT_EQ(message_.sender.pid, OwnProcessId());
  EXPECT_FALSE(message_.memory.MapForReading(4096).ok());
  ASSERT_EQ(Next(), Event::kMessage);
  EXPECT_EQ(Text(message_), "three");
  EXPECT_TRUE(IsNothingMore());
}

TEST_F(ChannelTest, AChildIsNotTakenForItsParent) {
  const ProcessHandle child = StartWithEnd("sends-x");
  ASSERT_EQ(EndOf(child).value, 0);
  ASSERT_EQ(Next(), Event::kMessage);
  EXPECT_EQ(message_.sender.pid, child.pid);
}

// Like a program that is killed right after it handed over its block.
TEST_F(ChannelTest, WhatWasAttachedOutlivesTheSender) {
  const ProcessHandle child = StartWithEnd("attaches-and-dies");
  ASSERT_EQ(EndOf(child).value, 0);
  ASSERT_EQ(Next(), Event::kMessage);
  EXPECT_EQ(message_.sender.pid, child.pid);
  EXPECT_TRUE(message_.sender.handle.valid());
  EXPECT_FALSE(message_.memory_lost);
  const Result<SharedMemory> memory = message_.memory.MapForReading(8192);
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  EXPECT_STREQ(reinterpret_cast<const char*>(memory->data()), "left behind");
}

TEST_F(ChannelTest, MemoryIsTheSame) {
  Result<SharedMemory> memory = SharedMemory::Create("test", 8192);
  ASSERT_TRUE(memory.ok());
  ASSERT_TRUE(SendOver(theirs_.get(), Bytes("m"), &*memory).ok());
  ASSERT_EQ(Next(), Event::kMessage);
  EXPECT_FALSE(message_.memory_lost);
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
  EXPECT_TRUE(IsNothingMore());
}

// Also if more messages wait than are kept at once.
TEST_F(ChannelTest, NoneOfManyMessagesIsLost) {
  constexpr int kMany = 150;
  for (int i = 0; i < kMany; ++i) {
    ASSERT_TRUE(SendOver(theirs_.get(), Bytes(std::to_string(i))).ok()) << i;
  }
  theirs_.Close();
  for (int i = 0; i < kMany; ++i) {
    ASSERT_EQ(Next(), Event::kMessage) << i;
    EXPECT_EQ(Text(message_), std::to_string(i));
  }
  EXPECT_EQ(Next(), Event::kClosed);
}

TEST_F(ChannelTest, OneWithManyMessagesCanBeClosed) {
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(SendOver(theirs_.get(), Bytes("x")).ok());
  ASSERT_EQ(Next(), Event::kMessage);
  server_.Close(number_);
  EXPECT_TRUE(IsNothingMore());
  EXPECT_TRUE(IsChannelClosed(theirs_.get()));
}

TEST_F(ChannelTest, AnEmptyMessageIsNotTheEnd) {
  ASSERT_TRUE(SendOver(theirs_.get(), {}).ok());
  ASSERT_EQ(Next(), Event::kMessage);
  EXPECT_EQ(message_.size_bytes, 0u);
}

TEST_F(ChannelTest, ItsMakerIsKnown) {
  const Result<ProcessHandle> maker = MakerOfChannel(theirs_.get());
  ASSERT_TRUE(maker.ok());
  EXPECT_EQ(maker->pid, OwnProcessId());
  EXPECT_TRUE(maker->handle.valid());
  EXPECT_FALSE(MakerOfChannel(0).ok());
}

TEST_F(ChannelTest, WhatIsInheritedIsFoundByItsTextAsLongAsTheNumberMeansIt) {
  const std::string text = TextOfInherited(theirs_.get());
  EXPECT_EQ(FindInherited(text.c_str()), theirs_.get());
  theirs_.Close();
  EXPECT_EQ(FindInherited(text.c_str()), -1);
  for (const char* bad : {"", "x", "-1", "0", "4294967299"})
    EXPECT_EQ(FindInherited(bad), -1) << bad;
}

class DoorTest : public ChannelTest {
 protected:
  DoorTest() : name_("cairn-channel-test-" + std::to_string(OwnProcessId())) {}
  SystemHandle Connect(std::string_view first) {
    std::error_code error;
    SystemHandle end = ConnectTo(DoorName::kName, name_, Bytes(first), error);
    EXPECT_EQ(end.valid(), !error) << error.message();
    return end;
  }

  const std::string name_;
};

TEST_F(DoorTest, WhoeverKnowsItsNameComesIn) {
  EXPECT_FALSE(server_.has_doors());
  EXPECT_TRUE(server_.OpenDoors(name_).named);
  EXPECT_TRUE(server_.has_doors());
  const SystemHandle one = Connect("one");
  const SystemHandle two = Connect("two");
  std::map<uint64_t, std::string> said;
  for (int connected = 0; said.size() < 2;) {
    const Event event = Next();
    if (event == Event::kConnected) ++connected;
    if (event == Event::kMessage) {
      said[connection_] = Text(message_);
      EXPECT_EQ(message_.sender.pid, OwnProcessId());
    }
    EXPECT_LE(said.size(), static_cast<size_t>(connected));
  }
  EXPECT_EQ(said.begin()->second, "one");
  EXPECT_EQ(said.rbegin()->second, "two");
  // One that is closed here is closed there, and the other is not.
  server_.Close(said.begin()->first);
  EXPECT_TRUE(IsChannelClosed(one.get()));
  EXPECT_FALSE(IsChannelClosed(two.get()));
  EXPECT_EQ(SendOver(two.get(), Bytes("more")).code(), StatusCode::kOk);
  ASSERT_EQ(Next(), Event::kMessage);
  EXPECT_EQ(connection_, said.rbegin()->first);
}

TEST_F(DoorTest, ThatIsNotThereIsAnError) {
  std::error_code error;
  EXPECT_FALSE(ConnectTo(DoorName::kName, name_, Bytes("x"), error).valid());
  EXPECT_TRUE(error == std::errc::no_such_file_or_directory ||
              error == std::errc::connection_refused)
      << error.message();
  EXPECT_FALSE(ConnectTo(DoorName::kPath, "", Bytes("x"), error).valid());
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
}

TEST(ReceiveWithin, TheTimeMayBeOver) {
  Result<ChannelEnds> ends = MakeChannel();
  ASSERT_TRUE(ends.ok());
  ChannelMessage message;
  EXPECT_EQ(ReceiveWithin(ends->first.get(), 1'000'000, &message), Received::kNothing);
  ASSERT_TRUE(SendOver(ends->second.get(), Bytes("now")).ok());
  EXPECT_EQ(ReceiveWithin(ends->first.get(), 60'000'000'000, &message), Received::kMessage);
  EXPECT_EQ(Text(message), "now");
  ends->second.Close();
  EXPECT_EQ(ReceiveWithin(ends->first.get(), 60'000'000'000, &message), Received::kClosed);
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
