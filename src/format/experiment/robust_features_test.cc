// SPDX-License-Identifier: Apache-2.0
#include "format/experiment/robust_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RobustFeatures, HaveTheNamesOfVulkan) {
  EXPECT_THAT(NamesOf(0), IsEmpty());
  EXPECT_THAT(NamesOf(kAllRobustFeatures),
              ElementsAre("robustBufferAccess", "robustBufferAccess2", "robustImageAccess",
                          "robustImageAccess2", "nullDescriptor"));
  EXPECT_THAT(NamesOf(kRobustImageAccess | kNullDescriptor),
              ElementsAre("robustImageAccess", "nullDescriptor"));
}

TEST(RobustFeatures, AreReadFromTheWordThatWasWritten) {
  for (uint32_t set = 0; set <= kAllRobustFeatures; ++set) {
    const RobustFeatures one = set, other = kAllRobustFeatures ^ set;
    for (const RobustDevices& devices :
         {RobustDevices{one, other, 0, 0}, RobustDevices{0, 0, one, other},
          RobustDevices{one, one, other, other}}) {
      EXPECT_EQ(RobustDevicesOf(WordOf(devices)), devices);
    }
  }
}

TEST(RobustFeatures, OfTwoDevicesAreJoined) {
  const RobustDevices first = {.enabled = kNullDescriptor, .own = kRobustBufferAccess};
  const RobustDevices second = {.enabled = kRobustBufferAccess, .missing = kRobustImageAccess2};
  const RobustDevices both = RobustDevicesOf(WordOf(first) | WordOf(second));
  EXPECT_EQ(both.enabled, RobustFeatures{kNullDescriptor | kRobustBufferAccess});
  EXPECT_EQ(both.own, RobustFeatures{kRobustBufferAccess});
  EXPECT_EQ(both.missing, RobustFeatures{kRobustImageAccess2});
  EXPECT_EQ(both.left, 0u);
}

// A program may write anything to the board.
TEST(RobustFeatures, AreReadFromAnyWord) {
  const RobustDevices all = {kAllRobustFeatures, kAllRobustFeatures, kAllRobustFeatures,
                             kAllRobustFeatures};
  EXPECT_EQ(RobustDevicesOf(~uint64_t{0}), all);
  EXPECT_EQ(RobustDevicesOf(0xe0e0e0e0u), RobustDevices());
}

}  // namespace
}  // namespace cairn
