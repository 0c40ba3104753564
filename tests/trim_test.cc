// SPDX-License-Identifier: Apache-2.0
//
// Captures that start late, and `cairn trim`: do some frames of a program play on their own, with the
// images that they had? And what is said to those who ask for the impossible.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "harness.h"
#include "played.h"

namespace cairn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TrimTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
  }
  CommandResult Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("cairn"));
    return RunCommand(arguments, {.folder = folder_.path(), .environment = {"VKD3D_DEBUG=none"}});
  }
  // Returns the size of all chunks before they are compressed.
  uint64_t RawBytes(const std::string& file) {
    static constexpr std::string_view kKey = "\"raw_bytes\": ";
    const std::string info = Run({"info", "--json", file}).output;
    uint64_t bytes = 0;
    for (size_t at = 0; (at = info.find(kKey, at)) != std::string::npos;) {
      bytes += std::stoull(info.substr(at += kKey.size()));
    }
    EXPECT_NE(bytes, 0u) << info;
    return bytes;
  }
  // 20 frames of a program in `file`.
  void Capture(const std::string& file, const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments = {"run",     "--capture", "--hash-frames",
                                          "--quiet", "-o",        file};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const std::vector<std::string> program = {
        "--", Program("sample-scale-d3d12-plain"), "--frames", "20", "--calls", "100"};
    arguments.insert(arguments.end(), program.begin(), program.end());
    const CommandResult result = Run(arguments);
    ASSERT_EQ(result.exit_code, 0) << result.Summary();
    EXPECT_THAT(result.left_behind, IsEmpty());
  }
  // A line for each frame, with its image's hash.
  std::string Images(const std::string& file, const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments = {"replay", "--hash", "--quiet"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back(file);
    const CommandResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    return result.output;
  }

  TemporaryFolder folder_;
};

TEST_F(TrimTest, TrimmedFramesPlayOnTheirOwn) {
  Capture("all.cairn");
  const CommandResult trimmed = Run({"trim", "--frames", "7-9", "--hash-frames", "all.cairn"});
  ASSERT_EQ(trimmed.exit_code, 0) << trimmed.Summary();
  EXPECT_THAT(folder_.Contents(), ElementsAre("all-7-9.cairn", "all.cairn"));
  const std::string images = Images("all-7-9.cairn");
  EXPECT_THAT(images, HasSubstr("frame 7 "));
  EXPECT_THAT(images, HasSubstr("frame 9 "));
  EXPECT_EQ(images, Images("all.cairn", {"--frames", "7-9"}));
  EXPECT_EQ(Run({"verify", "all-7-9.cairn"}).exit_code, 0);
  EXPECT_EQ(Run({"replay", "--validate", "all-7-9.cairn"}).exit_code, 0);
  EXPECT_THAT(Run({"info", "all-7-9.cairn"}).output, HasSubstr("sample-scale-d3d12"));
  // Trims again, by the original numbers of the frames.
  const CommandResult again = Run({"trim", "--frames", "8", "-o", "8.cairn", "all-7-9.cairn"});
  ASSERT_EQ(again.exit_code, 0) << again.Summary();
  ASSERT_EQ(Run({"trim", "--frames", "9-", "-o", "9.cairn", "all-7-9.cairn"}).exit_code, 0);
  EXPECT_EQ(Images("9.cairn"), Images("all.cairn", {"--frames", "9"}));
  EXPECT_THAT(Images("8.cairn"), HasSubstr("frame 8 "));
  EXPECT_EQ(Images("8.cairn"), Images("all.cairn", {"--frames", "8"}));
  const CommandResult validated = Run({"replay", "--validate", "8.cairn"});
  EXPECT_EQ(validated.exit_code, 0) << validated.Summary();
  EXPECT_THAT(validated.errors, ::testing::Not(HasSubstr("nothing was compared")));
}

TEST_F(TrimTest, WhatTheFramesOverwriteIsLeftOut) {
  Capture("all.cairn");
  const CommandResult trimmed = Run({"trim", "--frames", "7-9", "-o", "a.cairn", "all.cairn"});
  ASSERT_EQ(trimmed.exit_code, 0) << trimmed.Summary();
  const CommandResult whole =
      Run({"trim", "--frames", "7-9", "--keep-all", "-o", "b.cairn", "all.cairn"});
  ASSERT_EQ(whole.exit_code, 0) << whole.Summary();
  // The contents of a buffer of 4 KiB. Compressed, these are less than the differences from run to
  // run.
  EXPECT_LT(RawBytes("a.cairn") + 2048, RawBytes("b.cairn"));
  EXPECT_EQ(Images("a.cairn"), Images("b.cairn"));
  EXPECT_EQ(Images("a.cairn"), Images("all.cairn", {"--frames", "7-9"}));
}

