// SPDX-License-Identifier: Apache-2.0
//
// sample-raw-markers-vulkan on lavapipe: which markers arrive while a draw hangs, what follows from them, and
// what `cairn report` says when the program dies there. The sample itself fails if a marker that waits for
// nothing does not arrive, or if what follows contradicts the truth: with top and bottom of pipe exchanged,
// anywhere on the way to the GPU, it does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "base/testing/json.h"
#include "harness.h"
#include "reader/report/work_states.h"

namespace cairn::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class RawMarkersSampleTest : public ::testing::Test {
 protected:
  CommandResult Run(std::vector<std::string> command) {
    return RunCommand(command, {.folder = folder_.path(), .environment = LavapipeEnvironment()});
  }
  std::string Sample() const { return Program("sample-raw-markers-vulkan"); }

  TemporaryFolder folder_;
};

TEST_F(RawMarkersSampleTest, TheFiveExamplesGiveTheAnswersOfTheDocumentation) {
  const CommandResult result = Run({Sample()});
  ASSERT_EQ(result.exit_code, 0) << result.Summary();
  const std::string& output = result.output;
  // Behind a bottom marker lavapipe holds everything up, as docs/reference/raw-markers.md says of barriers.
  for (const char* line : {
           "Example 1: DrawX hangs, written: 1 2 3, it may be: DrawX\n",
           "Example 2: DrawX hangs, written: 1, it may be: DrawX\n",
           "Example 2: DrawY hangs, written: 1 2 3, it may be: DrawY\n",
           "Example 3: DrawX hangs, written: 1, it may be: DrawX DrawY DrawZ\n",
           "Example 3: DrawY hangs, written: 1 2, it may be: DrawY DrawZ\n",
           "Example 3: DrawZ hangs, written: 1 2 3, it may be: DrawZ\n",
           "Example 5: DrawX hangs, written: 1, it may be: DrawX DrawY (unlikely)\n",
           "Example 5: DrawY hangs, written: 1 2 3, it may be: DrawY\n",
       }) {
    EXPECT_THAT(output, HasSubstr(line));
  }
  // The driver decides if it fetches the next draw while the one before it runs.
  EXPECT_THAT(output,
              AnyOf(HasSubstr("Example 4: DrawX hangs, written: 1 2, it may be: DrawX DrawY\n"),
                    HasSubstr("Example 4: DrawX hangs, written: 1 2 3, it may be: DrawX DrawY "
                              "DrawZ\n")));
  EXPECT_THAT(output, HasSubstr("Example 4: DrawZ hangs, written: 1 2 3, it may be: DrawX DrawY "
                                "DrawZ\n"));
  EXPECT_THAT(output, HasSubstr("The draw count is 4; the top marker is 00000000DEADCAFE and the "
                                "bottom marker is 00000000DEADBEEF\n"));
  EXPECT_THAT(output, HasSubstr("The draw count is 5; the top marker is 00000000DEADCAFE and the "
                                "bottom marker is CDCDCDCDCDCDCDCD\n"));
  EXPECT_THAT(output, HasSubstr("The draw count is 6; the top marker is CDCDCDCDCDCDCDCD and the "
                                "bottom marker is CDCDCDCDCDCDCDCD\n"));
}

// In mode `top`, where nothing but the raw markers tells which draws have finished.
class RawMarkersReportTest : public RawMarkersSampleTest,
                             public ::testing::WithParamInterface<const char*> {};

TEST_P(RawMarkersReportTest, SaysWhatFollows) {
  const CommandResult died = Run({Program("cairn"), "run", GetParam(), "--breadcrumbs", "top", "-o",
                                  "a.cairn", "--", Sample(), "--kill"});
  ASSERT_EQ(died.exit_code, 128 + SIGKILL) << died.Summary();
  const std::string text = Run({Program("cairn"), "report", "--width", "0", "a.cairn"}).output;
  const size_t start = text.find("Conclusions from raw markers\n");
  ASSERT_NE(start, std::string::npos) << text;
  const std::string section = text.substr(start, text.find("\n\n", start) - start);
  EXPECT_THAT(section, AllOf(ContainsRegex("DRAW #6( \\(3 vertices, 1 instance\\))?: \"Draw 5\"\n"),
                             HasSubstr("may be running: the front end was at marker 11 at least"),
                             HasSubstr("marker 10: bottom of pipe, slot 9, 0x00000000deadbeef: "
                                       "written\n"),
                             HasSubstr("marker 11: top of pipe, slot 10, 0x00000000deadcafe: "
                                       "written\n"),
                             HasSubstr("marker 12: bottom of pipe, slot 11, 0x00000000deadbeef: "
                                       "missing\n"),
                             HasSubstr("marker 13: top of pipe, slot 12, 0x00000000deadcafe: "
                                       "missing\n")));

  const Json json = Json::Parse(Run({Program("cairn"), "report", "--json", "a.cairn"}).output);
  ASSERT_FALSE(json.is_discarded());
  ASSERT_EQ(json["raw_marker_verdicts"].size(), 1u);
  const Json verdict = json["raw_marker_verdicts"][0];
  EXPECT_EQ(verdict["consistent"], true);
  ASSERT_EQ(verdict["markers"].size(), 16u);
  std::string states;
  for (const Json& work : verdict["works"]) {
    if (work["scope"].is_null()) continue;
    const auto state = work["state"].get<std::string>();
    states += state == kCompletedWord ? 'F' : state == kNotStartedWord ? 'N' : 'R';
  }
  EXPECT_EQ(states, "FFFFFRNN");
  EXPECT_EQ(verdict["candidate_count"], 1);
  EXPECT_EQ(verdict["likely_count"], 1);
}

INSTANTIATE_TEST_SUITE_P(Layers, RawMarkersReportTest, ::testing::Values("--no-layer", "--quiet"));

}  // namespace
}  // namespace cairn::testing
