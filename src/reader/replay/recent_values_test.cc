// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/recent_values.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(RecentValues, FindsWhatWasKept) {
  RecentValues<int> recent;
  int seven = 7;
  EXPECT_EQ(recent.Find(7), nullptr);
  EXPECT_EQ(recent.Find(0), nullptr);
  EXPECT_EQ(recent.Keep(7, &seven), &seven);
  EXPECT_EQ(recent.Find(7), &seven);
  EXPECT_EQ(recent.Find(8), nullptr);
}

TEST(RecentValues, ANumberNeverGivesTheValueOfAnother) {
  RecentValues<int> recent;
  int one = 1;
  int other = 2;
  for (uint64_t number = 1; number < 1000; ++number) {
    recent.Keep(1, &one);
    if (number == 1) continue;
    EXPECT_EQ(recent.Find(number), nullptr) << number;
    recent.Keep(number, &other);
    EXPECT_EQ(recent.Find(number), &other) << number;
    int* const first = recent.Find(1);
    EXPECT_TRUE(first == nullptr || first == &one) << number;
  }
}

TEST(RecentValues, ForgetsOneOrAll) {
  RecentValues<int> recent;
  int value = 0;
  recent.Keep(3, &value);
  recent.Keep(4, &value);
  recent.Forget(3 + 64);  // would have the place of 3, and is not there
  EXPECT_EQ(recent.Find(3), &value);
  recent.Forget(3);
  EXPECT_EQ(recent.Find(3), nullptr);
  EXPECT_EQ(recent.Find(4), &value);
  recent.Clear();
  EXPECT_EQ(recent.Find(4), nullptr);
}

}  // namespace
}  // namespace cairn
