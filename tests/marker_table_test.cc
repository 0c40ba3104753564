// SPDX-License-Identifier: Apache-2.0
//
// The table with which the AGS documentation ends: markers before and behind eight draws, of which the first five
// have both and the others have neither. Also its kind: other places of the markers, several lists, devices
// that were not lost. The program is programs/marker_table.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/testing/json.h"
#include "harness.h"
#include "reader/report/work_states.h"

namespace cairn::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTable[] = "TDBTDBTDBTDBTDB!TDBTDBTDB";

class MarkerTableTest : public ::testing::Test {
 protected:
  // Writes a.cairn.
  void Run(const std::string& mode, const std::string& lists, const std::string& end) {
    const CommandResult result =
        RunCommand({Program("cairn"), "run", "-o", "a.cairn", "--no-layer", "--dump-on-exit", "--",
                    TestProgram("marker_table"), mode, lists, end},
                   {.folder = folder_.path()});
    ASSERT_EQ(result.exit_code, 0) << result.Summary();
  }
  std::string Text() {
    return RunCommand({Program("cairn"), "report", "--width", "0", "a.cairn"},
                      {.folder = folder_.path()})
        .output;
  }
  Json Report() {
    return Json::Parse(
        RunCommand({Program("cairn"), "report", "--json", "a.cairn"}, {.folder = folder_.path()})
            .output);
  }
  // For each work among the markers: F finished, R may run, r may run but is unlikely, N not started.
  static std::string States(const Json& report) {
    std::string states;
    for (const Json& verdict : report["raw_marker_verdicts"]) {
      if (verdict["consistent"] != true) states += '!';
      for (const Json& work : verdict["works"]) {
        const bool likely = work["likely"] == true;
        const auto state = work["state"].get<std::string>();
        states += state == kCompletedWord    ? 'F'
                  : state == kNotStartedWord ? 'N'
                  : likely                   ? 'R'
                                             : 'r';
      }
    }
    return states;
  }

  TemporaryFolder folder_;
};

class MarkerTableModesTest : public MarkerTableTest,
                             public ::testing::WithParamInterface<const char*> {};

TEST_P(MarkerTableModesTest, TheFirstDrawThatIsNotProvenIsTheLikelyCulprit) {
  Run(GetParam(), kTable, "lost");
  const Json report = Report();
  EXPECT_EQ(States(report), "FFFFFRrr");
  const Json suspect = report["verdict"]["suspects"][0];
  EXPECT_EQ(suspect["reason"], "raw marker lost");
  EXPECT_EQ(report["scopes"][suspect["scope"].get<uint32_t>()]["ordinal"], 6);
  EXPECT_NE(report["verdict"]["how_sure"], "proven");
  const std::string text = Text();
  EXPECT_THAT(text.substr(0, text.find("\n\n")),
              AllOf(HasSubstr("Device lost"), HasSubstr("in DRAW #6"),
                    HasSubstr("the marker before it is missing, but its write can be lost"),
                    Not(HasSubstr("proven"))));
  EXPECT_THAT(text, HasSubstr("the write of the top-of-pipe marker 11 before it can be lost with "
                              "the device"));
}

// The place between one draw's markers and the next one's is no suspect, even if draws have no
// scopes.
TEST_F(MarkerTableTest, WorkThatIsNotMarkedIsNamedByItsMarkers) {
  Run("full", "T.BT.BT.BT.BT.B!T.BT.BT.B", "lost");
  const Json report = Report();
  const Json suspect = report["verdict"]["suspects"][0];
  EXPECT_EQ(suspect["reason"], "raw marker lost");
  EXPECT_EQ(suspect["after_marker"], 11);
  EXPECT_TRUE(suspect["scope"].is_null());
  const std::string text = Text();
  EXPECT_THAT(text.substr(0, text.find("\n\n")),
              AllOf(HasSubstr(" in what was recorded after raw marker 11 "), HasSubstr("likely\n"),
                    HasSubstr("because   the first work that raw markers do not prove completed"),
                    HasSubstr("; the first of 2 suspects")));
}

// The table goes over several lists and submissions, and a barrier between is no culprit.
TEST_F(MarkerTableTest, ListsAndSubmissionsAreOneOrder) {
  Run("full", "TDBTDBTDB!/bTDBTDB", "lost");
  const Json report = Report();
  EXPECT_EQ(States(report), "FFFrRr");
  const Json suspect = report["verdict"]["suspects"][0];
  EXPECT_EQ(suspect["reason"], "raw marker lost");
  EXPECT_EQ(suspect["execution"], 1);
}

// With bottom markers alone, words that say "not started" come from the top of the pipe as well.
TEST_F(MarkerTableTest, WordsCanBeLostToo) {
  Run("full", "DBDBDB!DB", "lost");
  const Json report = Report();
  EXPECT_EQ(States(report), "FFFR");
  EXPECT_EQ(report["verdict"]["suspects"][0]["reason"], "raw marker lost");
}

TEST_F(MarkerTableTest, WhereACandidateIsLeftNoStoreWasLost) {
  // Top markers alone.
  Run("top", "TDT(!)TDTD", "lost");
  EXPECT_EQ(States(Report()), "RRNN");
  // The draw's own top marker arrived.
  Run("top", "TDBTDBTDBTDBTDBT(!)BTDBTDB", "lost");
  EXPECT_EQ(States(Report()), "FFFFFRNN");
}

TEST_F(MarkerTableTest, ADeviceThatWasNotLostLosesNoStore) {
  Run("full", kTable, "alive");
  const Json report = Report();
  EXPECT_EQ(States(report), "FFFFFNNN");
  for (const Json& suspect : report["verdict"]["suspects"]) {
    EXPECT_NE(suspect["reason"], "raw marker lost");
  }
  EXPECT_THAT(Text(), HasSubstr("all that lies between raw markers had completed or not begun"));
}

// All work is completed: no work is a suspect.
TEST_F(MarkerTableTest, FinishedWorkIsNoCulprit) {
  Run("full", "TDBTDB", "lost");
  const Json report = Report();
  EXPECT_EQ(States(report), "FF");
  EXPECT_EQ(report["verdict"]["how_sure"], "all completed");
}

INSTANTIATE_TEST_SUITE_P(Modes, MarkerTableModesTest, ::testing::Values("top", "full"));

}  // namespace
}  // namespace cairn::testing
