// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/terminal.h"
#include "cli/text_columns.h"

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

TEST(FittedText, CommandsToBePastedStayWhole) {
  EXPECT_EQ(FittedToColumns("The report of it: cairn report a.cairn\n", 20),
            "The report of it:\n"
            "    cairn report a.cairn\n");
  EXPECT_EQ(FittedToColumns("Next  cairn run -- ./game   says why it fails\n", 20),
            "Next\n"
            "    cairn run -- ./game\n"
            "    says why it\n"
            "    fails\n");
}

TEST(TextColumns, AreThoseOfTheTerminalOrOfTheVariableOr100) {
  EXPECT_EQ(TextColumnsOf(72, nullptr), 72u);
  EXPECT_EQ(TextColumnsOf(72, "60"), 72u);
  EXPECT_EQ(TextColumnsOf(0, nullptr), 100u);
  EXPECT_EQ(TextColumnsOf(0, "60"), 60u);
  EXPECT_EQ(TextColumnsOf(0, "0"), 0u);
  EXPECT_EQ(TextColumnsOf(0, "8"), 40u);
  for (const char* const other : {"", "wide", "60 ", "-1", "99999999999"}) {
    EXPECT_EQ(TextColumnsOf(0, other), 100u) << other;
  }
}

TEST(FittedText, LettersCountAndWordsStayWhole) {
  EXPECT_EQ(FittedToColumns("\u00e4\u00e4\u00e4 \u00e4\u00e4\u00e4", 7),
            "\u00e4\u00e4\u00e4 \u00e4\u00e4\u00e4");
  EXPECT_EQ(FittedToColumns("/a/path/that/is/long x", 10), "/a/path/that/is/long\n    x");
}

}  // namespace
}  // namespace cairn::cli
