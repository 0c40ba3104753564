// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/text.h"

namespace cairn {
namespace {

std::string Escaped(std::string_view text) {
  std::string out;
  AppendJsonText(text, out);
  return out;
}

TEST(JsonText, QuotesBackslashesAndControlsAreEscapes) {
  EXPECT_EQ(Escaped("plain"), "plain");
  EXPECT_EQ(Escaped("a\"b\\c\n\x7f"), "a\\\"b\\\\c\\u000a\\u007f");
  EXPECT_EQ(Escaped(std::string_view("\0", 1)), "\\u0000");
}

TEST(JsonText, WhatCouldActOnATerminalIsAnEscapeAndTheRestStays) {
  EXPECT_EQ(Escaped("Sch\u00f6n \u7530"), "Sch\u00f6n \u7530");
  EXPECT_EQ(Escaped("\u009b2J"), "\\u009b2J");
  EXPECT_EQ(Escaped("a\u202eb\u2066"), "a\\u202eb\\u2066");
  EXPECT_EQ(Escaped("\U000e0041"), "\\udb40\\udc41");
  EXPECT_EQ(Escaped("\U0001f600"), "\U0001f600");
}

TEST(JsonText, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(Escaped("a\xff\x80z"), "a\uFFFD\uFFFDz");
  EXPECT_EQ(Escaped("\xe2\x82"), "\uFFFD\uFFFD");
  EXPECT_EQ(Escaped("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
}

// Every code point: what is left of it is text that a terminal only shows.
TEST(JsonText, NoCodePointActs) {
  for (uint32_t point = 1; point < 0x110000; point += point < 0x3000 ? 1 : 61) {
    char utf8[4];
    const uint32_t wide[] = {point, 0};
    const std::string_view text = WriteUtf8({wide, 4}, utf8).text;
    ASSERT_TRUE(IsVisibleText(Escaped(text))) << point;
  }
}

}  // namespace
}  // namespace cairn
