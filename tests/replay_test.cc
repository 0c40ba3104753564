// SPDX-License-Identifier: Apache-2.0
//
// Programs are recorded, and what was recorded is played again: the images are those that the programs
// themselves showed, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "harness.h"
#include "reader/replay/image_file.h"
#include "virtual_screen.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string InTests(const std::string& name) {
  return std::string(CAIRN_BINARY_DIR) + "/tests/programs/" + name;
}

// An X server for all tests; made before the first command.
class Screen final : public ::testing::Environment {
 public:
  void SetUp() override { screen_ = std::make_unique<VirtualScreen>(); }
  void TearDown() override { screen_.reset(); }
  static std::string Display() { return screen_ == nullptr ? "" : screen_->display(); }

 private:
  static inline std::unique_ptr<VirtualScreen> screen_;
};
[[maybe_unused]] const auto* const kScreen = ::testing::AddGlobalTestEnvironment(new Screen);

bool IsInstalled(const std::string& program) {
  return std::filesystem::exists("/usr/bin/" + program);
}

class ReplayTest : public ::testing::Test {
 protected:
  CommandResult Run(const std::vector<std::string>& arguments,
                    std::vector<std::string> environment = {}) {
    environment.push_back("VKD3D_DEBUG=none");
    const CommandResult result = RunCommand(
        arguments, {.folder = folder_.path(), .environment = environment, .timeout_s = 120});
    EXPECT_FALSE(result.timed_out);
    EXPECT_THAT(result.left_behind, IsEmpty());
    return result;
  }

  // Records into a.cairn with the hashes of frames.
  void Record(const std::vector<std::string>& program,
              const std::vector<std::string>& environment = {}) {
    std::vector<std::string> arguments = {
        Program("cairn"), "run", "--capture", "--hash-frames", "-o", "a.cairn", "--"};
    arguments.insert(arguments.end(), program.begin(), program.end());
    const CommandResult result = Run(arguments, environment);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
  }

  CommandResult Replay(std::vector<std::string> options) {
    options.insert(options.begin(), {Program("cairn"), "replay"});
    options.push_back("a.cairn");
    return Run(options);
  }

  TemporaryFolder folder_;
};

TEST_F(ReplayTest, TriangleIsTheOneThatTheSampleWrote) {
  Record({Program("sample-triangle-d3d12-plain"), "sample.png"});
  const CommandResult result = Replay({"--validate", "--images", "images"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_THAT(result.output, HasSubstr("1 image are what they were"));

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

// What stop_at_frame saw in the window: "WIDTH HEIGHT\n", then blue, green, red and nothing.
RgbaImage ReadWindow(const std::string& path) {
  const std::string bytes = ReadFile(path);
  std::istringstream header(bytes.substr(0, bytes.find('\n')));
  RgbaImage image;
  header >> image.width >> image.height;
  const size_t start = bytes.find('\n') + 1;
  for (size_t i = start; i + 4 <= bytes.size(); i += 4) {
    for (const size_t channel : {2, 1, 0}) {
      image.pixels.push_back(static_cast<uint8_t>(bytes[i + channel]));
    }
    image.pixels.push_back(0xFF);
  }
  return image;
}

class WindowReplayTest : public ReplayTest {
 protected:
  // Records a program until the end of a frame, counted from 1, and plays it.
  void ExpectSameWindow(const std::string& program, int frame) {
    if (Screen::Display().empty() || !IsInstalled(program)) {
      GTEST_SKIP() << "needs the packages xvfb and vkd3d-demos";
    }
    Record(
        {program},
        {"DISPLAY=" + Screen::Display(), "LD_PRELOAD=" + InTests("libstop_at_frame.so"),
         "STOP_AT_FRAME=" + std::to_string(frame), "STOP_AT_FRAME_FILE=" + (folder_ / "window")});
    const CommandResult result = Replay({"--validate", "--images", "images"});
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    const std::string last = "images/frame-" +
                             std::string(6 - std::to_string(frame - 1).size(), '0') +
                             std::to_string(frame - 1) + ".png";
    Result<RgbaImage> replayed = ReadPng(folder_ / last);
    ASSERT_TRUE(replayed.ok()) << replayed.status().message();
    for (size_t i = 3; i < replayed->pixels.size(); i += 4) replayed->pixels[i] = 0xFF;
    const RgbaImage window = ReadWindow(folder_ / "window");
    EXPECT_EQ(replayed->width, window.width);
    EXPECT_TRUE(replayed->pixels == window.pixels);
  }
};

TEST_F(WindowReplayTest, Gears) {
  ExpectSameWindow("vkd3d-gears", 50);
}

TEST_F(WindowReplayTest, Triangle) {
  ExpectSameWindow("vkd3d-triangle", 1);
}

// ---- What cannot be played ----

TEST_F(ReplayTest, FileThatIsNoTrace) {
  const CommandResult result = Run({Program("cairn"), "replay", "/dev/null"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("/dev/null"));
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
