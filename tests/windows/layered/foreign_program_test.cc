// SPDX-License-Identifier: Apache-2.0
//
// A program that we did not write, with cairn-d3d.dll in it: Dear ImGui's example of Direct3D 12.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;

constexpr char kPrograms[] = CAIRN_BINARY_DIR "/tests/windows/";
constexpr char kNothingElse[] = "imgui-d3d12.exe: 10 pictures, then ended with 0";

std::string Backslashes(std::string path) {
  std::replace(path.begin(), path.end(), '/', '\\');
  return path;
}

// The number behind `text` in the output, or -1.
long NumberBehind(const std::string& output, const std::string& text) {
  const size_t at = output.find(text);
  return at == output.npos ? -1 : std::strtol(output.c_str() + at + text.size(), nullptr, 10);
}

// On Wine 10 and lavapipe the program itself sometimes ends by abort(), on a machine with much other work, without us
// as well: then it is run again.
CommandResult RunUntilItEnds(const std::vector<std::string>& words,
                             const Command::Options& options) {
  constexpr int kMostRuns = 4;
  CommandResult result;
  for (int run = 0; run < kMostRuns; ++run) {
    result = RunCommand(words, options);
    if (result.output.find("10 pictures, then ended with 0x3") == std::string::npos) break;
  }
  return result;
}

TEST(ForeignProgram, DrawsWhatItDrawsAndLeavesItsFramesAndDraws) {
  const TemporaryFolder folder;  // it writes its settings where it runs
  const std::string program = Backslashes(std::string(kPrograms) + "imgui-d3d12.exe");
  const std::string watch = std::string(kPrograms) + "watch-window.exe";
  const CommandResult without = RunUntilItEnds({watch, "10", program}, {.folder = folder.path()});
  if (without.output.find(" 0 pictures") != std::string::npos) {
    GTEST_SKIP() << "no window with Direct3D 12 here: " << without.output;
  }
  ASSERT_EQ(without.exit_code, 0) << without.Summary();
  ASSERT_THAT(without.output, HasSubstr(kNothingElse));
  const CommandResult with =
      RunUntilItEnds({std::string(kPrograms) + "watched.exe", watch, "--with",
                      Backslashes(CAIRN_BINARY_DIR "/bin/cairn-d3d.dll"), "10", program},
                     {.folder = folder.path()});
  EXPECT_EQ(with.exit_code, 0) << with.Summary();
  EXPECT_THAT(with.output, HasSubstr(kNothingElse));
  EXPECT_THAT(with.output, HasSubstr("watched: 1 blocks; ended with 0"));
  // A frame each at least, as a picture that was seen was presented; and one submission a frame.
  const long frames = NumberBehind(with.output, "watched: frame ");
  EXPECT_GE(frames, 10) << with.output;
  EXPECT_EQ(NumberBehind(with.output, "watched: queue with "), frames) << with.output;
  // The lists of the last frames are still there, each with the draws of two windows.
  const long lists = NumberBehind(with.output, "watched: lists ");
  EXPECT_GE(lists, 2) << with.output;
  EXPECT_GE(NumberBehind(with.output, "watched: draws "), 2 * lists) << with.output;
  EXPECT_EQ(with.errors, "");
}

}  // namespace
}  // namespace cairn::testing
