// SPDX-License-Identifier: Apache-2.0
#include "base/shell_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ShellWords, AQuotedLineHasTheWordsThatItWasMadeOf) {
  const std::vector<std::string> words = {"/opt/my game/run", "--name", "it's", "", "$(x)", "a\\b"};
  EXPECT_EQ(ShellQuotedLine(words), R"('/opt/my game/run' --name 'it'\''s' '' '$(x)' 'a\b')");
  EXPECT_EQ(WordsOfShellLine(ShellQuotedLine(words)), words);
}

TEST(ShellWords, BytesThatNoTerminalShowsComeBack) {
  const std::vector<std::string> words = {"gr\xfcn", "a\nb'c\\", "\x01'$(id)"};
  EXPECT_EQ(ShellQuotedLine(words), R"($'gr\xfcn' $'a\x0ab\x27c\\' $'\x01\x27$(id)')");
  EXPECT_EQ(WordsOfShellLine(ShellQuotedLine(words)), words);
  EXPECT_THAT(WordsOfShellLine(R"($'a\'b' $'c)"), ElementsAre("a'b", "$'c"));
}

TEST(ShellWords, ArgumentsOfAProcess) {
  EXPECT_THAT(WordsOfArguments(""), IsEmpty());
  EXPECT_THAT(WordsOfArguments(std::string("a b\0\0c\0", 7)), ElementsAre("a b", "", "c"));
  EXPECT_THAT(WordsOfArguments(std::string("a\0c", 3)), ElementsAre("a", "c"));
}

TEST(ShellWords, LinesOfOthersHaveWords) {
  EXPECT_THAT(WordsOfShellLine(""), IsEmpty());
  EXPECT_THAT(WordsOfShellLine("  ./game   -x; y "), ElementsAre("./game", "-x;", "y"));
  EXPECT_THAT(WordsOfShellLine("don't stop"), ElementsAre("don't", "stop"));
  EXPECT_THAT(WordsOfShellLine(R"(C:\a\game.exe a' b'c)"), ElementsAre(R"(C:\a\game.exe)", "a bc"));
}

}  // namespace
}  // namespace cairn
