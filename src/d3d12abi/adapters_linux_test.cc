// SPDX-License-Identifier: Apache-2.0
//
// The variable by which an adapter is selected is the user's again once the device is made.
#include <gtest/gtest.h>

#include "d3d12abi/adapters.h"
#include "os/environment.h"

namespace cairn {
namespace {

constexpr char kSelected[] = "VKD3D_VULKAN_DEVICE";

class AdapterSelectionTest : public testing::Test {
 protected:
  void SetUp() override {
    ClearVariable(kSelected);
    ClearVariable("VKD3D_FILTER_DEVICE_NAME");
  }
  void TearDown() override { ClearVariable(kSelected); }
};

TEST_F(AdapterSelectionTest, IsNotTheUsersForTheNextPlayer) {
  EXPECT_FALSE(EnvironmentSelectsAdapter());
  ASSERT_TRUE(SelectAdapter(1).ok());
  EXPECT_STREQ(OwnVariable(kSelected), "1");
  ASSERT_TRUE(SelectAdapter(0).ok());
  EXPECT_STREQ(OwnVariable(kSelected), "0");
  EndAdapterSelection();
  EXPECT_EQ(OwnVariable(kSelected), nullptr);
  EXPECT_FALSE(EnvironmentSelectsAdapter());
}

TEST_F(AdapterSelectionTest, UsersValueComesBack) {
  SetVariable(kSelected, "2");
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(SelectAdapter(1).ok());
    ASSERT_TRUE(SelectAdapter(0).ok());
    EXPECT_STREQ(OwnVariable(kSelected), "0");
    EndAdapterSelection();
    EXPECT_STREQ(OwnVariable(kSelected), "2");
    EXPECT_TRUE(EnvironmentSelectsAdapter());
  }
}

TEST_F(AdapterSelectionTest, WhatTheUserSelectsIsNotSetAgain) {
  SetVariable(kSelected, "1");
  const char* const before = OwnVariable(kSelected);
  ASSERT_TRUE(SelectAdapter(1).ok());
  EXPECT_EQ(OwnVariable(kSelected), before);
  EndAdapterSelection();
  EXPECT_EQ(OwnVariable(kSelected), before);
}

}  // namespace
}  // namespace cairn
