// SPDX-License-Identifier: Apache-2.0
//
// An X server for all tests of the program that includes this, made before the first of them, for the reason given at
// VirtualScreen.
#ifndef CAIRN_TESTS_SCREEN_OF_TESTS_H_
#define CAIRN_TESTS_SCREEN_OF_TESTS_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "virtual_screen.h"

namespace cairn::testing {

class Screen final : public ::testing::Environment {
 public:
  void SetUp() override { screen_ = std::make_unique<VirtualScreen>(); }
  void TearDown() override { screen_.reset(); }
  // VirtualScreen::display(); "" before the first test.
  static std::string Display() { return screen_ == nullptr ? "" : screen_->display(); }

 private:
  static inline std::unique_ptr<VirtualScreen> screen_;
};
[[maybe_unused]] inline const auto* const kScreen = ::testing::AddGlobalTestEnvironment(new Screen);

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_SCREEN_OF_TESTS_H_
