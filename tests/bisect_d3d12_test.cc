// SPDX-License-Identifier: Apache-2.0
//
// Programs that hang or crash the GPU, searched by `cairn bisect`, captured or run again and again: what it names is
// the call that the sample is about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "bisect_answers.h"
#include "harness.h"
#include "played.h"

namespace cairn::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class BisectTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
  }
  CommandResult Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("cairn"));
    const CommandResult result = RunCommand(arguments, {.folder = folder_.path(),
                                                        .environment = LavapipeEnvironment(),
                                                        .input = "",
                                                        .timeout_s = 240});
    EXPECT_FALSE(result.timed_out) << result.Summary();
    return result;
  }

  // Captures the sample into a.cairn.
  void Capture(const std::string& sample, const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments = {
        "run", "--capture",      "-o", "a.cairn",      "--hang-timeout",
        "2",   "--kill-on-hang", "--", Program(sample)};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const CommandResult result = Run(arguments);
    EXPECT_NE(0, result.exit_code) << "it was to fail: " << result.Summary();
    ASSERT_TRUE(std::filesystem::exists(folder_ / "a.cairn")) << result.Summary();
  }

  Json Bisect(const std::string& file, const std::vector<std::string>& options = {}) {
    return Answer(options, {file}, "/docs/formats/bisect.schema.json");
  }
  Json BisectProgram(const std::string& sample, const std::vector<std::string>& options = {}) {
    std::vector<std::string> program = {"--", Program(sample)};
    program.insert(program.end(), options.begin(), options.end());
    return Answer({}, program, "/docs/formats/bisect-program.schema.json");
  }

  // The numbers of the trace's dispatches, in order.
  std::vector<uint64_t> Dispatches() {
    const CommandResult result = Run({"calls", "--json", "--function", "Dispatch", "a.cairn"});
    EXPECT_EQ(0, result.exit_code) << result.Summary();
    std::vector<uint64_t> numbers;
    std::istringstream lines(result.output);
    for (std::string line; std::getline(lines, line);) {
      const Json call = Json::Parse(line);
      if (call.is_object() && call.value("kind", "") == "call") {
        numbers.push_back(call["number"].get<uint64_t>());
      }
    }
    return numbers;
  }

  TemporaryFolder folder_;

 private:
  Json Answer(const std::vector<std::string>& options, const std::vector<std::string>& of,
              const std::string& schema) {
    std::vector<std::string> arguments = {"bisect", "--json", "--no-why", "--hang-timeout", "2"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), of.begin(), of.end());
    const CommandResult result = Run(arguments);
    EXPECT_EQ(0, result.exit_code) << result.Summary();
    const Json answer = Json::Parse(result.output);
    EXPECT_TRUE(answer.is_object()) << result.Summary();
    EXPECT_EQ("", SchemaViolation(Json::ParseFile(CAIRN_SOURCE_DIR + schema), answer))
        << answer.dump(2);
    return answer;
  }
};

TEST_F(BisectTest, TheDispatchThatKillsTheProcess) {
  Capture("sample-fault-d3d12-plain");
  const Json answer = Bisect("a.cairn");
  ASSERT_TRUE(answer.value("found", false).get<bool>()) << answer.dump(2);
  EXPECT_EQ("death", answer["failure"]);
  ASSERT_EQ(1u, answer["culprits"].size()) << answer.dump(2);
  const Json culprit = answer["culprits"][0];
  EXPECT_EQ("call", culprit["kind"]);
  EXPECT_THAT(culprit["text"].get<std::string>(), HasSubstr("Dispatch("));
  EXPECT_THAT(PathOf(culprit), Contains("Particles"));
  EXPECT_THAT(PathOf(culprit), Contains("Scatter to nowhere"));
  // After "Clear" and "Scatter to a buffer".
  const std::vector<uint64_t> dispatches = Dispatches();
  ASSERT_EQ(4u, dispatches.size());
  EXPECT_EQ(dispatches[2], culprit["call"].get<uint64_t>());
  EXPECT_EQ("clean", answer["without"]);

  // The minimal trace fails by itself, at the same call.
  EXPECT_EQ("a.minimal.cairn", answer["minimal_trace"]);
  const Json again = Bisect("a.minimal.cairn", {"--no-output"});
  ASSERT_EQ(1u, again["culprits"].size()) << again.dump(2);
  EXPECT_EQ(culprit["call"], again["culprits"][0]["call"]);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.bisect"));
}