// On a disk of its own, which goes with the script.
TEST_F(TrimTest, WhyThereIsNoRecordingIsSaid) {
  const std::string disk = "mount -t tmpfs -o size=16k none disk && ";
  std::filesystem::create_directory(folder_ / "disk");
  const auto run = [&](const std::string& script) {
    return RunCommand({"unshare", "-rm", "sh", "-c", disk + script, Program("cairn")},
                      {.folder = folder_.path(), .environment = {"VKD3D_DEBUG=none"}});
  };
  if (run("true").exit_code != 0) GTEST_SKIP() << "no disk can be made";
  Capture("all.cairn");
  const CommandResult result =
      run("\"$0\" trim --quiet --frames 7-9 -o disk/b.cairn all.cairn; echo $?; ls disk");
  EXPECT_THAT(result.errors,
              ::testing::StartsWith("cairn trim: cannot record the frames: cannot write to "
                                    "disk/b.cairn."));
  EXPECT_THAT(result.errors, HasSubstr(".recorded.part: No space left on device; free some space"));
  EXPECT_EQ(result.output, "1\n") << "or the recording is still there";
}

TEST_F(TrimTest, FramesFromTheFirstOnPlayOnTheirOwn) {
  Capture("all.cairn");
  const CommandResult trimmed = Run({"trim", "--frames", "0-2", "all.cairn"});
  ASSERT_EQ(trimmed.exit_code, 0) << trimmed.Summary();
  EXPECT_EQ(Images("all-0-2.cairn"), Images("all.cairn", {"--frames", "0-2"}));
  EXPECT_EQ(Run({"replay", "--validate", "all-0-2.cairn"}).exit_code, 0);
}

TEST_F(TrimTest, ACaptureThatStartsLateHasTheImagesOfTheWhole) {
  Capture("all.cairn");
  Capture("late.cairn", {"--frames", "7-9"});
  EXPECT_EQ(Images("late.cairn"), Images("all.cairn", {"--frames", "7-9"}));
  Capture("one.cairn", {"--frames", "8"});
  EXPECT_EQ(Images("one.cairn"), Images("all.cairn", {"--frames", "8"}));
  EXPECT_EQ(Run({"verify", "late.cairn"}).exit_code, 0);
}

// A list reads descriptors of targets while it is recorded. They are something else when the recording begins.
TEST_F(TrimTest, AKeptListDrawsIntoTheTargetsThatItWasRecordedWith) {
  const std::string program = TestProgram("kept_list");
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "kept_list is not built here";
  const auto expect_well = [this](const std::vector<std::string>& arguments) {
    const CommandResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    return result;
  };
  // Three copies a frame, and no call is left out.
  const auto expect_as_recorded = [&](const std::string& file, const char* compared) {
    const CommandResult played = expect_well({"replay", "--validate", file});
    EXPECT_EQ(played.errors, "");
    EXPECT_THAT(played.output, HasSubstr(compared));
  };
  const std::string frames =
      expect_well({"run", "--capture", "--quiet", "-o", "all.cairn", "--", program}).output;
  EXPECT_THAT(frames, HasSubstr("ff0000ff ff00ff00 ff00ffff\n"));
  expect_as_recorded("all.cairn", "; 18 readbacks ");
  expect_well(
      {"run", "--capture", "--quiet", "--frames", "2-3", "-o", "late.cairn", "--", program});
  expect_as_recorded("late.cairn", "; 6 readbacks ");
  expect_well({"trim", "--quiet", "--frames", "2-3", "-o", "cut.cairn", "all.cairn"});
  expect_as_recorded("cut.cairn", "; 6 readbacks ");
  // And of the copy once more.
  expect_well({"trim", "--quiet", "--frames", "3", "-o", "again.cairn", "cut.cairn"});
  expect_as_recorded("again.cairn", "; 3 readbacks ");
}

