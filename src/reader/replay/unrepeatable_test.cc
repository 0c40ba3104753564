// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/unrepeatable.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn {
namespace {

TEST(UnrepeatableTest, EveryReasonHasASentence) {
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const CallRole& role = RoleOf(static_cast<Method>(i));
    EXPECT_EQ(std::string(WhyUnrepeatable(role.unrepeatable)).empty(),
              role.replay != Replay::kCannot)
        << Describe(static_cast<Method>(i)).name;
  }
}

}  // namespace
}  // namespace cairn
