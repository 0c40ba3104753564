// SPDX-License-Identifier: Apache-2.0
//
// What misleads whoever reads markers: late, lost and reordered ones, overlapping work, values of an
// earlier submission, faults behind their work, several queues. In each of these the work that hangs is
// among the candidates, and nothing is called completed that is not. With the layer, and with libcairn
// called by the program itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reader/report/work_states.h"
#include "vulkan_icd_report.h"

namespace cairn::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class VulkanPitfalls : public IcdTest, public ::testing::WithParamInterface<bool> {
 protected:
  IcdReport Run(const std::string& scenario, const std::string& mode = "full",
                const std::string& icd = "") {
    return RunReported(
        {.scenario = scenario, .explicit_cairn = GetParam(), .mode = mode, .icd = icd});
  }
};

INSTANTIATE_TEST_SUITE_P(, VulkanPitfalls, ::testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "Explicit" : "Layer";
});

TEST_P(VulkanPitfalls, PlainHangIsExact) {
  const IcdReport report = Run("hang");
  EXPECT_THAT(report.incidents, Contains("hang"));
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
  EXPECT_EQ(report.states.at("First"), kCompletedWord);
  EXPECT_EQ(report.states.at("Last"), kNotStartedWord);
}

TEST_P(VulkanPitfalls, MarkersThatComeLate) {
  const IcdReport report = Run("late-markers");
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
  EXPECT_EQ(report.states.at("First"), kCompletedWord);
}

TEST_P(VulkanPitfalls, BottomMarkersThatComeTooLate) {
  const IcdReport report = Run("late-bottoms");
  EXPECT_THAT(report.candidates, ElementsAre("First", "Culprit")) << Text();
}

TEST_P(VulkanPitfalls, LostBottomMarker) {
  const IcdReport report = Run("lost-bottom");
  EXPECT_THAT(report.candidates, Contains("Culprit")) << Text();
  EXPECT_NE(report.states.at("Culprit"), kCompletedWord);
  EXPECT_NE(report.states.at("Culprit"), kNotStartedWord);
}

TEST_P(VulkanPitfalls, LostTopMarkerLeavesTheLabelAround) {
  const IcdReport report = Run("lost-top");
  EXPECT_THAT(report.candidates, ElementsAre("Around")) << Text();
  EXPECT_EQ(report.states.at("First"), kCompletedWord);
  EXPECT_NE(report.states.at("Culprit"), kCompletedWord);
}

TEST_P(VulkanPitfalls, LostTopMarkerOfOverlappedWork) {
  const IcdReport report = Run("lost-top-overlapped");
  EXPECT_THAT(report.candidates, Contains("Culprit")) << Text();
}

TEST_P(VulkanPitfalls, OverlappingWork) {
  const IcdReport report = Run("overlap");
  EXPECT_THAT(report.candidates, ElementsAre("Culprit", "Second", "Third")) << Text();
  EXPECT_EQ(report.states.at("Before"), kCompletedWord);
  EXPECT_EQ(report.states.at("Never"), kNotStartedWord);
}

TEST_P(VulkanPitfalls, StaleValuesOnResubmission) {
  const IcdReport report = Run("stale");
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
  EXPECT_EQ(report.states.at("Last"), kNotStartedWord);
}

TEST_P(VulkanPitfalls, StaleValuesOfASubmissionThatWaits) {
  const IcdReport report = Run("stale-waiting");
  EXPECT_NE(report.states.at("Work"), kCompletedWord) << Text();
}

TEST_P(VulkanPitfalls, ReorderedMarkers) {
  const IcdReport report = Run("reordered");
  EXPECT_THAT(report.candidates, Contains("Culprit")) << Text();
  EXPECT_NE(report.states.at("Culprit"), kCompletedWord);
  EXPECT_NE(report.states.at("Last"), kCompletedWord);
}

// In mode top nothing is claimed about what finished within a list.
TEST_P(VulkanPitfalls, FaultAfterCompletionInModeTop) {
  const IcdReport report = Run("fault-after-completion", "top");
  EXPECT_THAT(report.candidates, Contains("Culprit")) << Text();
}

