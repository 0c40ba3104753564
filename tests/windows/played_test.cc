// SPDX-License-Identifier: Apache-2.0
//
// cairn.exe on traces that cairn of Linux has recorded (tests/golden/played): what is drawn are the same pictures, and
// the call that hangs or kills is the same one. Skipped where Wine has no device of Direct3D 12.
#include "played.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "harness.h"
#include "reader/replay/image_file.h"

namespace cairn::testing {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class PlayedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
  }
  CommandResult Cairn(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("cairn"));
    const CommandResult result =
        RunCommand(arguments, {.folder = folder_.path(), .timeout_s = 500});
    EXPECT_FALSE(result.timed_out) << result.Summary();
    return result;
  }
  std::string Trace(const std::string& name) {
    std::filesystem::copy_file(kPlayed + name, folder_.path() / name,
                               std::filesystem::copy_options::overwrite_existing);
    return name;
  }
  Json Bisect(const std::string& file, const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments = {"bisect", "--json", "--no-why", "--hang-timeout", "3"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back(file);
    const CommandResult result = Cairn(arguments);
    EXPECT_EQ(0, result.exit_code) << result.Summary();
    const Json answer = Json::Parse(result.output);
    EXPECT_TRUE(answer.is_object()) << result.Summary();
    EXPECT_EQ("",
              SchemaViolation(Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/bisect.schema.json"),
                              answer));
    return answer;
  }

  TemporaryFolder folder_;
};

TEST_F(PlayedTest, TheImageIsThePictureThatTheProgramWrote) {
  const CommandResult result = Cairn({"images", "--json", "-o", "out", Trace("triangle.cairn")});
  ASSERT_EQ(result.exit_code, 0) << result.Summary();
  const Json document = Json::Parse(result.output);
  EXPECT_EQ(SchemaViolation(Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/images.schema.json"),
                            document),
            "");
  ASSERT_EQ(document["images"].size(), 1u) << result.output;
  const Json image = document["images"][0];
  EXPECT_EQ(image["width"], 256);
  EXPECT_EQ(image["height"], 256);
  EXPECT_EQ(image["format"], "R8G8B8A8_UNORM");
  ASSERT_EQ(image["files"].size(), 1u);
  const Result<RgbaImage> drawn = ReadPng(kPlayed + "triangle.png");
  const Result<RgbaImage> found =
      ReadPng(folder_ / ("out/" + image["files"][0].get<std::string>()));
  ASSERT_TRUE(drawn.ok() && found.ok());
  EXPECT_EQ(drawn->pixels, found->pixels);
  const CommandResult hashes = Cairn({"replay", "--quiet", "--hash", "triangle.cairn"});
  EXPECT_THAT(hashes.output, HasSubstr(image["hash"].get<std::string>()));
}

TEST_F(PlayedTest, WhatTheProgramsReadBackAndShowedComesBack) {
  for (const auto& [name, what] :
       {std::pair{"triangle.cairn", "; 1 readback and 1 image match the recording\n"},
        {"passes.cairn", "; 1 readback and 1 image match the recording\n"},
        {"scale.cairn", "; 40 readbacks and 20 images match the recording\n"}}) {
    const CommandResult result = Cairn({"replay", "--validate", Trace(name)});
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    EXPECT_THAT(result.output, HasSubstr(what));
  }
}

TEST_F(PlayedTest, ATraceDoesNotDifferFromItself) {
  const std::string trace = Trace("triangle.cairn");
  const CommandResult images = Cairn({"diff", "--images", trace, trace});
  EXPECT_EQ(images.exit_code, 0) << images.Summary();
  EXPECT_THAT(images.output, HasSubstr("1 image compared, all the same"));
}

