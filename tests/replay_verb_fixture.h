// SPDX-License-Identifier: Apache-2.0
//
// ReplayVerbTest: `cairn` on 20 frames of a sample, in the file a.cairn.
#ifndef CAIRN_TESTS_REPLAY_VERB_FIXTURE_H_
#define CAIRN_TESTS_REPLAY_VERB_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness.h"
#include "played.h"

namespace cairn::testing {

inline constexpr uint64_t kFrames = 20;

class ReplayVerbTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
  }
  Command::Options Options(int timeout_s = 120) const {
    return {.folder = folder_.path(), .environment = LavapipeEnvironment(), .timeout_s = timeout_s};
  }
  static std::vector<std::string> Arguments(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("cairn"));
    return arguments;
  }
  CommandResult Cairn(const std::vector<std::string>& arguments) {
    const CommandResult result = RunCommand(Arguments(arguments), Options());
    EXPECT_FALSE(result.timed_out) << result.Summary();
    EXPECT_THAT(result.left_behind, ::testing::IsEmpty());
    return result;
  }
  void Capture() {
    const CommandResult result = Cairn({"run", "--quiet", "--capture", "--hash-frames", "-o",
                                        "a.cairn", "--", Program("sample-scale-d3d12-plain"),
                                        "--frames", std::to_string(kFrames), "--calls", "100"});
    ASSERT_EQ(result.exit_code, 0) << result.Summary();
  }
  // Returns the output of `cairn replay --hash`: a line for each frame.
  std::string Hashes(std::vector<std::string> options, const std::string& file = "a.cairn") {
    options.insert(options.begin(), {"replay", "--hash", "--quiet"});
    options.push_back(file);
    const CommandResult result = Cairn(options);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    EXPECT_EQ(result.errors, "");
    return result.output;
  }

  TemporaryFolder folder_;
};

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_REPLAY_VERB_FIXTURE_H_