// docs/internals/analysis.md, "What no reading of words can tell": the culprit is the last that finished.
TEST_P(VulkanPitfalls, FaultAfterCompletionPointsAtTheVictim) {
  const IcdReport report = Run("fault-after-completion");
  EXPECT_THAT(report.candidates, ElementsAre("Victim")) << Text();
  EXPECT_EQ(report.states.at("Culprit"), kCompletedWord);
}

// In mode exact a canary comes next, and it is the canary that does not end.
TEST_P(VulkanPitfalls, InModeExactTheCanaryIsTheVictim) {
  if (GetParam()) return;  // that program asks for a mode itself
  for (const char* icd : {"", "no-buffer-marker"}) {
    const IcdReport report = Run("fault-after-completion", "exact", icd);
    EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << icd << Text();
    EXPECT_EQ(report.states.at("First"), kCompletedWord);
    EXPECT_EQ(report.states.at("Victim"), kNotStartedWord);
  }
}

// Work that overlaps otherwise does not overlap here, and late or reordered writes have arrived
// before the next work starts.
TEST_P(VulkanPitfalls, InModeExactTheCulpritIsAlone) {
  if (GetParam()) return;
  for (const char* scenario :
       {"hang", "overlap", "reordered", "device-lost", "late-bottoms", "lost-bottom", "stale",
        "render-pass", "secondaries", "transfer-queue"}) {
    const IcdReport report = Run(scenario, "exact");
    EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << scenario << Text();
  }
}

// A late device of this vendor is no evidence about this run: a suspect would be innocent ten times
// as often as guilty.
TEST_P(VulkanPitfalls, NobodyIsSuspectedForTheNameOfTheVendor) {
  for (const char* scenario : {"fault-after-completion", "hang", "device-lost"}) {
    for (const char* mode : {"full", "top"}) {
      EXPECT_THAT(Run(scenario, mode, "nvidia").late_suspects, IsEmpty()) << Text();
    }
  }
}

TEST_P(VulkanPitfalls, SeveralQueues) {
  const IcdReport report = Run("several-queues");
  EXPECT_THAT(report.candidates, Contains("Culprit")) << Text();
  EXPECT_THAT(report.candidates, Not(Contains("Uploaded")));
  EXPECT_THAT(report.candidates, Not(Contains("Waits")));
  EXPECT_EQ(report.states.at("Uploaded"), kCompletedWord);
  EXPECT_EQ(report.states.at("First"), kCompletedWord);
  EXPECT_NE(report.states.at("Waits"), kCompletedWord);
}

TEST_P(VulkanPitfalls, ShortLineOfBottomWrites) {
  const IcdReport report = Run("overlap", "full", "bottom-line=2");
  EXPECT_THAT(report.candidates, Contains("Culprit")) << Text();
  EXPECT_NE(report.states.at("Third"), kCompletedWord);
}

TEST_P(VulkanPitfalls, FillsInsteadOfMarkers) {
  const IcdReport report = Run("hang", "full", "no-buffer-marker");
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
  EXPECT_EQ(report.json.at("devices").at(0).at("write_method"), "vkCmdFillBuffer");
}

TEST_P(VulkanPitfalls, MirroredWords) {
  const IcdReport report = Run("hang", "full", "refuse-imports");
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
  EXPECT_EQ(report.json.at("devices").at(0).at("word_memory"), "mirrored");
}

TEST_P(VulkanPitfalls, ModePass) {
  if (GetParam()) return;  // modes top and full are enough for that program
  const IcdReport report = Run("hang", "pass");
  EXPECT_THAT(report.candidates, Contains("Culprit")) << Text();
  EXPECT_EQ(report.states.at("First"), kCompletedWord);
}

TEST_P(VulkanPitfalls, DeviceLost) {
  const IcdReport report = Run("device-lost");
  EXPECT_THAT(report.incidents, Contains("device lost")) << Text();
  EXPECT_EQ(report.result.exit_code, 1);
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
}

}  // namespace
}  // namespace cairn::testing
