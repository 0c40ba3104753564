// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/work_label.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace cairn {
namespace {

std::string Written(const WorkLabel& label) {
  std::array<char, WorkLabel::kLength + 1> text;
  text.fill('x');
  label.Write(text.data());
  EXPECT_EQ(text.back(), 0);
  return text.data();
}

TEST(WorkLabelTest, IsReadAsItWasWritten) {
  const std::string text = Written({CAIRN_MARKER_DRAW_INDEXED, 0x1234abcd});
  EXPECT_EQ(text, "cairn:work:0051:1234abcd");
  const auto label = WorkLabel::Read(text.c_str());
  ASSERT_TRUE(label.has_value());
  EXPECT_EQ(label->type, CAIRN_MARKER_DRAW_INDEXED);
  EXPECT_EQ(label->pipeline, 0x1234abcdu);
}

TEST(WorkLabelTest, WideCharactersAreTheSame) {
  std::array<char16_t, WorkLabel::kLength + 1> text;
  WorkLabel{CAIRN_MARKER_DISPATCH, 7}.Write(text.data());
  const std::u16string written(text.data());
  EXPECT_EQ(std::string(written.begin(), written.end()), "cairn:work:000e:00000007");
}

TEST(WorkLabelTest, EveryOtherTextIsNone) {
  const std::string text = Written({CAIRN_MARKER_DRAW, 1});
  EXPECT_FALSE(WorkLabel::Read(nullptr).has_value());
  EXPECT_FALSE(WorkLabel::Read("").has_value());
  EXPECT_FALSE(WorkLabel::Read("Shadows").has_value());
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(WorkLabel::Read(text.substr(0, length).c_str()).has_value()) << length;
    std::string damaged = text;
    damaged[length] = '~';
    EXPECT_FALSE(WorkLabel::Read(damaged.c_str()).has_value()) << length;
  }
  EXPECT_FALSE(WorkLabel::Read((text + "0").c_str()).has_value());
  // A type that no version has, and one that needs a name.
  EXPECT_FALSE(WorkLabel::Read("cairn:work:0400:00000000").has_value());
  EXPECT_FALSE(WorkLabel::Read("cairn:work:0000:00000000").has_value());
  EXPECT_FALSE(WorkLabel::Read("cairn:work:-051:00000000").has_value());
}

}  // namespace
}  // namespace cairn
