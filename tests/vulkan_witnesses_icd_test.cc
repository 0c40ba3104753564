// SPDX-License-Identifier: Apache-2.0
//
// The Vulkan layer with what it is told of barriers, on the test driver, whose barriers hold the front end for the
// work of their source stages: true facts clear what has ended, in every scenario never what has not; others clear
// nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reader/report/work_states.h"
#include "vulkan_icd_report.h"

namespace cairn::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kKey[] =
    "636169726e2d64657669636500000000 636169726e2d64726976657200000000 00000001 cairn_test_driver";
// The true properties of the driver.
constexpr char kTrue[] =
    " 1700000000 marker 0:dispatch=execution:draw=execution:copy=execution "
    "1:dispatch=execution:draw=none:copy=execution";

// Work and labels that "barriers" reaches: six times four, and three.
constexpr size_t kReached = 27;

std::string Told(const std::string& facts, const std::string& key = kKey) {
  return "1;" + key + facts;
}

class VulkanWitnesses : public IcdTest {
 protected:
  IcdReport Run(const std::string& scenario, const std::string& witnesses,
                const std::string& mode = "top") {
    return RunReported({.scenario = scenario, .mode = mode, .witnesses = witnesses});
  }

  static std::string Source(const IcdReport& report) {
    return SourceOf(report, "barrier-based proof");
  }
};

TEST_F(VulkanWitnesses, BarriersClearWhatEndedBeforeThem) {
  const IcdReport report = Run("barriers", Told(kTrue));
  EXPECT_THAT(report.candidates, ElementsAre("Near", "Culprit", "Behind")) << Text();
  for (const char* name : {"First", "Sixth", "Drawn"}) {
    EXPECT_EQ(report.states.at(name), kCompletedWord) << Text();
  }
  EXPECT_EQ(report.states.at("Never"), kNotStartedWord);
  EXPECT_EQ(Source(report),
            "present: barriers for all stages behind dispatches; barriers for all stages behind "
            "draws; barriers for all stages behind copies; measured on 2023-11-14");
  EXPECT_THAT(Text(), AllOf(HasSubstr("Barriers at which this device was measured to wait prove "
                                      "completed: its work up to marker event"),
                            HasSubstr("look alike after that")));
}

TEST_F(VulkanWitnesses, WithoutFactsEverythingReachedIsACandidate) {
  for (const std::string& told :
       {std::string(), std::string("off"), std::string("none no cache")}) {
    const IcdReport report = Run("barriers", told);
    EXPECT_THAT(report.candidates, AllOf(SizeIs(kReached), Contains("First"), Contains("Culprit")))
        << told << Text();
    EXPECT_THAT(Source(report), HasSubstr("absent: ")) << told;
    EXPECT_THAT(Text(), Not(HasSubstr("prove completed")));
  }
}

TEST_F(VulkanWitnesses, BarriersThatHoldNothingClearNothing) {
  const IcdReport report =
      Run("barriers", Told(" 1700000000 marker 0:dispatch=never:draw=never:copy=never"));
  EXPECT_THAT(report.candidates, SizeIs(kReached)) << Text();
  EXPECT_EQ(Source(report),
            "absent: nothing behind dispatches; nothing behind draws; nothing behind copies; "
            "measured on 2023-11-14");
}

// Barriers for the stages of draws do not hold dispatches.
TEST_F(VulkanWitnesses, BarriersForTheStagesOfWork) {
  const IcdReport report =
      Run("barriers", Told(" 1700000000 marker 0:dispatch=stages:draw=stages:copy=stages"));
  EXPECT_THAT(report.candidates, ElementsAre("Near", "Culprit", "Behind")) << Text();
  EXPECT_EQ(report.states.at("Sixth"), kCompletedWord);
}

// A barrier that holds dispatches only proves nothing about draws.
TEST_F(VulkanWitnesses, OneKindOfWorkAlone) {
  const IcdReport report =
      Run("barriers", Told(" 1700000000 marker 0:dispatch=execution:draw=never:copy=never"));
  EXPECT_EQ(report.states.at("First"), kInFlightWord) << Text();  // the label, not its dispatch
  size_t draws = 0;
  for (const Json& verdict : report.json.at("verdicts")) {
    for (const Json& candidate : verdict.at("candidates")) {
      draws += candidate.at("type") == "DRAW" ? 1 : 0;
    }
  }
  EXPECT_EQ(draws, 6u) << Text();
  EXPECT_THAT(report.candidates, Contains("Culprit"));
  EXPECT_THAT(Text(), HasSubstr("prove completed: its dispatches up to marker event"));
}

