// SPDX-License-Identifier: Apache-2.0
//
// ReplayTest: a program is recorded into a.cairn, and that is played.
#ifndef CAIRN_TESTS_REPLAY_FIXTURE_H_
#define CAIRN_TESTS_REPLAY_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness.h"
#include "played.h"

namespace cairn::testing {

class ReplayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
  }
  CommandResult Run(const std::vector<std::string>& arguments,
                    std::vector<std::string> environment = {}) {
    environment.push_back("VKD3D_DEBUG=none");
    const CommandResult result = RunCommand(
        arguments, {.folder = folder_.path(), .environment = environment, .timeout_s = 120});
    EXPECT_FALSE(result.timed_out);
    EXPECT_THAT(result.left_behind, ::testing::IsEmpty());
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

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_REPLAY_FIXTURE_H_
