// SPDX-License-Identifier: Apache-2.0
//
// A program with swap chains of DXGI sees the same with cairn-d3d.dll in it, and its frames are counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness.h"
#include "reader/report/work_states.h"
#include "report_reading.h"
#include "tests/windows/layered/started.h"

namespace cairn::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kFolder[] = CAIRN_BINARY_DIR "/tests/windows/";
constexpr int kNoDevice = 77;

std::vector<std::string> SwapChains(const std::vector<std::string>& options) {
  std::vector<std::string> words = {std::string(kFolder) + "swap-chains.exe"};
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

std::string Layer() {
  std::string path = CAIRN_BINARY_DIR "/bin/cairn-d3d.dll";
  std::replace(path.begin(), path.end(), '/', '\\');
  return path;
}

class SwapChainsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    without_ = RunCommand(SwapChains({}), {});
    if (without_.exit_code == kNoDevice) GTEST_SKIP() << "no Direct3D 12 device here";
    ASSERT_EQ(without_.exit_code, 0) << without_.Summary();
    ASSERT_THAT(without_.output, HasSubstr("end"));
  }
  CommandResult without_;
};

TEST_F(SwapChainsTest, NothingIsDifferentForTheProgram) {
  const CommandResult with = RunCommand(SwapChains({"--load", Layer()}), {});
  EXPECT_EQ(with.exit_code, 0) << with.Summary();
  EXPECT_EQ(with.output, without_.output);
  EXPECT_EQ(with.errors, without_.errors);
}

TEST_F(SwapChainsTest, ImagesAndDevicesAreWrappers) {
  EXPECT_THAT(RunCommand(SwapChains({"--whose"}), {}).output, Not(HasSubstr("layer")));
  const CommandResult with = RunCommand(SwapChains({"--load", Layer(), "--whose"}), {});
  EXPECT_THAT(with.output, HasSubstr("image: layer"));
  EXPECT_THAT(with.output, HasSubstr("device: layer"));
  EXPECT_THAT(with.output, Not(HasSubstr("plain")));
}

// Three by Present and one by Present1, and one more at the end, for each of two swap chains; a test shows nothing.
TEST_F(SwapChainsTest, WhatIsPresentedEndsFrames) {
  std::vector<std::string> words = SwapChains({"--load", Layer()});
  words.insert(words.begin(), std::string(kFolder) + "watched.exe");
  const CommandResult result = RunCommand(words, {});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.output, HasSubstr("watched: frame 10"));
  EXPECT_THAT(result.output, HasSubstr("watched: 1 blocks; ended with 0"));
  EXPECT_EQ(result.errors, "");
}

// In either order of loading, the overlay sees the same calls as without the layer, and frames are
// counted.
TEST_F(SwapChainsTest, OverlaysGoOnToWork) {
  for (const char* const overlay : {"--overlay", "--late-overlay"}) {
    const CommandResult without = RunCommand(SwapChains({overlay}), {});
    EXPECT_THAT(without.output, HasSubstr("calls that the overlay saw: 0xa"));
    // An overlay that is there at first has made a swap chain before the layer comes.
    EXPECT_EQ(RunCommand(SwapChains({overlay, "--load", Layer()}), {}).output, without.output)
        << overlay;
    std::vector<std::string> words = SwapChains({overlay, "--load", Layer()});
    words.insert(words.begin(), std::string(kFolder) + "watched.exe");
    EXPECT_THAT(RunCommand(words, {}).output, HasSubstr("watched: frame 10")) << overlay;
  }
}

// The proxies beside the program bring the layer in.
TEST_F(SwapChainsTest, ProxiesAreAnotherWayIn) {
  PreferNeighbours("proxied.exe", {"d3d12", "dxgi"});
  const std::string program = std::string(kFolder) + "proxied/proxied.exe";
  EXPECT_EQ(RunCommand({program}, {}).output, without_.output);
  const CommandResult with =
      RunCommand({std::string(kFolder) + "watched.exe", program, "--whose"}, {});
  EXPECT_EQ(with.exit_code, 0) << with.Summary();
  EXPECT_THAT(with.output, HasSubstr("image: layer"));
  EXPECT_THAT(with.output, Not(HasSubstr("plain")));
  EXPECT_THAT(with.output, HasSubstr("watched: frame 10"));

  // cairn run brings one from another folder: the first one does the work, alone.
  const TemporaryFolder folder;
  const std::string file = folder / "a.cairn";
  const CommandResult twice = RunCommand(
      {Program("cairn"), "run", "--quiet", "--dump-on-exit", "-o", file, "--", program}, {});
  EXPECT_EQ(twice.output, without_.output) << twice.Summary();
  const ReportedWork work = ReadReportedWork(file);
  EXPECT_THAT(work.word_memories, SizeIs(1)) << "devices";
  EXPECT_THAT(work.scope_states, Not(IsEmpty()));
  EXPECT_THAT(work.scope_states, Each(kCompletedWord));
  EXPECT_THAT(ReportTree(file, true), HasSubstr("<Frame 9>"));
}

}  // namespace
}  // namespace cairn::testing
