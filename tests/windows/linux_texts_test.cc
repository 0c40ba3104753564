// SPDX-License-Identifier: Apache-2.0
//
// The same file gives the same bytes on Linux and on Windows: what tools/linux-texts noted of `cairn` on Linux is asked of
// cairn.exe again.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "harness.h"

namespace cairn::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kTexts = CAIRN_BINARY_DIR "/linux-texts";
const fs::path kGolden = CAIRN_SOURCE_DIR "/tests/golden";

// The folders of all commands; none if tools/linux-texts has not run.
std::vector<std::string> Commands() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(kTexts, none)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// One word a line.
std::vector<std::string> WordsOf(const std::string& name) {
  std::istringstream lines(ReadFile(kTexts / name / "words"));
  std::vector<std::string> words;
  for (std::string word; std::getline(lines, word);) words.push_back(word);
  return words;
}

class LinuxTexts : public ::testing::TestWithParam<std::string> {};

TEST_P(LinuxTexts, AreThoseOfWindows) {
  std::vector<std::string> words = WordsOf(GetParam());
  ASSERT_FALSE(words.empty());
  words.insert(words.begin(), Program("cairn"));
  const CommandResult result = RunCommand(words, {.folder = kGolden});
  EXPECT_EQ(result.output, ReadFile(kTexts / GetParam() / "output"));
  EXPECT_EQ(result.errors, ReadFile(kTexts / GetParam() / "errors"));
  EXPECT_EQ(std::to_string(result.exit_code) + "\n", ReadFile(kTexts / GetParam() / "exit_code"));
}

INSTANTIATE_TEST_SUITE_P(Commands, LinuxTexts, ::testing::ValuesIn(Commands()),
                         [](const auto& command) { return command.param; });

// The list of commands is tools/linux-texts'; here is what it must have.
TEST(LinuxTextsOf, EveryGoldenFile) {
  ASSERT_FALSE(Commands().empty()) << kTexts << " is missing; tools/linux-texts makes it";
  std::vector<std::vector<std::string>> commands;
  for (const std::string& name : Commands()) commands.push_back(WordsOf(name));
  const auto has = [&commands](const std::vector<std::string>& words) {
    return std::find(commands.begin(), commands.end(), words) != commands.end();
  };
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(kGolden)) {
    if (entry.path().extension() != ".cairn") continue;
    ++files;
    const std::string file = entry.path().filename().string();
    EXPECT_TRUE(has({"report", file})) << file;
    EXPECT_TRUE(has({"report", "--json", file})) << file;
    EXPECT_TRUE(has({"calls", file})) << file;
    EXPECT_TRUE(has({"info", file})) << file;
  }
  EXPECT_GE(files, 8u);
}

}  // namespace
}  // namespace cairn::testing