// Without a read-back, a present and a mark: the image of the only frame, when the process ends, and what the
// targets hold then.
TEST_F(TrimTest, AProgramThatLooksAtNothingIsComparedAllTheSame) {
  const std::string program = TestProgram("kept_list");
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "kept_list is not built here";
  const CommandResult run = Run({"run", "--capture", "--hash-frames", "--hash-resources", "--quiet",
                                 "-o", "a.cairn", "--", program, "leave"});
  EXPECT_EQ(run.exit_code, 0) << run.Summary();
  const CommandResult played = Run({"replay", "--validate=all", "a.cairn"});
  EXPECT_EQ(played.exit_code, 0) << played.Summary();
  EXPECT_EQ(played.errors, "");
  EXPECT_THAT(played.output, HasSubstr("; 0 readbacks, 1 image, 3 subresources and "));
  EXPECT_EQ(Run({"verify", "a.cairn"}).exit_code, 0);
  // It cannot look, and does not wait for itself.
  const CommandResult takes = Run({"run", "--capture", "--hash-frames", "--hash-resources",
                                   "--quiet", "-o", "c.cairn", "--", program, "take"});
  EXPECT_EQ(takes.exit_code, 0) << takes.Summary();
  // If the recording ends before its program, the targets are hashed as they are at that time.
  EXPECT_EQ(Run({"run", "--capture", "--hash-resources", "--frames", "2-3", "--quiet", "-o",
                 "b.cairn", "--", program})
                .exit_code,
            0);
  EXPECT_THAT(Run({"replay", "--validate=all", "b.cairn"}).output,
              HasSubstr("; 6 readbacks, 0 images, 3 subresources and "));
  EXPECT_EQ(Run({"replay", "--validate=some", "a.cairn"}).exit_code, 2);
}

TEST_F(TrimTest, ATriggerThatIsThereStartsAtTheFirstFrame) {
  std::ofstream{folder_ / "now"} << "x";
  Capture("late.cairn", {"--trigger", folder_ / "now"});
  const CommandResult played = Run({"replay", "--validate", "late.cairn"});
  EXPECT_EQ(played.exit_code, 0) << played.Summary();
}

TEST_F(TrimTest, ATriggerThatNeverComes) {
  const CommandResult result =
      Run({"run", "--capture", "--trigger", folder_ / "never", "-o", "a.cairn", "--",
           Program("sample-scale-d3d12-plain"), "--frames", "3", "--calls", "50"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.errors, HasSubstr("ended before the capture started: a.cairn holds no calls"));
}

TEST_F(TrimTest, WhatCannotBeDoneIsOneLine) {
  Capture("all.cairn");
  const auto error = [this](const std::vector<std::string>& arguments, int exit_code) {
    const CommandResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.Summary();
    EXPECT_EQ(result.output, "");
    return result.errors;
  };
  EXPECT_EQ(error({"trim", "all.cairn"}, 2), "cairn trim: no frames are given; say --frames A-B\n");
  EXPECT_EQ(error({"trim", "--frames", "9-7", "all.cairn"}, 2),
            "cairn trim: --frames: '9-7' is neither a frame (7) nor a range (7-9, 7-)\n");
  EXPECT_EQ(error({"trim", "--frames", "7-1000", "all.cairn"}, 1),
            "cairn trim: all.cairn has 20 frames, counted from 0: there is no frame 1000\n");
  EXPECT_THAT(error({"trim", "--frames", "7-8", "-o", "none/a.cairn", "all.cairn"}, 1),
              HasSubstr("no file can be written in directory 'none'"));
  EXPECT_EQ(error({"trim", "--frames", "7-8", "-o", "./all.cairn", "all.cairn"}, 2),
            "cairn trim: ./all.cairn is the trace itself, which its frames would replace; give "
            "another file with -o\n");
  EXPECT_THAT(error({"trim", "--frames", "7-8", "-o", std::string(235, 'a'), "all.cairn"}, 1),
              HasSubstr("is too long"));
  EXPECT_THAT(error({"trim", "--frames", "7-8", "--library", "libnone.so", "all.cairn"}, 1),
              HasSubstr("cairn trim: Direct3D 12 is not available: libnone.so: "));
  const std::string plain = TestProgram("plain");
  EXPECT_EQ(error({"run", "--frames", "1-2", "--", plain}, 125),
            "cairn run: --frames means nothing without --capture\n");
  EXPECT_EQ(error({"run", "--capture", "--frames", "x", "--", plain}, 125),
            "cairn run: --frames: 'x' is neither a frame (7) nor a range (7-9, 7-)\n");
  EXPECT_EQ(error({"run", "--capture", "--no-layer", "--", plain}, 125),
            "cairn run: --capture needs the layer: remove --no-layer\n");
  EXPECT_EQ(error({"run", "--capture", "--quiet", "--", plain}, 0),
            "cairn: " + std::filesystem::path(plain).filename().string() +
                " made no Direct3D 12 device: nothing was captured\n");
  EXPECT_THAT(folder_.Contents(), ElementsAre("all.cairn"));
}

}  // namespace
}  // namespace cairn::testing
