// SPDX-License-Identifier: Apache-2.0
#include "os/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cairn {
namespace {

TEST(SetVariable, ReplacesWhatItWas) {
  SetVariable("CAIRN_ENVIRONMENT_TEST", "1");
  EXPECT_STREQ("1", std::getenv("CAIRN_ENVIRONMENT_TEST"));
  SetVariable("CAIRN_ENVIRONMENT_TEST", "a=b");
  EXPECT_STREQ("a=b", OwnVariable("CAIRN_ENVIRONMENT_TEST"));
}

TEST(SetMissingVariable, LeavesWhatIsThere) {
  ClearVariable("CAIRN_ENVIRONMENT_TEST");
  EXPECT_EQ(nullptr, OwnVariable("CAIRN_ENVIRONMENT_TEST"));
  SetMissingVariable("CAIRN_ENVIRONMENT_TEST", "1");
  EXPECT_STREQ("1", std::getenv("CAIRN_ENVIRONMENT_TEST"));
  SetMissingVariable("CAIRN_ENVIRONMENT_TEST", "2");
  EXPECT_STREQ("1", std::getenv("CAIRN_ENVIRONMENT_TEST"));
}

}  // namespace
}  // namespace cairn
