// SPDX-License-Identifier: Apache-2.0
//
// A healthy Direct3D 12 program that submits nothing that counts as work: everything is seen to finish.
#include <gtest/gtest.h>

#include "base/testing/json.h"
#include "harness.h"
#include "played.h"
#include "reader/report/work_states.h"

namespace cairn::testing {
namespace {

// It waits for its fence by an event, which the layer does not see, and ends without releasing anything.
TEST(IdleTest, ListsWithoutWorkAreNoCandidates) {
  if (!WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
  const TemporaryFolder folder;
  const CommandResult run =
      RunCommand({Program("cairn"), "run", "--quiet", "--dump-on-exit", "-o", "a.cairn", "--",
                  TestProgram("idle_d3d12")},
                 {.folder = folder.path(), .environment = LavapipeEnvironment()});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  const CommandResult report =
      RunCommand({Program("cairn"), "report", "--json", folder / "a.cairn"}, {});
  const Json json = Json::Parse(report.output);
  ASSERT_TRUE(json.is_object()) << report.errors;
  ASSERT_EQ(json.at("executions").size(), 3u);
  for (const Json& execution : json.at("executions")) {
    EXPECT_EQ(execution.at("state").get<std::string>(), kCompletedWord) << execution;
  }
  for (const Json& verdict : json.at("verdicts")) {
    EXPECT_TRUE(verdict.at("list_candidates").empty()) << verdict;
  }
}

}  // namespace
}  // namespace cairn::testing
