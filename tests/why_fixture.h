// SPDX-License-Identifier: Apache-2.0
//
// For tests of `cairn why`.
#ifndef CAIRN_TESTS_WHY_FIXTURE_H_
#define CAIRN_TESTS_WHY_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "bisect_program_fixture.h"
#include "harness.h"

namespace cairn::testing {

class SearchOfCausesTest : public SearchOfProgramsTest {
 protected:
  // The answer, with this exit code.
  Json Why(const std::vector<std::string>& options, const std::vector<std::string>& program,
           int exit_code) {
    return Answer(Words(options, Words({"--"}, program)), exit_code);
  }
  Json Answer(const std::vector<std::string>& words, int exit_code) {
    Command::Options run = Options();
    if (!environment_.empty()) run.environment = environment_;
    const CommandResult result = RunCommand(Words({Program("cairn"), "why", "--json"}, words), run);
    EXPECT_EQ(exit_code, result.exit_code) << result.Summary();
    EXPECT_THAT(result.left_behind, ::testing::IsEmpty()) << result.Summary();
    const Json answer = Json::Parse(result.output);
    EXPECT_TRUE(answer.is_object()) << result.Summary();
    if (!answer.is_object()) return answer;
    const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/why.schema.json");
    EXPECT_EQ("", SchemaViolation(schema, answer)) << answer.dump(2);
    return answer;
  }

  std::vector<std::string> environment_;  // in the place of that of Options(), unless it is empty
};

inline std::map<std::string, std::string> Verdicts(const Json& answer) {
  std::map<std::string, std::string> verdicts;
  for (const Json& result : answer["experiments"]) {
    verdicts[result["name"].get<std::string>()] = result["verdict"].get<std::string>();
  }
  return verdicts;
}

inline std::vector<std::string> Causes(const Json& answer) {
  std::vector<std::string> causes;
  for (const Json& cause : answer["causes"]) causes.push_back(cause.get<std::string>());
  return causes;
}

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_WHY_FIXTURE_H_
