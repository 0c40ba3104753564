// SPDX-License-Identifier: Apache-2.0
//
// `cairn bisect -- PROGRAM`: Vulkan programs that hang, crash, or do neither, run again and again on a real driver. The
// work that it names is the one that each program is about. Those of Direct3D 12: bisect_d3d12_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#if !defined(_WIN32)
#include <signal.h>
#endif

#include <string>

#include "base/testing/json.h"
#include "bisect_answers.h"
#include "bisect_program_fixture.h"
#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using BisectVulkanProgramTest = SearchOfProgramsTest;

TEST_F(BisectVulkanProgramTest, AVulkanDispatchThatKillsTheProcess) {
  const Json answer = Bisect({"-o", "culprit.cairn"}, {Program("sample-fault-vulkan-plain")});
  ASSERT_EQ(true, answer["found"]) << answer.dump(2);
  EXPECT_EQ("death", answer["failure"]);
#if !defined(_WIN32)  // under Wine a fault in a thread of the driver's is an end with 1
  EXPECT_EQ(SIGSEGV, answer["signal"]);
#endif
  ASSERT_EQ(1u, answer["culprits"].size()) << answer.dump(2);
  const Json culprit = answer["culprits"][0][0];
  EXPECT_EQ("work", culprit["kind"]);
  EXPECT_EQ("DISPATCH", culprit["type"]);
  EXPECT_THAT(PathOf(culprit), Contains("Particles"));
  EXPECT_THAT(PathOf(culprit), Contains("Scatter to nowhere"));
  EXPECT_THAT(culprit["pipeline"].get<std::string>(), HasSubstr("Scatter"));
  EXPECT_EQ(1, culprit["submitted"]);
  ExpectSure(answer);
  // The report is of a run with the culprit alone, and the journal is gone.
  EXPECT_THAT(folder_.Contents(), ElementsAre("culprit.cairn"));
  const CommandResult report = Run({"report", "culprit.cairn"});
  EXPECT_EQ(0, report.exit_code) << report.Summary();
  EXPECT_THAT(report.output, HasSubstr("Scatter to nowhere"));
}

// The sample tells by libcairn: its markers cover the commands, and the layer leaves them out all the same.
TEST_F(BisectVulkanProgramTest, AProgramThatCallsLibcairnItself) {
  const Json answer = Bisect({}, {Program("sample-fault-vulkan")});
  ASSERT_EQ(true, answer["found"]) << answer.dump(2);
  ASSERT_EQ(1u, answer["culprits"].size()) << answer.dump(2);
  EXPECT_THAT(PathOf(answer["culprits"][0][0]), Contains("Scatter to nowhere"));
  ExpectSure(answer);
}

TEST_F(BisectVulkanProgramTest, AVulkanDispatchThatHangs) {
  const Json answer =
      Bisect({"--hang-timeout", "3"}, {Program("sample-hang-vulkan-plain"), "--seconds", "60"});
  ASSERT_EQ(true, answer["found"]) << answer.dump(2);
  EXPECT_EQ("hang", answer["failure"]);
  ASSERT_EQ(1u, answer["culprits"].size()) << answer.dump(2);
  EXPECT_THAT(PathOf(answer["culprits"][0][0]), Contains("Integrate"));
  EXPECT_EQ("clean", answer["without"]);
}

TEST_F(BisectVulkanProgramTest, AProgramThatDoesNotFail) {
  const Json answer = Bisect({"--runs", "3"}, {Program("sample-triangle-vulkan-plain")}, 1);
  EXPECT_EQ(false, answer["found"]);
  EXPECT_EQ("the program does not fail: 3 of 3 runs were clean", answer["reason"]);
  EXPECT_EQ(0, answer["exit_code"]);
  EXPECT_EQ(3, answer["runs"]);
  EXPECT_EQ(true, answer["layers_seen"]);
  EXPECT_LT(0, answer["work"].get<int>());
}

// Eight threads, three queues, secondaries: what they record is the same in each run.
TEST_F(BisectVulkanProgramTest, ThreadsHaveTheSameKeysInEveryRun) {
  const Json answer = Bisect({"--runs", "4"}, {Program("sample-threads-vulkan")}, 1);
  EXPECT_EQ(4, answer["runs"]);
  EXPECT_LT(0, answer["work"].get<int>());
  EXPECT_EQ(0, answer["work_not_in_all"]);
  EXPECT_EQ(0, answer["work_dropped"]);
}

}  // namespace
}  // namespace cairn::testing
