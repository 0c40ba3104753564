// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/unfinished_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr uint64_t kQueue = 1, kOther = 2, kFence = 3, kOtherFence = 4;

class UnfinishedWorkTest : public testing::Test {
 protected:
  // Returns what was told since the last call.
  std::vector<std::pair<uint64_t, uint64_t>> Told() { return std::exchange(told_, {}); }

  std::vector<std::pair<uint64_t, uint64_t>> told_;
  UnfinishedWork work_{[this](uint64_t first, uint64_t last) { told_.emplace_back(first, last); }};
};

TEST_F(UnfinishedWorkTest, SubmissionsEndWithTheSignalBehindThem) {
  work_.Submitted(kQueue, 10);
  work_.Signalled(kQueue, kFence, 1);
  work_.Submitted(kQueue, 20);
  work_.Signalled(kQueue, kFence, 2);
  work_.Submitted(kQueue, 30);
  EXPECT_THAT(Told(), ElementsAre(Pair(10, 10), Pair(10, 20), Pair(10, 30)));
  work_.Reached(kOtherFence, 9);
  work_.Reached(kFence, 0);
  EXPECT_THAT(Told(), IsEmpty());
  work_.Reached(kFence, 1);
  EXPECT_THAT(Told(), ElementsAre(Pair(20, 30)));
  work_.Reached(kFence, 100);
  EXPECT_THAT(Told(), ElementsAre(Pair(30, 30)));
  work_.Idle(kQueue);
  EXPECT_THAT(Told(), ElementsAre(Pair(0, 0)));
}

// A value that both queues give to one fence says of each what it had by then.
TEST_F(UnfinishedWorkTest, QueuesEndOnTheirOwn) {
  work_.Submitted(kQueue, 10);
  work_.Submitted(kOther, 20);
  work_.Signalled(kOther, kFence, 1);
  Told();
  work_.Reached(kFence, 1);
  EXPECT_THAT(Told(), ElementsAre(Pair(10, 10)));
  work_.Submitted(kOther, 30);
  Told();
  work_.Idle(kQueue);
  EXPECT_THAT(Told(), ElementsAre(Pair(30, 30)));
}

TEST_F(UnfinishedWorkTest, NothingNewIsNotTold) {
  work_.Idle(kQueue);
  work_.Signalled(kQueue, kFence, 1);
  work_.Submitted(kQueue, 10);
  work_.Submitted(kOther, 15);
  work_.Submitted(kQueue, 20);
  Told();
  work_.Idle(kOther);  // 10 to 20 as before
  EXPECT_THAT(Told(), IsEmpty());
}

TEST(UnfinishedWork, NobodyAsks) {
  UnfinishedWork work(nullptr);
  work.Submitted(kQueue, 10);
  work.Signalled(kQueue, kFence, 1);
  work.Reached(kFence, 1);
  work.Idle(kQueue);
}

}  // namespace
}  // namespace cairn