TEST_F(BisectTest, TheDispatchOfTheSecondOfTwoDevices) {
  Capture("sample-two-devices-d3d12", {"--fault"});
  const Json answer = Bisect("a.cairn", {"--no-output"});
  ASSERT_EQ(1u, answer["culprits"].size()) << answer.dump(2);
  EXPECT_THAT(answer["culprits"][0]["text"].get<std::string>(), HasSubstr("Dispatch("));
  EXPECT_THAT(PathOf(answer["culprits"][0]), Contains("Scatter"));
  EXPECT_EQ("clean", answer["without"]);
}

TEST_F(BisectTest, TheDispatchThatHangs) {
  // The sample finds out on a machine under load how much work that is: without the load it may take a tenth
  // of it, and is to outlast the time-out all the same. Nobody waits for its end.
  Capture("sample-hang-d3d12-plain", {"--seconds", "60"});
  const Json answer = Bisect("a.cairn");
  ASSERT_TRUE(answer.value("found", false).get<bool>()) << answer.dump(2);
  EXPECT_EQ("hang", answer["failure"]);
  ASSERT_EQ(1u, answer["culprits"].size()) << answer.dump(2);
  const Json culprit = answer["culprits"][0];
  EXPECT_THAT(culprit["text"].get<std::string>(), HasSubstr("Dispatch("));
  EXPECT_THAT(PathOf(culprit), Contains("Simulate"));
  EXPECT_THAT(PathOf(culprit), Contains("Integrate"));
  // The last but one: before it the sample's trials of how long a dispatch takes, "Clear", "Upload",
  // "Forces" and "Collisions", after it "Resolve".
  const std::vector<uint64_t> dispatches = Dispatches();
  ASSERT_LT(6u, dispatches.size());
  EXPECT_EQ(dispatches[dispatches.size() - 2], culprit["call"].get<uint64_t>())
      << ::testing::PrintToString(dispatches) << answer.dump(2);
  EXPECT_EQ("clean", answer["without"]);
}

TEST_F(BisectTest, AFaultThatOnlyALaterDispatchShowsTakesBoth) {
  Capture("sample-late-fault-d3d12");
  const Json answer = Bisect("a.cairn");
  ASSERT_TRUE(answer.value("found", false).get<bool>()) << answer.dump(2);
  EXPECT_EQ("death", answer["failure"]);
  ASSERT_EQ(2u, answer["culprits"].size()) << answer.dump(2);
  EXPECT_THAT(PathOf(answer["culprits"][0]), Contains("Emit"));
  EXPECT_THAT(PathOf(answer["culprits"][1]), Contains("Scatter"));
  EXPECT_LT(answer["culprits"][0]["submission"].get<uint64_t>(),
            answer["culprits"][1]["submission"].get<uint64_t>());
  EXPECT_EQ("a.minimal.cairn", answer["minimal_trace"]);
}

// Two dispatches in two submissions of the last of four frames: each frame records the same work.
TEST_F(BisectTest, AProgramWhoseFaultTakesTwoDispatches) {
  const Json answer = BisectProgram("sample-late-fault-d3d12");
  ASSERT_EQ(true, answer["found"]) << answer.dump(2);
  EXPECT_EQ("death", answer["failure"]);
  ASSERT_EQ(1u, answer["culprits"].size()) << answer.dump(2);
  const Json both = answer["culprits"][0];
  ASSERT_EQ(2u, both.size()) << answer.dump(2);
  EXPECT_THAT(PathOf(both[0]), Contains("Emit"));
  EXPECT_THAT(PathOf(both[1]), Contains("Scatter"));
  EXPECT_EQ(4, both[1]["submitted"]);
  ExpectSure(answer);
}

TEST_F(BisectTest, AProgramWhoseDispatchKillsIt) {
  const Json answer = BisectProgram("sample-fault-d3d12-plain");
  ASSERT_EQ(true, answer["found"]) << answer.dump(2);
  ASSERT_EQ(1u, answer["culprits"].size()) << answer.dump(2);
  EXPECT_THAT(PathOf(answer["culprits"][0][0]), Contains("Scatter to nowhere"));
  ExpectSure(answer);
}

TEST_F(BisectTest, AProgramWhoseDispatchHangs) {
  const Json answer = BisectProgram("sample-hang-d3d12-plain", {"--seconds", "60"});
  ASSERT_EQ(true, answer["found"]) << answer.dump(2);
  EXPECT_EQ("hang", answer["failure"]);
  ASSERT_EQ(1u, answer["culprits"].size()) << answer.dump(2);
  EXPECT_THAT(PathOf(answer["culprits"][0][0]), Contains("Integrate"));
  ExpectSure(answer);
}

