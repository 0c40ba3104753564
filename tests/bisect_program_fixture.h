// SPDX-License-Identifier: Apache-2.0
//
// For tests of `cairn bisect -- PROGRAM`.
#ifndef CAIRN_TESTS_BISECT_PROGRAM_FIXTURE_H_
#define CAIRN_TESTS_BISECT_PROGRAM_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "harness.h"
#include "played.h"

namespace cairn::testing {

inline std::vector<std::string> Words(std::vector<std::string> words,
                                      const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class SearchOfProgramsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
  }
  Command::Options Options() {
    return {.folder = folder_.path(),
            .environment = Words(LavapipeEnvironment(), environment_),
            .input = "",
            .timeout_s = 240};
  }

  CommandResult Run(const std::vector<std::string>& arguments) {
    const CommandResult result = RunCommand(Words({Program("cairn")}, arguments), Options());
    EXPECT_FALSE(result.timed_out) << result.Summary();
    EXPECT_THAT(result.left_behind, ::testing::IsEmpty()) << result.Summary();
    return result;
  }

  // The answer, with this exit code; without the search for the cause (bisect_why_test.cc).
  Json Bisect(const std::vector<std::string>& options, const std::vector<std::string>& program,
              int exit_code = 0) {
    const CommandResult result =
        Run(Words(Words({"bisect", "--json", "--no-why"}, options), Words({"--"}, program)));
    EXPECT_EQ(exit_code, result.exit_code) << result.Summary();
    const Json answer = Json::Parse(result.output);
    EXPECT_TRUE(answer.is_object()) << result.Summary();
    if (!answer.is_object()) return answer;
    const Json schema =
        Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/bisect-program.schema.json");
    EXPECT_EQ("", SchemaViolation(schema, answer)) << answer.dump(2);
    return answer;
  }

  TemporaryFolder folder_;
  std::vector<std::string> environment_;  // "NAME=value", besides
};

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_BISECT_PROGRAM_FIXTURE_H_
