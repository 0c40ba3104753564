// SPDX-License-Identifier: Apache-2.0
//
// Programs under `cairn run --capture`, and what becomes of their traces: verified, played again with
// the same images and the same bytes read back, cut to a few frames, repacked. Preloading does not
// work in builds with sanitizers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "harness.h"
#include "reader/replay/image_file.h"
#include "screen_of_tests.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CaptureProgramsTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(CAIRN_SANITIZED)
    GTEST_SKIP() << "a library with sanitizers cannot be preloaded into programs without them";
#endif
  }

  CommandResult Run(const std::vector<std::string>& command,
                    std::vector<std::string> environment = {}, int timeout_s = 120) {
    environment.insert(environment.end(), {"VKD3D_DEBUG=none", "DISPLAY=" + Screen::Display(),
                                           "XDG_CONFIG_HOME=" + (folder_ / "config")});
    return RunCommand(
        command,
        {.folder = folder_.path(), .environment = std::move(environment), .timeout_s = timeout_s});
  }
  CommandResult Cairn(std::vector<std::string> arguments, int timeout_s = 120) {
    arguments.insert(arguments.begin(), Program("cairn"));
    return Run(arguments, {}, timeout_s);
  }
  std::string ExpectWell(std::vector<std::string> arguments, int timeout_s = 120) {
    SCOPED_TRACE(arguments[0]);
    const CommandResult result = Cairn(std::move(arguments), timeout_s);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    return result.output;
  }

  void Capture(const std::vector<std::string>& program, int exit_code = 0,
               std::vector<std::string> environment = {}) {
    std::vector<std::string> command = {Program("cairn"), "run", "--capture", "--hash-frames", "-o",
                                        "a.cairn",        "--"};
    command.insert(command.end(), program.begin(), program.end());
    const CommandResult result = Run(command, std::move(environment));
    EXPECT_EQ(result.exit_code, exit_code) << result.Summary();
    EXPECT_THAT(result.left_behind, IsEmpty());
  }

  // Verified, played with all images and all that was read back as recorded, and so when repacked.
  void ExpectPlaysAsRecorded() {
    ExpectWell({"verify", "a.cairn"});
    ExpectWell({"replay", "--validate", "a.cairn"});
    ExpectWell({"repack", "--force", "a.cairn", "-o", "b.cairn"});
    EXPECT_LE(std::filesystem::file_size(folder_ / "b.cairn"),
              std::filesystem::file_size(folder_ / "a.cairn"));
    ExpectWell({"verify", "b.cairn"});
    ExpectWell({"replay", "--validate", "b.cairn"});
  }

  // The hashes of the frames' images, a line each.
  std::vector<std::string> Hashes(const std::string& file, const std::string& frames = "") {
    std::vector<std::string> arguments = {"replay", "--hash", "--quiet", file};
    if (!frames.empty()) arguments.insert(arguments.begin() + 1, {"--frames", frames});
    return Lines(ExpectWell(arguments));
  }

  TemporaryFolder folder_;
};

// ---- Programs that we did not write --------------------------------------------------------------

class CaptureWindowTest : public CaptureProgramsTest {
 protected:
  bool Has(const std::string& program) {
    return !Screen::Display().empty() && std::filesystem::exists("/usr/bin/" + program);
  }
  static std::vector<std::string> StopAt(int frame, const std::string& file) {
    return {"LD_PRELOAD=" CAIRN_BINARY_DIR "/tests/programs/libstop_at_frame.so",
            "STOP_AT_FRAME=" + std::to_string(frame), "STOP_AT_FRAME_FILE=" + file};
  }

  // The window's content as its program alone shows it, and the image of the replay's last frame.
  void ExpectReplayShowsTheWindow(const std::string& program, int frame) {
    const std::string window = folder_ / "window";
    ASSERT_EQ(Run({program}, StopAt(frame, window)).exit_code, 0);
    Capture({program}, 0, StopAt(frame, folder_ / "captured"));
    EXPECT_TRUE(ReadFile(window) == ReadFile(folder_ / "captured")) << "the capture changed it";
    const std::string last = std::to_string(frame - 1);
    ExpectWell({"replay", "--frames", last, "--images", "images", "a.cairn"});
    ExpectSamePicture(window);
  }

