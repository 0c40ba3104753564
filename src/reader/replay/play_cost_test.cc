// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/play_cost.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

TEST(PlayCost, OfASmallFileIsEightSeconds) {
  EXPECT_EQ(PlayCost::MostNs(8'000), 8 * kSecond);
  EXPECT_EQ(PlayCost::MostNs((1 << 20) + 10'000), 9 * kSecond);
}

// The number of records of the smallest real file that has as many (docs/formats/cairn-file.md).
TEST(PlayCost, TwoMillionRecordsAreWithin) {
  PlayCost cost(PlayCost::MostNs(620 << 10));
  for (int i = 0; i < 2'100'000; ++i) cost.AddRecord(24);
  EXPECT_FALSE(cost.spent());
  for (int i = 0; i < 1'000'000; ++i) cost.AddRecord(24);
  EXPECT_TRUE(cost.spent());
}

TEST(PlayCost, AListCostsWhatWasRecordedEachTime) {
  PlayCost cost(100 * PlayCost::kCommandNs);
  for (int i = 0; i < 50; ++i) cost.Record(7);
  cost.Execute(7);
  cost.Execute(8);  // nothing is recorded into it
  cost.Execute(7);
  EXPECT_FALSE(cost.spent());
  cost.Reset(7);
  cost.Execute(7);
  EXPECT_FALSE(cost.spent());
  cost.Record(7);
  cost.Execute(7);
  EXPECT_TRUE(cost.spent());
}

TEST(PlayCost, ABundleIsPartOfTheListEachTime) {
  PlayCost cost(99 * PlayCost::kCommandNs);
  for (int i = 0; i < 10; ++i) cost.Record(3);
  for (int i = 0; i < 10; ++i) cost.Include(7, 3);
  cost.Execute(7);
  EXPECT_TRUE(cost.spent());
}

// Bundles of bundles double with each call: sixty would be more than a number holds.
TEST(PlayCost, NeverWrapsAround) {
  PlayCost cost(kSecond);
  cost.Record(1);
  for (int i = 0; i < 100; ++i) cost.Include(1, 1);
  cost.Execute(1);
  cost.AddImage(UINT64_MAX / 2);
  cost.AddMemory(UINT64_MAX);
  EXPECT_TRUE(cost.spent());
  PlayCost none(UINT64_MAX);
  none.AddMemory(UINT64_MAX);
  EXPECT_FALSE(none.spent());
}

}  // namespace
}  // namespace cairn
