// SPDX-License-Identifier: Apache-2.0
#include "cli/numbers.h"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

TEST(NumbersTest, AnOptionThatWasNotGivenHasNoNumber) {
  EXPECT_EQ(ParseNumberOf("--at", "").value(), std::nullopt);
  EXPECT_EQ(ParseNumberOf("--at", "7").value(), 7u);
  EXPECT_EQ(ParseNumberOf("--at", "x").status().message(), "--at: 'x' is not a number");
}

TEST(NumbersTest, FramesAreOneARangeOrAllFromOneOn) {
  const auto expect = [](const char* text, uint64_t first, uint64_t end) {
    const Result<FrameRange> range = ParseFramesOf("--frames", text);
    ASSERT_TRUE(range.ok()) << text;
    EXPECT_EQ(range->first, first) << text;
    EXPECT_EQ(range->end, end) << text;
  };
  expect("", 0, kNoFrame);
  expect("7", 7, 8);
  expect("7-9", 7, 10);
  expect("7-7", 7, 8);
  expect("1,000-1,001", 1000, 1002);
  expect("7-", 7, kNoFrame);
  for (const char* const text : {"-", "-7", "9-7", "7-9-", "7--9", "a-b", "18446744073709551615",
                                 "0-18446744073709551615"}) {
    EXPECT_EQ(ParseFramesOf("--frames", text).status().message(),
              std::string("--frames: '") + text + "' is neither a frame (7) nor a range (7-9, 7-)");
  }
}

}  // namespace
}  // namespace cairn::cli
