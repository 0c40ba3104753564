// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/program_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "reader/bisect/probe_answer.h"
#include "reader/bisect/testing/deaths.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;

TEST(TrialStatus, TheFirstFailureCounts) {
  TrialStatus status;
  EXPECT_EQ(FailureKind::kNone, status.failure.Get());
  status.Fails(FailureKind::kLost, 0);
  status.Fails(FailureKind::kDied, SIGABRT);
  EXPECT_EQ(FailureKind::kLost, status.failure.Get());
  EXPECT_EQ(0, status.signal);
}

ProbeAnswer AnswerTo(TrialEnd end, FailureKind failure, int value) {
  TrialRun run;
  run.end = end;
  run.failure = failure;
  run.value = value;
  const Result<ProbeAnswer> answer = AnswerOf(run);
  EXPECT_TRUE(answer.ok());
  return answer.ok() ? *answer : ProbeAnswer();
}

TEST(TrialAnswer, OnlyWhatCairnRunWouldReportIsAFailure) {
  EXPECT_EQ(ProbeOutcome::kClean, AnswerTo(TrialEnd::kExited, FailureKind::kNone, 0).outcome);
  EXPECT_EQ(ProbeOutcome::kClean, AnswerTo(TrialEnd::kExited, FailureKind::kNone, 3).outcome);
  EXPECT_EQ(ProbeOutcome::kClean, AnswerTo(TrialEnd::kSurvived, FailureKind::kNone, 0).outcome);
  EXPECT_EQ(ProbeOutcome::kInvalid, AnswerTo(TrialEnd::kStuck, FailureKind::kNone, 0).outcome);
  const ProbeAnswer died = AnswerTo(TrialEnd::kFailed, FailureKind::kDied, kFault);
  EXPECT_EQ(ProbeOutcome::kFails, died.outcome);
  EXPECT_EQ(FailureKind::kDied, died.kind);
  EXPECT_EQ(kFault, died.signal);
  const ProbeAnswer hung = AnswerTo(TrialEnd::kFailed, FailureKind::kHang, kKilled);
  EXPECT_EQ(FailureKind::kHang, hung.kind);
  EXPECT_EQ(0, hung.signal);
  const ProbeAnswer killed = AnswerTo(TrialEnd::kEndedByUser, FailureKind::kDied, kKilled);
  EXPECT_EQ(ProbeOutcome::kUndecided, killed.outcome);
  EXPECT_THAT(killed.why,
              HasSubstr("something else ended the program (" + SignalName(kKilled) + ")"));
}

TEST(TrialAnswer, AnInterruptionEndsTheSearch) {
  TrialRun run;
  run.end = TrialEnd::kInterrupted;
  EXPECT_EQ(StatusCode::kInterrupted, AnswerOf(run).status().code());
}

}  // namespace
}  // namespace cairn
