// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/signal_name.h"

namespace cairn {
namespace {

using namespace std::string_literals;

// Independent of the code under test: straight from the table of RFC 3629.
std::string Encode(uint32_t value) {
  const auto tail = [value](int shift) {
    return static_cast<char>(0x80 | (value >> shift & 0x3F));
  };
  if (value < 0x80) return {static_cast<char>(value)};
  if (value < 0x800) return {static_cast<char>(0xC0 | value >> 6), tail(0)};
  if (value < 0x10000) return {static_cast<char>(0xE0 | value >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | value >> 18), tail(12), tail(6), tail(0)};
}

TEST(Utf8, EveryCodePointIsValidExceptSurrogates) {
  for (uint32_t value = 0; value <= 0x10FFFF; ++value) {
    const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    ASSERT_EQ(IsValidUtf8(Encode(value)), !surrogate) << value;
    ASSERT_EQ(CodePointCount(Encode(value)), surrogate ? 3u : 1u) << value;
  }
  EXPECT_FALSE(IsValidUtf8(Encode(0x110000)));
}

TEST(Utf8, RefusesWhatRfc3629Refuses) {
  const std::vector<std::string> malformed = {
      "\x80"s,              // continuation without a lead
      "\xC0\x80"s,          // overlong zero
      "\xC1\xBF"s,          // overlong
      "\xE0\x9F\xBF"s,      // overlong
      "\xF0\x8F\xBF\xBF"s,  // overlong
      "\xED\xA0\x80"s,      // surrogate
      "\xF4\x90\x80\x80"s,  // above U+10FFFF
      "\xF8\x88\x80\x80\x80"s,
      "\xFE"s,
      "\xFF"s,
      "\xC2"s,  // cut
      "\xE2\x82"s,
      "\xF0\x9F\xAA"s,
      "\xE2(\xAC"s,
  };
  for (const std::string& text : malformed) {
    EXPECT_FALSE(IsValidUtf8(text)) << VisibleText(text);
    EXPECT_FALSE(IsValidUtf8("a" + text + "b")) << VisibleText(text);
    EXPECT_EQ(CodePointCount("\xFF"s + text), CodePointCount(text) + 1) << VisibleText(text);
  }
}

TEST(Utf8, CountsCodePoints) {
  EXPECT_EQ(CodePointCount(""), 0u);
  EXPECT_EQ(CodePointCount("Schatten"), 8u);
  EXPECT_EQ(CodePointCount("a\xC3\xA4\xE2\x82\xAC\xF0\x9F\xAA\xA8"), 4u);
  EXPECT_EQ(CodePointCount("a\xFF\xFE"), 3u);
}

TEST(Utf8, PrefixNeverEndsInsideACodePoint) {
  const std::string text = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\xAA\xA8z";
  const std::vector<size_t> expected = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
  for (size_t max = 0; max < expected.size(); ++max) {
    EXPECT_EQ(Utf8Prefix(text, max), text.substr(0, expected[max])) << max;
  }
}

TEST(Utf8, PrefixOfOtherBytesIsCutExactly) {
  EXPECT_EQ(Utf8Prefix("\xFF\xFF\xFF\xFF", 2), "\xFF\xFF");
  EXPECT_EQ(Utf8Prefix("\x80\x80\x80\x80\x80\x80", 5), "\x80\x80\x80\x80\x80");
  EXPECT_EQ(Utf8Prefix("\xE2\x82", 1), "\xE2");
}

TEST(VisibleText, LeavesTextAlone) {
  for (const std::string& text :
       {""s, "Shadow pass 3"s, "C:\\shaders\\blur.hlsl"s, "Gr\xC3\xBC\xC3\x9F"s,
        "\xE5\xBD\xB1 \xD8\xB8\xD9\x84 \xF0\x9F\xAA\xA8"s}) {
    EXPECT_EQ(VisibleText(text), text);
    EXPECT_TRUE(IsVisibleText(text));
  }
}

TEST(VisibleText, WritesOutWhatActsOnATerminal) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\x1b[2Jgone", "\\x1b[2Jgone"},
      {"two\nlines\r\t", "two\\x0alines\\x0d\\x09"},
      {"a\0b"s, "a\\x00b"},
      {"\x7f\b", "\\x7f\\x08"},
      {"\xC2\x9B"
       "31m",
       "\\u{9b}31m"},
      {"safe\xE2\x80\xAEtxt.exe", "safe\\u{202e}txt.exe"},
      {"\xE2\x81\xA6x\xE2\x81\xA9", "\\u{2066}x\\u{2069}"},
      {"\xD8\x9C\xE2\x80\x8F", "\\u{61c}\\u{200f}"},
      {"line\xE2\x80\xA8separator", "line\\u{2028}separator"},
      {"\xEF\xBB\xBF"
       "bom",
       "\\u{feff}bom"},
      {"\xF3\xA0\x81\x81", "\\u{e0041}"},
      {"\xEF\xBF\xBE\xF4\x8F\xBF\xBF", "\\u{fffe}\\u{10ffff}"},
      {"bad\xFF\xC3(", "bad\\xff\\xc3("},
      {"\xED\xA0\x80", "\\xed\\xa0\\x80"},
      {"cut\xF0\x9F\xAA", "cut\\xf0\\x9f\\xaa"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(VisibleText(text), expected);
    EXPECT_FALSE(IsVisibleText(text)) << expected;
  }
}

TEST(VisibleText, OutputIsAlwaysVisible) {
  for (uint32_t value = 0; value <= 0x10FFFF; ++value) {
    const std::string text = Encode(value);
    const std::string visible = VisibleText(text);
    ASSERT_TRUE(IsVisibleText(visible)) << value;
    ASSERT_EQ(visible == text, IsVisibleText(text)) << value;
  }
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      ASSERT_TRUE(IsVisibleText(VisibleText(text))) << first << " " << second;
    }
  }
}

TEST(VisibleText, AppendsToWhatIsThere) {
  std::string out = "name: ";
  AppendVisibleText("a\x01", out);
  EXPECT_EQ(out, "name: a\\x01");
}

std::string FromWide(const void* characters, size_t character_bytes,
                     size_t max_characters = SIZE_MAX) {
  char out[64];
  const WrittenUtf8 written = WriteUtf8({characters, character_bytes, max_characters}, out);
  EXPECT_FALSE(written.cut);
  return std::string(written.text);
}

TEST(WriteUtf8, BothSizesOfWideCharacters) {
  EXPECT_EQ(FromWide(u"a\u00e4\u20ac\U0001F600", 2), "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(FromWide(U"a\u00e4\u20ac\U0001F600", 4), "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(FromWide(u"", 2), "");
  EXPECT_EQ(FromWide(nullptr, 2), "");
  EXPECT_EQ(FromWide(u"abcdef", 2, 3), "abc");
}

TEST(WriteUtf8, WhatIsNoCharacterIsReplaced) {
  const char16_t alone[] = {0xD800, u'x', 0xDC00, 0xDBFF, 0};
  EXPECT_EQ(FromWide(alone, 2), "\xEF\xBF\xBDx\xEF\xBF\xBD\xEF\xBF\xBD");
  const char32_t wrong[] = {0xD800, 0x110000, 0xFFFFFFFF, U'x', 0};
  EXPECT_EQ(FromWide(wrong, 4), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDx");
  const char16_t cut_pair[] = {u'a', 0xD83D, 0xDE00};
  EXPECT_EQ(FromWide(cut_pair, 2, 2), "a\xEF\xBF\xBD");
}

TEST(WriteUtf8, NeverEndsInsideACodePoint) {
  char out[4];
  const WrittenUtf8 written = WriteUtf8({u"abc\u00e4d", 2}, out);
  EXPECT_TRUE(written.cut);
  EXPECT_EQ(written.text, "abc");
  EXPECT_TRUE(IsValidUtf8(written.text));
  const WrittenUtf8 full = WriteUtf8({u"abcd", 2}, out);
  EXPECT_FALSE(full.cut);
  EXPECT_EQ(full.text, "abcd");
}

TEST(WriteUtf8, ReadsTextThatIsNotAligned) {
  char bytes[1 + sizeof(u"name")];
  std::memcpy(bytes + 1, u"name", sizeof(u"name"));
  EXPECT_EQ(FromWide(bytes + 1, 2), "name");
}

TEST(Counted, OneIsNoPlural) {
  EXPECT_EQ(Counted(1, "call"), "1 call");
  EXPECT_EQ(Counted(0, "call"), "0 calls");
  EXPECT_EQ(Counted(18233, "call"), "18,233 calls");
  EXPECT_EQ(Counted(1, "piece of work", "pieces of work"), "1 piece of work");
  EXPECT_EQ(Counted(2, "piece of work", "pieces of work"), "2 pieces of work");
  EXPECT_EQ(Plural(1, "vertex", "vertices"), "vertex");
  EXPECT_EQ(Plural(0, "vertex", "vertices"), "vertices");
}

TEST(GroupedDigits, ThreeAndThree) {
  EXPECT_EQ(GroupedDigits(0), "0");
  EXPECT_EQ(GroupedDigits(999), "999");
  EXPECT_EQ(GroupedDigits(1000), "1,000");
  EXPECT_EQ(GroupedDigits(18233), "18,233");
  EXPECT_EQ(GroupedDigits(~uint64_t{0}), "18,446,744,073,709,551,615");
}

TEST(SecondsInWords, HasNoZerosBehindThePoint) {
  EXPECT_EQ(SecondsInWords(2'000'000'000), "2 s");
  EXPECT_EQ(SecondsInWords(250'000'000), "0.25 s");
  EXPECT_EQ(SecondsInWords(0), "0 s");
}

TEST(SignalInWords, HasTheNumberAndItsName) {
  EXPECT_EQ(SignalInWords(7), "signal 7 (SIGBUS)");
  EXPECT_EQ(SignalInWords(40), "signal 40");
}

TEST(ParseDigits, MayBeGrouped) {
  EXPECT_EQ(ParseDigits("0"), 0u);
  EXPECT_EQ(ParseDigits("010"), 10u);
  EXPECT_EQ(ParseDigits("18,233"), 18233u);
  EXPECT_EQ(ParseDigits("18446744073709551615"), ~uint64_t{0});
  for (const char* const text :
       {"", ",", "-1", "+1", "1 ", " 1", "0x10", "1.5", "1e3", "seven", "18446744073709551616"}) {
    EXPECT_EQ(ParseDigits(text), std::nullopt) << text;
  }
}

TEST(ShellQuoted, OnlyWhereNeeded) {
  EXPECT_EQ(ShellQuoted("out/a-b_c.cairn"), "out/a-b_c.cairn");
  EXPECT_EQ(ShellQuoted("my game.cairn"), "'my game.cairn'");
  EXPECT_EQ(ShellQuoted("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellQuoted(""), "''");
  EXPECT_EQ(ShellQuoted("gr\u00fcn.cairn"), "'gr\u00fcn.cairn'");
}

TEST(ShellQuoted, ShowsNoControlCharacters) {
  EXPECT_EQ(ShellQuoted("a\nb\x1b[31m c.cairn"), "$'a\\x0ab\\x1b[31m c.cairn'");
  EXPECT_EQ(ShellQuoted("it's\\\t"), "$'it\\x27s\\\\\\x09'");
  EXPECT_EQ(ShellQuoted("\xff"), "$'\\xff'");
}

}  // namespace
}  // namespace cairn
