// SPDX-License-Identifier: Apache-2.0
//
// The Vulkan layer with recordings and queues used in every way that Vulkan allows, and with devices that
// fault, on the test driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vulkan_icd_report.h"

namespace cairn::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class VulkanLayerIcd : public ::testing::Test {
 protected:
  IcdReport Run(const std::string& scenario, const std::string& mode = "full",
                const std::string& icd = "") {
    IcdRun run;
    run.scenario = scenario;
    run.mode = mode;
    run.icd = icd;
    IcdReport report = RunOnTestDriver(run, folder_);
    EXPECT_TRUE(report.json.is_object()) << report.result.Summary();
    return report;
  }
  std::string Text() const { return IcdTextReport(folder_); }

  // States of the executions of the list with this name, in the report's order.
  static std::vector<std::string> Executions(const IcdReport& report, const std::string& list) {
    std::vector<std::string> states;
    for (const nlohmann::json& execution : report.json.at("executions")) {
      if (execution.at("name") == list) states.push_back(execution.at("state"));
    }
    return states;
  }

  TemporaryFolder folder_;
};

TEST_F(VulkanLayerIcd, ListThatRunsManyTimesAtOnce) {
  const IcdReport report = Run("simultaneous");
  EXPECT_THAT(report.candidates, Contains("First")) << Text();
  const std::vector<std::string> states = Executions(report, "Prerecorded");
  ASSERT_FALSE(states.empty()) << Text();
  EXPECT_EQ(states.back(), "in flight") << Text();
}

TEST_F(VulkanLayerIcd, RunsThatHaveNotStarted) {
  const IcdReport report = Run("simultaneous-waiting");
  for (const std::string& state : Executions(report, "Prerecorded")) {
    EXPECT_NE(state, "completed") << Text();
  }
}

TEST_F(VulkanLayerIcd, ListThatIsSubmittedAgain) {
  const IcdReport report = Run("resubmitted");
  EXPECT_THAT(report.candidates, ElementsAre("First")) << Text();
  EXPECT_EQ(report.states.at("Second"), "not started");
}

TEST_F(VulkanLayerIcd, SecondaryCommandBuffers) {
  const IcdReport report = Run("secondaries");
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
  EXPECT_EQ(report.states.at("Before"), "completed");
  EXPECT_EQ(report.states.at("A"), "completed") << Text();
  EXPECT_EQ(report.states.at("C"), "completed") << Text();
  EXPECT_EQ(report.states.at("Behind"), "not started");
}

TEST_F(VulkanLayerIcd, SecondaryThatMayRunManyTimesAtOnce) {
  const IcdReport report = Run("simultaneous-secondaries");
  EXPECT_THAT(report.candidates, Contains("Culprit")) << Text();
  EXPECT_EQ(report.states.at("Before"), "completed");
  EXPECT_NE(report.states.at("Culprit"), "completed");
  EXPECT_EQ(report.states.at("Behind"), "not started");
}

TEST_F(VulkanLayerIcd, SecondaryExecutedAgain) {
  const IcdReport report = Run("secondary-again");
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
}

TEST_F(VulkanLayerIcd, QueueThatOnlyCopies) {
  const IcdReport report = Run("transfer-queue");
  EXPECT_THAT(report.candidates, ElementsAre("Culprit")) << Text();
  EXPECT_EQ(report.states.at("First"), "completed");
  EXPECT_EQ(report.states.at("Last"), "not started");
}

}  // namespace
}  // namespace cairn::testing