  void ExpectSamePicture(const std::string& window) {
    const std::filesystem::directory_iterator images(folder_ / "images");
    ASSERT_NE(images, std::filesystem::directory_iterator());
    const Result<RgbaImage> image = ReadPng(images->path().string());
    ASSERT_TRUE(image.ok()) << image.status().message();
    std::ifstream file(window, std::ios::binary);
    uint32_t width = 0, height = 0;
    file >> width >> height;
    file.get();
    ASSERT_EQ(image->width, width);
    ASSERT_EQ(image->height, height);
    std::vector<char> pixels(size_t{4} * width * height);
    file.read(pixels.data(), static_cast<std::streamsize>(pixels.size()));
    ASSERT_EQ(static_cast<size_t>(file.gcount()), pixels.size());
    size_t different = 0;
    for (size_t i = 0; i < pixels.size(); i += 4) {
      // The window: blue, green, red, and a byte that nobody shows.
      for (size_t channel = 0; channel < 3; ++channel) {
        different += static_cast<uint8_t>(pixels[i + channel]) !=
                     static_cast<uint8_t>(image->pixels[i + 2 - channel]);
      }
    }
    EXPECT_EQ(different, 0u);
  }
};

TEST_F(CaptureWindowTest, Triangle) {
  if (!Has("vkd3d-triangle")) GTEST_SKIP() << "install the packages xvfb and vkd3d-demos";
  ExpectReplayShowsTheWindow("vkd3d-triangle", 1);  // It shows one frame and waits.
  ExpectPlaysAsRecorded();
  EXPECT_EQ(Hashes("a.cairn").size(), 1u);
}

TEST_F(CaptureWindowTest, GearsAndAPartOfThem) {
  if (!Has("vkd3d-gears")) GTEST_SKIP() << "install the packages xvfb and vkd3d-demos";
  ExpectReplayShowsTheWindow("vkd3d-gears", 300);
  ExpectPlaysAsRecorded();
  const std::vector<std::string> all = Hashes("a.cairn");
  ASSERT_EQ(all.size(), 300u);
  EXPECT_THAT(all[299], Not(all[0].substr(all[0].find(' '))));

  ExpectWell({"trim", "--frames", "200-209", "-o", "part.cairn", "a.cairn"});
  EXPECT_LT(std::filesystem::file_size(folder_ / "part.cairn"),
            std::filesystem::file_size(folder_ / "a.cairn"));
  ExpectWell({"verify", "part.cairn"});
  ExpectWell({"replay", "--validate", "part.cairn"});
  std::vector<std::string> part = Hashes("part.cairn");
  ASSERT_EQ(part.size(), 10u);
  const auto hash = [](const std::string& line) { return line.substr(line.rfind(' ') + 1); };
  for (size_t i = 0; i < part.size(); ++i) EXPECT_EQ(hash(part[i]), hash(all[200 + i])) << i;
}

TEST_F(CaptureWindowTest, GearsFromALaterFrameOn) {
  if (!Has("vkd3d-gears")) GTEST_SKIP() << "install the packages xvfb and vkd3d-demos";
  const std::vector<std::string> late = {
      Program("cairn"), "run", "--capture",  "--hash-frames", "--frames", "20-39", "-o",
      "a.cairn",        "--",  "vkd3d-gears"};
  const CommandResult result = Run(late, StopAt(50, folder_ / "window"));
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  ExpectPlaysAsRecorded();
  EXPECT_EQ(Hashes("a.cairn").size(), 20u);
  // It clears what it draws into: nothing of the images is missed.
  EXPECT_THAT(ExpectWell({"info", "a.cairn"}), Not(HasSubstr("swap chain")));
}

// A present holds the implementation's queue; another thread, whose frames end at the same time,
// needs it to read images and to begin the recording.
TEST_F(CaptureWindowTest, AThreadPresentsAndAnotherSubmitsAllTheTime) {
  if (!Has("vkd3d-gears")) GTEST_SKIP() << "install the packages xvfb and vkd3d-demos";
  std::vector<std::string> environment = StopAt(60, folder_ / "window");
  environment[0] += ":" CAIRN_BINARY_DIR "/tests/programs/libsubmit_aside.so";
  environment.push_back("SUBMIT_ASIDE_FRAMES=300");
  for (const char* frames : {"0-", "40-"}) {
    SCOPED_TRACE(frames);
    const CommandResult result = Run({Program("cairn"), "run", "--capture", "--hash-frames",
                                      "--frames", frames, "-o", "a.cairn", "--", "vkd3d-gears"},
                                     environment);
    ASSERT_FALSE(result.timed_out) << "it waits for ever: " << result.Summary();
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    EXPECT_THAT(result.output, HasSubstr("submit_aside: 300 frames\n"));
    EXPECT_THAT(result.left_behind, IsEmpty());
    ExpectWell({"verify", "a.cairn"});
    ExpectWell({"replay", "a.cairn"});
  }
}

// ---- Samples -------------------------------------------------------------------------------------

// Each is played to its end: those that crash or hang are told not to.
struct SampleCase {
  std::string name;
  std::vector<std::string> options = {};
  int exit_code = 0;
  uint64_t frames_with_images = 0;
  uint64_t readbacks = 0;  // copies for the CPU
};

