// SPDX-License-Identifier: Apache-2.0
#include "os/channel.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <utility>

#include "os/linux/foreign_handle.h"

namespace cairn {
namespace {

// handover_receiver_test.cc goes through it.
TEST(SecondDoor, IsOneOfThisProcess) {
  ChannelServer server;
  ASSERT_TRUE(server.Open().ok());
  const ChannelServer::Doors doors =
      server.OpenDoors("cairn-channel-test-second-" + std::to_string(OwnProcessId()));
  EXPECT_EQ(doors.pid, OwnProcessId());
  EXPECT_GE(doors.second_door, 0);
}

TEST(ChannelMessage, ShowsHowManyHandlesThisProcessHas) {
  // Those of the tests before are closed by another thread, and would be taken off.
  while (HandlesStillOpen() != 0) std::this_thread::yield();
  Result<ChannelEnds> ends = MakeChannel();
  const Result<SharedMemory> memory = SharedMemory::Create("test", 8192);
  ChannelServer server;
  ASSERT_TRUE(ends.ok() && memory.ok() && server.Open().ok());
  ASSERT_TRUE(server.Add(std::move(ends->first), OwnProcessId()).ok());
  ASSERT_TRUE(SendOver(ends->second.get(), {}, &*memory).ok());
  uint64_t connection = 0;
  ChannelMessage message;
  ASSERT_EQ(server.Next(&connection, &message), ChannelServer::Event::kMessage);
  EXPECT_GT(message.handles_in_use, 2u);
}

// A launcher may have closed what it inherited, and opened something else.
TEST(FindInherited, AnotherChannelOfThatNumberIsNotMeant) {
  Result<ChannelEnds> ends = MakeChannel();
  Result<ChannelEnds> others = MakeChannel();
  ASSERT_TRUE(ends.ok() && others.ok());
  const std::string text = TextOfInherited(ends->second.get());
  EXPECT_EQ(FindInherited(text.c_str()), ends->second.get());
  ASSERT_GE(dup2(static_cast<int>(others->first.get()), static_cast<int>(ends->second.get())), 0);
  EXPECT_EQ(FindInherited(text.c_str()), -1);
}

}  // namespace
}  // namespace cairn