TEST_F(BisectTest, WhatDoesNotFailHasNoCulprit) {
  const CommandResult run = Run({"run", "--capture", "-o", "a.cairn", "--",
                                 Program("sample-triangle-d3d12-plain"), "triangle.png"});
  ASSERT_TRUE(std::filesystem::exists(folder_ / "a.cairn")) << run.Summary();
  const CommandResult result = Run({"bisect", "a.cairn"});
  EXPECT_EQ(1, result.exit_code) << result.Summary();
  EXPECT_THAT(result.output, HasSubstr("does not fail on this device"));
  EXPECT_THAT(result.output, HasSubstr("Tried     2 replays of the whole trace, "));
  EXPECT_THAT(result.output, HasSubstr("Device    " + LavapipeName()));
  EXPECT_THAT(result.output, HasSubstr(", with " + Direct3D12Library()));
  EXPECT_THAT(result.output, HasSubstr("counts as a hang\n"));
  EXPECT_THAT(result.output, HasSubstr("Recorded  no report"));
  EXPECT_THAT(result.output, HasSubstr("Next      the device and the driver on which it failed"));
}

// Answers of another device are none: they are kept for who goes on there.
TEST_F(BisectTest, AJournalOfAnotherDeviceIsPutAside) {
  Capture("sample-fault-d3d12-plain");
  const std::string other =
      "cairn bisect journal 3\nfor trace: 1 2 whole 3 records\nfor device: NVIDIA H200\nanswers\n"
      "00000000000000ff clean 1 0 1\n";
  std::ofstream(folder_ / "a.bisect", std::ios::binary) << other;
  const CommandResult result = Run({"bisect", "--json", "--no-why", "--no-output", "a.cairn"});
  EXPECT_EQ(0, result.exit_code) << result.Summary();
  EXPECT_THAT(
      result.errors,
      HasSubstr("starts over: a.bisect belongs to another search, and is now a.bisect.old"));
  EXPECT_THAT(result.errors, HasSubstr("--journal a.bisect.old resumes it"));
  EXPECT_THAT(result.errors, HasSubstr("device: there NVIDIA H200, here " + LavapipeName()));
  EXPECT_THAT(result.errors, HasSubstr("driver: there not said, here "));
  EXPECT_THAT(result.errors, HasSubstr("options: there not said, here --hang-timeout 10"));
  EXPECT_THAT(result.errors, HasSubstr("library: there not said, here "));
  EXPECT_EQ(other, ReadFile(folder_ / "a.bisect.old"));
  const Json answer = Json::Parse(result.output);
  EXPECT_THAT(answer.value("device", "").get<std::string>(), StartsWith(LavapipeName()));
  EXPECT_EQ(2, answer.value("asked", 0));
}

TEST_F(BisectTest, WhatItWouldReplaceIsRefusedBeforeTheSearch) {
  Capture("sample-fault-d3d12-plain");
  const std::string trace = ReadFile(folder_ / "a.cairn");
  const std::vector<std::string> before = folder_.Contents();
  const auto error = [this](std::vector<std::string> arguments, int exit_code) {
    arguments.insert(arguments.begin(), "bisect");
    arguments.push_back("a.cairn");
    const CommandResult result = Run(arguments);
    EXPECT_EQ(exit_code, result.exit_code) << result.Summary();
    EXPECT_EQ("", result.output);
    return result.errors;
  };
  EXPECT_THAT(error({"-o", "./a.cairn"}, 2), HasSubstr("is the trace"));
  EXPECT_THAT(error({"--journal", "a.cairn"}, 2), HasSubstr("is the trace"));
  // None of these files exists yet.
  EXPECT_THAT(error({"--journal", "./a.minimal.cairn"}, 2), HasSubstr("cannot be both"));
  EXPECT_THAT(error({"-o", folder_ / "a.bisect"}, 2), HasSubstr("cannot be both"));
  EXPECT_THAT(error({"-o", "none/x.cairn"}, 1), HasSubstr("no file can be written in"));
  EXPECT_THAT(error({"-o", "."}, 1), HasSubstr("is a directory"));
  EXPECT_EQ(before, folder_.Contents());
  EXPECT_EQ(trace, ReadFile(folder_ / "a.cairn"));
  EXPECT_THAT(error({"--max-probes", "-1"}, 2), HasSubstr("--max-probes"));
}

TEST_F(BisectTest, BadInputIsOneLine) {
  CommandResult result = Run({"bisect"});
  EXPECT_EQ(2, result.exit_code);
  result = Run({"bisect", "nowhere.cairn"});
  EXPECT_EQ(1, result.exit_code);
  EXPECT_THAT(result.errors, StartsWith("cairn bisect: "));
  EXPECT_EQ(result.errors.size() - 1, result.errors.find('\n')) << result.errors;
  result = Run({"bisect", "--hang-timeout", "0", "nowhere.cairn"});
  EXPECT_EQ(2, result.exit_code);
  EXPECT_THAT(result.errors, HasSubstr("--hang-timeout"));
}

}  // namespace
}  // namespace cairn::testing
