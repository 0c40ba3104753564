// SPDX-License-Identifier: Apache-2.0
#include "base/ascii_marks.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn {
namespace {

TEST(AsciiMarks, AllMarksOfReports) {
  EXPECT_EQ(AsciiMarks("where  Frame › Main · list 6\n ├─[X] a\n │  └─[>] b, 500 µs … c\n"),
            "where  Frame > Main - list 6\n |-[X] a\n |  `-[>] b, 500 us ... c\n");
  EXPECT_EQ(AsciiMarks(""), "");
}

TEST(AsciiMarks, NamesKeepTheirLetters) {
  EXPECT_EQ(AsciiMarks("\"Wände\" \xff 影\n"), "\"Wände\" \xff 影\n");
}

TEST(AsciiMarks, ALineThatWasCutStaysAsLong) {
  const std::string line = "012345678901234567890123456789012345678";
  EXPECT_EQ(AsciiMarks(line + "…\n01…\n" + line + "ä…"),
            line.substr(0, 37) + "...\n01...\n" + line.substr(0, 38) + "...");
  // Where the text goes on it was not cut.
  EXPECT_EQ(AsciiMarks(line + "… a\n"), line + "... a\n");
}

TEST(AsciiMarks, QuotationMarksStayAsTheyAre) {
  EXPECT_EQ(AsciiMarks("./game 'a’;x;’b'"), "./game 'a’;x;’b'");
  EXPECT_EQ(AsciiMarks("“a” ‘b’"), "“a” ‘b’");
}

}  // namespace
}  // namespace cairn
