// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/terminal.h"

namespace cairn::cli {
namespace {

TEST(FittedText, WhatIsShortEnoughStaysAsItIs) {
  EXPECT_EQ(FittedToColumns("a  b \n\n  c\n", 5), "a  b \n\n  c\n");
  EXPECT_EQ(FittedToColumns("a long line\n", 0), "a long line\n");
  EXPECT_EQ(FittedToColumns("", 5), "");
}

TEST(FittedText, WhatGoesOnStandsInTheLastColumn) {
  EXPECT_EQ(FittedToColumns("Device    one that has a long name\nB  c\n", 24),
            "Device    one that has a\n"
            "          long name\n"
            "B  c\n");
  // Where that is too far to the right, somewhat behind the beginning of the line.
  EXPECT_EQ(FittedToColumns("  works  of the pipe   values read back\n", 24),
            "  works  of the pipe\n"
            "      values read back\n");
}

TEST(FittedText, LettersCountAndWordsStayWhole) {
  EXPECT_EQ(FittedToColumns("\u00e4\u00e4\u00e4 \u00e4\u00e4\u00e4", 7),
            "\u00e4\u00e4\u00e4 \u00e4\u00e4\u00e4");
  EXPECT_EQ(FittedToColumns("/a/path/that/is/long x", 10), "/a/path/that/is/long\n    x");
}

}  // namespace
}  // namespace cairn::cli
