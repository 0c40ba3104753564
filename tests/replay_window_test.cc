// SPDX-License-Identifier: Apache-2.0
//
// `cairn replay --window`: what the screen shows are the images that `cairn replay --images` writes, and the window obeys
// whoever closes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reader/replay/image_file.h"
#include "replay_fixture.h"
#include "window_reading.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ReplayWindowTest : public ReplayTest {
 protected:
  void SetUp() override {
    ReplayTest::SetUp();
    if (!HasScreen()) GTEST_SKIP() << "needs the package xvfb";
  }
  std::vector<std::string> Arguments(const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {Program("cairn"), "replay", "--window"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back("a.cairn");
    return arguments;
  }
  Command::Options Options() {
    std::vector<std::string> environment = LavapipeEnvironment();
    for (const std::string& setting : ScreenEnvironment()) environment.push_back(setting);
    return {.folder = folder_.path(), .environment = environment, .timeout_s = 120};
  }
  // The image of this frame, as it is written into a file.
  RgbaImage Written(const std::string& frame) {
    EXPECT_EQ(Replay({"--frames", frame, "--images", "images"}).exit_code, 0);
    Result<RgbaImage> image =
        ReadPng(folder_ / ("images/frame-" + std::string(6 - frame.size(), '0') + frame + ".png"));
    EXPECT_TRUE(image.ok()) << image.status().message();
    if (!image.ok()) return {};
    for (size_t i = 3; i < image->pixels.size(); i += 4) image->pixels[i] = 0xFF;
    return *image;
  }
  // Plays until the window shows this frame, closes it, and compares.
  CommandResult ExpectShown(const std::vector<std::string>& options, const std::string& frame) {
    const RgbaImage written = Written(frame);
    EXPECT_FALSE(written.pixels.empty());
    Command replay(Arguments(options), Options());
    const std::string title = "a.cairn: frame " + frame;
    // Under Wine the screen has had the title before the picture.
    RgbaImage shown;
    WaitUntil([&] {
      shown = PictureOfWindow(title);
      return shown.pixels == written.pixels || !IsRunning(replay.pid());
    });
    EXPECT_TRUE(shown.pixels == written.pixels);
    EXPECT_EQ(shown.width, written.width);
    EXPECT_EQ(shown.height, written.height);
    EXPECT_TRUE(IsRunning(replay.pid()));
    CloseWindowOf(title);
    return replay.Wait();
  }
};

TEST_F(ReplayWindowTest, ItShowsTheImageUntilItIsClosed) {
  Record({Program("sample-triangle-d3d12-plain"), "sample.png"});
  const CommandResult result = ExpectShown({}, "0");
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.output, StartsWith("a.cairn: 1 frame and "));
  EXPECT_THAT(result.errors, IsEmpty());
}

TEST_F(ReplayWindowTest, TheLastOfSeveralFramesStays) {
  Record({Program("sample-scale-d3d12-plain"), "--frames", "6", "--calls", "100"});
  EXPECT_EQ(ExpectShown({"--frames", "2-4"}, "4").exit_code, 0);
}

TEST_F(ReplayWindowTest, ClosingItEndsThePlayback) {
  Record({Program("sample-triangle-d3d12-plain"), "sample.png"});
  Command replay(Arguments({"--loop", "0"}), Options());
  CloseWindowOf("a.cairn: frame 0");
  const CommandResult result = replay.Wait();
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.errors, StartsWith("cairn replay: warning: stopped after "));
}

#if !defined(_WIN32)
TEST_F(ReplayWindowTest, WithoutAScreenItSaysSo) {
  Record({Program("sample-triangle-d3d12-plain"), "sample.png"});
  Command::Options options = Options();
  options.environment.push_back("DISPLAY=:65535");
  const CommandResult result = RunCommand(Arguments({}), options);
  EXPECT_EQ(result.exit_code, 1) << result.Summary();
  EXPECT_THAT(
      result.errors,
      HasSubstr("no window can be shown: the X server of DISPLAY=:65535 cannot be reached"));
}
#endif

}  // namespace
}  // namespace cairn::testing
