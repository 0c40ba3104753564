// SPDX-License-Identifier: Apache-2.0
//
// Programs are recorded, and what was recorded is played again: the images are those that the programs
// themselves showed, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "reader/replay/image_file.h"
#include "replay_fixture.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(ReplayTest, TriangleIsTheOneThatTheSampleWrote) {
  Record({Program("sample-triangle-d3d12-plain"), "sample.png"});
  const CommandResult result = Replay({"--validate", "--images", "images"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_THAT(result.output, HasSubstr("1 image match the recording"));

  const Result<RgbaImage> sample = ReadPng(folder_ / "sample.png");
  const Result<RgbaImage> replayed = ReadPng(folder_ / "images/frame-000000.png");
  ASSERT_TRUE(sample.ok()) << sample.status().message();
  ASSERT_TRUE(replayed.ok()) << replayed.status().message();
  EXPECT_EQ(replayed->width, sample->width);
  EXPECT_TRUE(replayed->pixels == sample->pixels);
}

TEST_F(ReplayTest, HashesAreTheSameEveryTime) {
  Record({Program("sample-triangle-d3d12-plain"), "sample.png"});
  const CommandResult result = Replay({"--hash", "--quiet", "--loop", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  std::istringstream lines(result.output);
  std::string first;
  std::string second;
  std::getline(lines, first);
  std::getline(lines, second);
  EXPECT_THAT(first, HasSubstr("frame 0  "));
  EXPECT_EQ(first, second);
}

TEST_F(ReplayTest, EverySampleThatEndsWellIsPlayed) {
  for (const char* const sample : {"passes", "triangle"}) {
    Record({Program("sample-" + std::string(sample) + "-d3d12-plain")});
    const CommandResult result = Replay({"--validate"});
    EXPECT_EQ(result.exit_code, 0) << sample << ": " << result.Summary();
    EXPECT_THAT(result.errors, IsEmpty()) << sample;
  }
}

TEST_F(ReplayTest, WorkOfTwoDevices) {
  Record({Program("sample-two-devices-d3d12"), "--output", "sample.png"});
  const CommandResult result = Replay({"--validate"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_THAT(result.output, HasSubstr("; 2 readbacks"));  // of the first device, and of the second
}

// ---- What cannot be played ----

TEST_F(ReplayTest, FileThatIsNoTrace) {
  const CommandResult result = Run({Program("cairn"), "replay", Program("cairn")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr(Program("cairn")));
}

TEST_F(ReplayTest, RangeThatIsNone) {
  const CommandResult result = Run({Program("cairn"), "replay", "--frames", "9-7", "a.cairn"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.errors,
            "cairn replay: --frames: '9-7' is neither a frame (7) nor a range (7-9, 7-)\n");
}

TEST_F(ReplayTest, LibraryThatIsNotThere) {
  Record({Program("sample-triangle-d3d12-plain"), "sample.png"});
  const CommandResult result = Replay({"--library", "libnone.so"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("libnone.so"));
}

}  // namespace
}  // namespace cairn::testing
