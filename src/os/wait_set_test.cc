// SPDX-License-Identifier: Apache-2.0
#include "os/wait_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "os/channel.h"
#include "os/clock.h"
#include "os/process.h"
#include "os/testing/test_role.h"

namespace cairn {
namespace {

using testing::ElementsAre;

const TestRole ends_role("ends", [](const TestWords&) { return 0; });

class WaitSetTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(set_.Open().ok()); }
  std::vector<uint64_t> Wait(uint64_t time_ns = WaitSet::kTime) {
    const auto happened = set_.Wait(time_ns);
    EXPECT_TRUE(happened.ok());
    return {happened->begin(), happened->end()};
  }

  WaitSet set_;
};

TEST_F(WaitSetTest, ATimeComesOnceAndNotTooEarly) {
  const uint64_t time_ns = MonotonicNs() + 2'000'000;
  EXPECT_THAT(Wait(time_ns), ElementsAre(WaitSet::kTime));
  EXPECT_GE(MonotonicNs(), time_ns);
  // One that has passed, and the beginning of time.
  EXPECT_THAT(Wait(time_ns), ElementsAre(WaitSet::kTime));
  EXPECT_THAT(Wait(0), ElementsAre(WaitSet::kTime));
}

TEST_F(WaitSetTest, MessagesAndEndsOfProcessesWake) {
  Result<ChannelEnds> ends = MakeChannel();
  ASSERT_TRUE(ends.ok());
  ChannelServer server;
  ASSERT_TRUE(server.Open().ok());
  ASSERT_TRUE(server.Add(std::move(ends->first), OwnProcessId()).ok());
  ASSERT_TRUE(set_.Add(server.handle(), 1).ok());
  ASSERT_TRUE(SendOver(ends->second.get(), {}).ok());
  EXPECT_THAT(Wait(), ElementsAre(1u));
  uint64_t connection = 0;
  ChannelMessage message;
  EXPECT_EQ(server.Next(&connection, &message), ChannelServer::Event::kMessage);

  const ProcessHandle program = StartRole("ends");
  ASSERT_TRUE(set_.Add(program.handle, 2).ok());
  EXPECT_THAT(Wait(), ElementsAre(2u));
  EXPECT_THAT(Wait(), ElementsAre(2u)) << "as long as it is so";
  EXPECT_EQ(CollectEnd(program).kind, EndKind::kExited);
  set_.Remove(program.handle);
  EXPECT_THAT(Wait(MonotonicNs()), ElementsAre(WaitSet::kTime));
}

// More than one call of Windows can wait for.
TEST_F(WaitSetTest, WaitsForMany) {
  std::vector<ChannelEnds> all;
  std::vector<std::unique_ptr<ChannelServer>> servers;
  for (uint64_t i = 0; i < 80; ++i) {
    Result<ChannelEnds> ends = MakeChannel();
    ASSERT_TRUE(ends.ok());
    servers.push_back(std::make_unique<ChannelServer>());
    ASSERT_TRUE(servers[i]->Open().ok());
    ASSERT_TRUE(servers[i]->Add(std::move(ends->first), OwnProcessId()).ok());
    ASSERT_TRUE(set_.Add(servers[i]->handle(), i).ok());
    all.push_back(std::move(*ends));
  }
  for (const uint64_t i : {79u, 0u, 64u}) {
    ASSERT_TRUE(SendOver(all[i].second.get(), {}).ok());
    EXPECT_THAT(Wait(), ElementsAre(i));
    uint64_t connection = 0;
    ChannelMessage message;
    EXPECT_EQ(servers[i]->Next(&connection, &message), ChannelServer::Event::kMessage);
  }
  for (const auto& server : servers) set_.Remove(server->handle());
}

}  // namespace
}  // namespace cairn
