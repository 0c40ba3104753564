// SPDX-License-Identifier: Apache-2.0
//
// cairn images and cairn diff on recorded programs: what was drawn is in the files, and differences are
// those that were made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "harness.h"
#include "played.h"
#include "reader/replay/image_file.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ImagesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
  }
  CommandResult Run(const std::vector<std::string>& arguments) {
    const CommandResult result = RunCommand(
        arguments,
        {.folder = folder_.path(), .environment = {"VKD3D_DEBUG=none"}, .timeout_s = 120});
    EXPECT_FALSE(result.timed_out);
    return result;
  }
  CommandResult Cairn(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("cairn"));
    return Run(arguments);
  }
#if defined(_WIN32)
  // Recorded on Linux.
  void Record(const std::string& file, const std::vector<std::string>& program) {
    const bool triangle = program[0] == Program("sample-triangle-d3d12-plain");
    const std::filesystem::path played = kPlayed;
    constexpr auto kAgain = std::filesystem::copy_options::overwrite_existing;
    std::filesystem::copy_file(played / (triangle ? "triangle.cairn" : "passes.cairn"),
                               folder_.path() / file, kAgain);
    if (!triangle) return;
    std::filesystem::copy_file(played / "triangle.png", folder_.path() / program.at(1), kAgain);
  }
#else
  void Record(const std::string& file, const std::vector<std::string>& program) {
    std::vector<std::string> arguments = {"run", "--capture", "--hash-frames", "-o", file, "--"};
    arguments.insert(arguments.end(), program.begin(), program.end());
    const CommandResult result = Cairn(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
  }
#endif
  std::string Path(const std::string& name) const {
    return folder_ / name;
  }

  static Json Schema(const std::string& name) {
    return Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/" + name);
  }

  TemporaryFolder folder_;
};

TEST_F(ImagesTest, TheTargetOfTheTriangleIsThePictureThatTheSampleWrote) {
  Record("a.cairn", {Program("sample-triangle-d3d12-plain"), "sample.png"});
  const CommandResult result = Cairn({"images", "--json", "-o", "out", "a.cairn"});
  ASSERT_EQ(result.exit_code, 0) << result.Summary();
  const Json document = Json::Parse(result.output);
  EXPECT_EQ(SchemaViolation(Schema("images.schema.json"), document), "");
  ASSERT_EQ(document["images"].size(), 1u) << result.output;
  const Json image = document["images"][0];
  EXPECT_EQ(image["width"], 256);
  EXPECT_EQ(image["height"], 256);
  EXPECT_EQ(image["format"], "R8G8B8A8_UNORM");
  EXPECT_EQ(image["target"], true);
  EXPECT_EQ(image["shown"], true);
  ASSERT_EQ(image["files"].size(), 1u);
  const Result<RgbaImage> drawn = ReadPng(Path("sample.png"));
  const Result<RgbaImage> found = ReadPng(Path("out/" + image["files"][0].get<std::string>()));
  ASSERT_TRUE(drawn.ok() && found.ok());
  EXPECT_EQ(drawn->pixels, found->pixels);

  // The hash is the one of the frame.
  const CommandResult hashes = Cairn({"replay", "--quiet", "--hash", "a.cairn"});
  EXPECT_THAT(hashes.output, HasSubstr(image["hash"].get<std::string>()));
}