std::vector<SampleCase> Samples() {
  return {
      {.name = "triangle", .frames_with_images = 1, .readbacks = 1},
      {.name = "passes", .frames_with_images = 1, .readbacks = 1},
      {.name = "record-threads",
       .options = {"--frames", "8"},
       .frames_with_images = 8,
       .readbacks = 72},
      {.name = "scale",
       .options = {"--frames", "30", "--calls", "500"},
       .frames_with_images = 30,
       .readbacks = 60},
      {.name = "hang", .options = {"--seconds", "0.1"}},
      {.name = "fault", .options = {"--index", "5"}},
      {.name = "late-fault", .options = {"--index", "5"}},
      {.name = "killed", .options = {"--seconds", "0.5"}, .exit_code = 128 + SIGKILL},
      {.name = "annotated-hang", .options = {"--seconds", "0.1"}, .frames_with_images = 1},
  };
}

void PrintTo(const SampleCase& sample, std::ostream* stream) {
  *stream << sample.name;
}

class CaptureSampleTest : public CaptureProgramsTest,
                          public ::testing::WithParamInterface<SampleCase> {
 protected:
  // With libcairn and without, where there are both.
  void ExpectPlayed(const std::string& program) {
    SCOPED_TRACE(program);
    std::vector<std::string> command = {Program(program)};
    command.insert(command.end(), GetParam().options.begin(), GetParam().options.end());
    Capture(command, GetParam().exit_code);
    ExpectWell({"verify", "a.cairn"});
    const uint64_t images = GetParam().frames_with_images;
    const std::string validated = ExpectWell({"replay", "--validate", "a.cairn"});
    EXPECT_THAT(validated, HasSubstr(" " + std::to_string(images) + " image"));
    const uint64_t readbacks = GetParam().readbacks;
    EXPECT_THAT(validated, HasSubstr(" " + std::to_string(readbacks) + " readback"));
    if (images == 0) return;  // and long work
    const std::vector<std::string> hashes = Hashes("a.cairn");
    EXPECT_EQ(hashes.size(), images);
    EXPECT_EQ(Hashes("a.cairn"), hashes);
    ExpectWell({"repack", "--force", "a.cairn", "-o", "b.cairn"});
    EXPECT_LE(std::filesystem::file_size(folder_ / "b.cairn"),
              std::filesystem::file_size(folder_ / "a.cairn"));
    ExpectWell({"verify", "b.cairn"});
    EXPECT_EQ(Hashes("b.cairn"), hashes);
  }
};

TEST_P(CaptureSampleTest, PlaysAsRecorded) {
  const std::string program = "sample-" + GetParam().name + "-d3d12";
  ExpectPlayed(program);
  if (std::filesystem::exists(Program(program + "-plain"))) ExpectPlayed(program + "-plain");
}

INSTANTIATE_TEST_SUITE_P(Samples, CaptureSampleTest, ::testing::ValuesIn(Samples()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(CaptureSamplesTest, NoneIsMissing) {
  // By modern_samples_test, bench/addresses and replay_test.
  std::vector<std::string> played = {"bundles",    "import",           "indirect",     "mesh",
                                     "raytracing", "sampler-feedback", "shading-rate", "tiled"};
  played.insert(played.end(), {"many-addresses", "two-devices"});
  for (const SampleCase& sample : Samples()) played.push_back(sample.name);
  std::vector<std::string> there;
  constexpr std::string_view kEnding = "_d3d12.cc";
  for (const auto& entry : std::filesystem::directory_iterator(CAIRN_SOURCE_DIR "/samples")) {
    std::string name = entry.path().filename().string();
    if (!name.ends_with(kEnding)) continue;
    name.resize(name.size() - kEnding.size());
    std::replace(name.begin(), name.end(), '_', '-');
    there.push_back(name);
  }
  EXPECT_THAT(played, ::testing::UnorderedElementsAreArray(there));
}

TEST_F(CaptureProgramsTest, ThePictureOfTheReplayIsTheSamples) {
  Capture({Program("sample-triangle-d3d12-plain"), "original.png"});
  ExpectWell({"replay", "--images", "images", "a.cairn"});
  const std::filesystem::directory_iterator images(folder_ / "images");
  ASSERT_NE(images, std::filesystem::directory_iterator());
  const Result<RgbaImage> original = ReadPng(folder_ / "original.png");
  const Result<RgbaImage> replayed = ReadPng(images->path().string());
  ASSERT_TRUE(original.ok() && replayed.ok());
  EXPECT_EQ(replayed->width, original->width);
  EXPECT_EQ(replayed->pixels, original->pixels);
}

TEST_F(CaptureProgramsTest, ATraceOfAProgramThatEndedWellHasNoReport) {
  Capture({Program("sample-triangle-d3d12-plain")});
  const CommandResult report = Cairn({"report", "a.cairn"});
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_THAT(report.errors, HasSubstr("nothing went wrong while it was recorded"));
}

}  // namespace
}  // namespace cairn::testing