TEST_F(VulkanWitnesses, ADispatchThatHoldsDraws) {
  const IcdReport report =
      Run("barriers", Told(" 1700000000 marker 0:dispatch=never:draw=never+work:copy=never"));
  EXPECT_THAT(Source(report), HasSubstr("present: nothing behind dispatches; dispatches behind"));
  EXPECT_THAT(Text(), HasSubstr("prove completed: its draws up to marker event"));
  EXPECT_THAT(report.candidates, Contains("Culprit"));
}

TEST_F(VulkanWitnesses, ModePassHasThemToo) {
  const IcdReport report = Run("barriers", Told(kTrue), "pass");
  EXPECT_THAT(Source(report), HasSubstr("present: "));
  EXPECT_THAT(report.candidates, ElementsAre("Culprit", "Behind")) << Text();
}

TEST_F(VulkanWitnesses, ModeFullNeedsNone) {
  const IcdReport report = Run("barriers", Told(kTrue), "full");
  EXPECT_EQ(Source(report), "");
  EXPECT_THAT(report.candidates, Contains("Culprit")) << Text();
  EXPECT_EQ(report.states.at("First"), kCompletedWord);
}

TEST_F(VulkanWitnesses, FactsOfOthersClearNothing) {
  std::string other = kKey;
  other[0] = '7';
  const std::pair<std::string, const char*> cases[] = {
      {Told(kTrue, other), "not measured on this device with this driver"},
      {Told(" 1700000000 fill 0:dispatch=any:draw=any:copy=any"),
       "measured for another way of writing words"},
      {Told(" 1700000000 hung"), "made no progress, and was killed, on 2023-11-14"},
      {Told(" 1700000000 marker 7:dispatch=any:draw=any:copy=any"), "present: "}};
  for (const auto& [told, why] : cases) {
    const IcdReport report = Run("barriers", told);
    EXPECT_THAT(report.candidates, SizeIs(kReached)) << told << Text();
    EXPECT_THAT(Source(report), HasSubstr(why)) << told;
  }
}

TEST_F(VulkanWitnesses, WhateverTheVariableHolds) {
  std::vector<std::string> values = {Told(kTrue) + ";",
                                     Told(kTrue) + ";" + std::string(kKey) + kTrue,
                                     "2" + Told(kTrue).substr(1),
                                     "\x1B[2J",
                                     "1;;;;",
                                     Told(" 99999999999999999999 marker 0:dispatch=any")};
#if !defined(_WIN32)  // whose variables are characters, 32,767 at most
  values.insert(values.end(), {"\x1B[2J\xFF", std::string(100'000, 'x')});
#endif
  for (const std::string& told : values) {
    const IcdReport report = Run("barriers", told);
    EXPECT_THAT(report.candidates, SizeIs(kReached)) << told.substr(0, 80);
    EXPECT_THAT(Source(report), HasSubstr("absent: CAIRN_WITNESSES is not used: "))
        << told.substr(0, 80);
    EXPECT_THAT(report.result.errors, HasSubstr("CAIRN_WITNESSES is not used: "));
  }
}

// In all that misleads whoever reads markers, the guilty is a candidate, and what has not ended is not called
// completed.
TEST_F(VulkanWitnesses, TheGuiltyStays) {
  for (const char* scenario :
       {"hang", "late-bottoms", "lost-bottom", "lost-top-overlapped", "overlap", "stale",
        "several-queues", "secondaries", "secondary-again", "render-pass",
        "simultaneous-secondaries", "transfer-queue"}) {
    const IcdReport report = Run(scenario, Told(kTrue));
    EXPECT_THAT(report.candidates, Contains("Culprit")) << scenario << Text();
    EXPECT_EQ(report.states.at("Culprit"), kInFlightWord) << scenario << Text();
  }
  for (const char* scenario : {"simultaneous", "resubmitted"}) {
    const IcdReport report = Run(scenario, Told(kTrue));
    EXPECT_THAT(report.candidates, Contains("First")) << scenario << Text();
  }
}

}  // namespace
}  // namespace cairn::testing