TEST_F(ImagesTest, WhatIsNotThereIsNamed) {
  Record("a.cairn", {Program("sample-triangle-d3d12-plain"), "sample.png"});
  for (const auto& [arguments, words] :
       std::vector<std::tuple<std::vector<std::string>, std::string>>{
           {{"--call", "999,999,999"}, "there is no call 999,999,999"},
           {{"--object", "999,999"}, "nothing that lives there is called '999,999'"},
           {{"--object", "#Foo"}, "nothing that lives there is called '#Foo'"},
           {{"--object", "#1"}, "'#1' is a device, not a texture"}}) {
    std::vector<std::string> command = {"images", "-o", "out"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    command.push_back("a.cairn");
    const CommandResult result = Cairn(command);
    EXPECT_EQ(result.exit_code, 2) << result.Summary();
    EXPECT_THAT(result.errors, HasSubstr(words));
    EXPECT_FALSE(std::filesystem::exists(Path("out")));
  }
}

TEST_F(ImagesTest, OneRunDoesNotDifferFromAnother) {
  for (const char* const file : {"a.cairn", "b.cairn"}) {
    Record(file, {Program("sample-triangle-d3d12-plain"), "sample.png"});
  }
  const CommandResult calls = Cairn({"diff", "a.cairn", "b.cairn"});
  EXPECT_EQ(calls.exit_code, 0) << calls.Summary();
  EXPECT_THAT(calls.output, HasSubstr("no call differs"));
  const CommandResult images = Cairn({"diff", "--images", "a.cairn", "b.cairn"});
  EXPECT_EQ(images.exit_code, 0) << images.Summary();
  EXPECT_THAT(images.output, HasSubstr("all the same"));
}

#if !defined(_WIN32)  // nothing golden was recorded on several threads
TEST_F(ImagesTest, FramesThatWereCutOutAreTheSame) {
  Record("all.cairn", {Program("sample-record-threads-d3d12-plain"), "--frames", "12"});
  const CommandResult cut = Cairn({"trim", "all.cairn", "--frames", "4-6", "-o", "cut.cairn"});
  ASSERT_EQ(cut.exit_code, 0) << cut.Summary();
  for (const std::vector<std::string>& files :
       {std::vector<std::string>{"cut.cairn", "all.cairn"}, {"all.cairn", "cut.cairn"}}) {
    const CommandResult images = Cairn({"diff", "--images", files[0], files[1]});
    EXPECT_EQ(images.exit_code, 0) << images.Summary();
    EXPECT_THAT(images.output, HasSubstr("3 images compared, all the same"));
  }
  const CommandResult other = Cairn({"diff", "--frames", "2", "cut.cairn", "all.cairn"});
  EXPECT_EQ(other.exit_code, 2) << other.Summary();
  EXPECT_THAT(other.errors, HasSubstr("there is no frame 2 in both: the first has frames 4 to 6"));

  const CommandResult played =
      Cairn({"diff", "--images", "-o", "new", "--frames", "2", "cut.cairn", "all.cairn"});
  EXPECT_EQ(played.exit_code, 2) << played.Summary();
  EXPECT_THAT(played.errors, HasSubstr("there is no frame 2 in both: the first has frames 4 to 6"));
  EXPECT_FALSE(std::filesystem::exists(Path("new")));

  const CommandResult calls = Cairn({"calls", "--json", "cut.cairn"});
  ASSERT_EQ(calls.exit_code, 0) << calls.Summary();
  EXPECT_THAT(calls.output, HasSubstr(R"({"kind":"start",)"));
  EXPECT_THAT(calls.output, HasSubstr(R"({"kind":"stop",)"));
}
#endif

TEST_F(ImagesTest, TwoProgramsDiffer) {
  Record("a.cairn", {Program("sample-triangle-d3d12-plain"), "sample.png"});
  Record("b.cairn", {Program("sample-passes-d3d12-plain")});
  const CommandResult calls = Cairn({"diff", "--json", "a.cairn", "b.cairn"});
  EXPECT_EQ(calls.exit_code, 1) << calls.Summary();
  const Json document = Json::Parse(calls.output);
  EXPECT_EQ(SchemaViolation(Schema("diff.schema.json")["oneOf"][0], document), "");
  EXPECT_GT(document["different_calls"].get<int>(), 0);
}

TEST_F(ImagesTest, FoldersAreCompared) {
  RgbaImage image = {2, 1, {1, 2, 3, 255, 4, 5, 6, 255}};
  for (const char* const folder : {"x", "y"}) {
    ASSERT_TRUE(MakeFolder(Path(folder)).ok());
    ASSERT_TRUE(WritePng(Path(std::string(folder) + "/same.png"), image).ok());
    image.pixels[1] = folder[0] == 'x' ? 42 : 2;
    ASSERT_TRUE(WritePng(Path(std::string(folder) + "/other.png"), image).ok());
    image.pixels[1] = 2;
  }
  const CommandResult result = Cairn({"diff", "-o", "out", "x", "y"});
  EXPECT_EQ(result.exit_code, 1) << result.Summary();
  EXPECT_THAT(result.output, HasSubstr("other.png: 1 pixel different, by 40 of 255 at most"));
  EXPECT_THAT(result.output, HasSubstr("2 images compared, 1 different"));
  EXPECT_TRUE(std::filesystem::exists(Path("out/other.png")));
  EXPECT_FALSE(std::filesystem::exists(Path("out/same.png")));
  EXPECT_EQ(Cairn({"diff", "x", "x"}).exit_code, 0);
#if !defined(_WIN32)  // where names have no such characters
  ASSERT_TRUE(MakeFolder(Path("z\x1b[31m")).ok());
  const CommandResult other = Cairn({"diff", "--json", "--limit", "1", "x", "z\x1b[31m"});
  EXPECT_EQ(Json::Parse(other.output)["images"].size(), 1u) << other.Summary();
  EXPECT_EQ(Json::Parse(other.output)["different_images"], 2);
  ASSERT_TRUE(WritePng(Path("z\x1b[31m/third.png"), image).ok());
  const CommandResult visible = Cairn({"diff", "x", "z\x1b[31m"});
  EXPECT_THAT(visible.output, HasSubstr("third.png: only in z\\x1b[31m\n"));
#endif
  const CommandResult json = Cairn({"diff", "--json", "x", "y"});
  EXPECT_EQ(SchemaViolation(Schema("diff.schema.json")["oneOf"][1], Json::Parse(json.output)), "");
}

TEST_F(ImagesTest, WhatMakesNoSenseIsOneLine) {
  for (const auto& [arguments, code, words] :
       std::vector<std::tuple<std::vector<std::string>, int, std::string>>{
           {{"images"}, 2, "no file is given"},
           {{"images", "absent.cairn"}, 1, "absent.cairn"},
           {{"images", "--frame", "1", "--call", "2", "a.cairn"}, 2, "give one of them"},
           {{"diff", "a.cairn"}, 2, "two files"},
           {{"diff", "absent.cairn", "absent.cairn"}, 2, "absent.cairn"},
           {{"diff", "--frames", "x", "a", "b"}, 2, "neither a frame"},
           {{"diff", ".", "absent.cairn"}, 2, "two traces or two folders"},
           {{"diff", "--limit", "-1", "a", "b"}, 2, "is not a number of differences"},
           {{"diff", "--limit", "99999999999999999999", "a", "b"},
            2,
            "is not a number of differences"},
           {{"diff", "--limit", "1,000", "--frames", "1,0-1,2", "a", "b"}, 2, "a: "},
           {{"diff", "--frames", "1", ".", "."}, 2, "are folders"},
           {{"diff", "-o", "out", "a", "b"}, 2, "needs --images"},
           {{"diff", "--images", "-o", "out", "a", "b"}, 2, "a: "}}) {
    const CommandResult result = Cairn(arguments);
    EXPECT_EQ(result.exit_code, code) << result.Summary();
    EXPECT_THAT(result.errors, HasSubstr(words));
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
    EXPECT_THAT(result.output, IsEmpty());
  }
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
}

}  // namespace
}  // namespace cairn::testing
