// SPDX-License-Identifier: Apache-2.0
//
// Programs that we did not write are recorded and played: the images are what their windows showed, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>

#include "reader/replay/image_file.h"
#include "replay_fixture.h"
#include "screen_of_tests.h"

namespace cairn::testing {
namespace {

bool IsInstalled(const std::string& program) {
  return std::filesystem::exists("/usr/bin/" + program);
}

// Reads the window's picture from stop_at_frame: "WIDTH HEIGHT
// ", then blue, green, red and nothing.
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
        {"DISPLAY=" + Screen::Display(), "LD_PRELOAD=" + TestProgram("libstop_at_frame.so"),
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

}  // namespace
}  // namespace cairn::testing