// The playback is captured as a program is.
TEST_F(PlayedTest, FramesThatWereCutOutAreTheSame) {
  const std::string trace = Trace("scale.cairn");
  const CommandResult cut = Cairn({"trim", trace, "--frames", "4-8", "-o", "cut.cairn"});
  ASSERT_EQ(cut.exit_code, 0) << cut.Summary();
  for (const auto& [first, second] :
       {std::pair{"cut.cairn", "scale.cairn"}, {"scale.cairn", "cut.cairn"}}) {
    const CommandResult images = Cairn({"diff", "--images", first, second});
    EXPECT_EQ(images.exit_code, 0) << images.Summary();
    EXPECT_THAT(images.output, HasSubstr("5 images compared, all the same"));
  }
  const CommandResult validated = Cairn({"replay", "--validate", "cut.cairn"});
  EXPECT_EQ(validated.exit_code, 0) << validated.Summary();
  EXPECT_THAT(validated.output, HasSubstr("10 readbacks and 5 images match the recording\n"));
  EXPECT_EQ(Cairn({"verify", "cut.cairn"}).exit_code, 0);
  EXPECT_THAT(folder_.Contents(), ElementsAre("cut.cairn", "scale.cairn"));
}

TEST_F(PlayedTest, AFaultEndsTheChildAndIsTold) {
  const CommandResult result = Cairn({"replay", Trace("fault.cairn")});
  EXPECT_EQ(result.exit_code, 4) << result.Summary();
  // Under Wine a fault in a thread that the driver has made itself is no exception of Windows: an exit with 1.
  EXPECT_THAT(result.errors, AnyOf(HasSubstr("the playback died of "),
                                   HasSubstr("the driver ended the playback, with exit code 1 ")));
  EXPECT_THAT(result.errors, HasSubstr("executing the submission of call 105;"));
  EXPECT_THAT(result.errors, HasSubstr("cairn bisect fault.cairn finds the work that does it"));
}

TEST_F(PlayedTest, TheDispatchThatKillsTheProcessIsFound) {
  const Json answer = Bisect(Trace("fault.cairn"));
  ASSERT_TRUE(answer.value("found", false).get<bool>()) << answer.dump(2);
  EXPECT_EQ("death", answer["failure"]);
  ASSERT_EQ(1u, answer["culprits"].size()) << answer.dump(2);
  const Json culprit = answer["culprits"][0];
  EXPECT_EQ(86, culprit["call"]);  // as on Linux
  EXPECT_THAT(culprit["text"].get<std::string>(), HasSubstr("Dispatch("));
  EXPECT_THAT(culprit["path"].get<std::vector<std::string>>(), Contains("Scatter to nowhere"));
  EXPECT_EQ("clean", answer["without"]);
  // The minimal trace fails by itself, at the same call.
  EXPECT_EQ("fault.minimal.cairn", answer["minimal_trace"]);
  const Json again = Bisect("fault.minimal.cairn", {"--no-output"});
  ASSERT_EQ(1u, again["culprits"].size()) << again.dump(2);
  EXPECT_EQ(culprit["call"], again["culprits"][0]["call"]);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "fault.bisect"));
}

TEST_F(PlayedTest, TheDrawThatHangsIsFound) {
  const Json answer = Bisect(Trace("hang.cairn"), {"--no-output"});
  ASSERT_TRUE(answer.value("found", false).get<bool>()) << answer.dump(2);
  EXPECT_EQ("hang", answer["failure"]);
  ASSERT_EQ(1u, answer["culprits"].size()) << answer.dump(2);
  const Json culprit = answer["culprits"][0];
  EXPECT_EQ(3232, culprit["call"]);  // as on Linux
  EXPECT_THAT(culprit["text"].get<std::string>(), HasSubstr("DrawInstanced("));
  EXPECT_THAT(culprit["path"].get<std::vector<std::string>>(), Contains("Lighting"));
  EXPECT_EQ("clean", answer["without"]);
}

TEST_F(PlayedTest, WhatDoesNotFailHasNoCulprit) {
  const CommandResult result = Cairn({"bisect", Trace("triangle.cairn")});
  EXPECT_EQ(1, result.exit_code) << result.Summary();
  EXPECT_THAT(result.output, HasSubstr("does not fail on this device"));
  EXPECT_THAT(result.output, HasSubstr("Tried     2 replays of the whole trace, "));
  EXPECT_THAT(result.output, HasSubstr(", with d3d12.dll"));
}

}  // namespace
}  // namespace cairn::testing
