// SPDX-License-Identifier: Apache-2.0
//
// Failures of an earlier breadcrumb library that the analysis must make impossible; the numbers are
// those of docs/reference/breadcrumbs.md. Those that are not the analysis' business are tested where they belong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reader/analysis/analysis.h"
#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// 02: a recycled frame slot reported a finished draw as in flight.
TEST(KnownFailure, 02_RecycledSlotLeavesFinishedWorkFinished) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t older = builder.BeginList(queue, 7);
  builder.Scope(CAIRN_MARKER_DRAW);
  builder.Submit(queue, older);
  builder.SetWords(older, 1, 2);
  // The slot of a list that finished long ago, taken again: its words read 0 until the GPU writes.
  const uint32_t recycled = builder.BeginList(queue, 8);
  builder.Scope(CAIRN_MARKER_DRAW);
  builder.Submit(queue, recycled);

  const Analysis analysis = Analyse(builder.snapshot);
  ASSERT_EQ(analysis.executions.size(), 2u);
  EXPECT_EQ(analysis.executions[0].state, WorkState::kCompleted);
  EXPECT_EQ(analysis.scopes[0].state, WorkState::kCompleted);
  EXPECT_EQ(analysis.executions[1].state, WorkState::kNotStarted);
  EXPECT_EQ(analysis.scopes[1].state, WorkState::kNotStarted);
  EXPECT_THAT(analysis.verdicts.at(0).candidates, IsEmpty());
}

// 03: an outer pass still open while its last inner draw was done was printed as finished and
// collapsed: the hang was hidden.
TEST(KnownFailure, 03_OuterPassOpenWhileLastInnerDrawDone) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Begin(CAIRN_MARKER_PASS);  // 1
  builder.Scope(CAIRN_MARKER_DRAW);  // 2, 3
  builder.Scope(CAIRN_MARKER_DRAW);  // 4, 5
  builder.End();                     // 6
  builder.Submit(queue, list);
  builder.SetWords(list, 4, 5);

  const Analysis analysis = Analyse(builder.snapshot);
  ASSERT_EQ(analysis.scopes.size(), 3u);
  EXPECT_EQ(analysis.scopes[0].state, WorkState::kInFlight);
  EXPECT_EQ(analysis.scopes[1].state, WorkState::kCompleted);
  EXPECT_EQ(analysis.scopes[2].state, WorkState::kCompleted);
  EXPECT_EQ(analysis.executions[0].state, WorkState::kInFlight);
  // Something in the pass, outside of its draws, is running: the pass itself is the candidate.
  EXPECT_THAT(analysis.verdicts.at(0).candidates, ElementsAre(0));
}

TEST(KnownFailure, 03_PassLeftOpenIsNotFinishedByItsLastDraw) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Begin(CAIRN_MARKER_PASS);
  builder.Scope(CAIRN_MARKER_DRAW);
  builder.Submit(queue, list);
  builder.SetWords(list, 2, 3);

  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_EQ(analysis.scopes[0].state, WorkState::kInFlight);
  EXPECT_TRUE(analysis.scopes[0].left_open);
  EXPECT_EQ(analysis.executions[0].state, WorkState::kInFlight);
  EXPECT_THAT(analysis.verdicts.at(0).candidates, ElementsAre(0));
}

// 04: in the first lap of the frame ring, lists that never ran were printed as in flight.
TEST(KnownFailure, 04_ListsThatNeverRanAreNotStarted) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  for (uint64_t frame = 0; frame < 3; ++frame) {
    builder.BeginList(queue, frame);
    builder.Scope(CAIRN_MARKER_DISPATCH);
  }
  const Analysis analysis = Analyse(builder.snapshot);
  ASSERT_EQ(analysis.executions.size(), 3u);
  for (const Execution& execution : analysis.executions) {
    EXPECT_EQ(execution.state, WorkState::kNotStarted);
  }
  for (const Scope& scope : analysis.scopes) EXPECT_EQ(scope.state, WorkState::kNotStarted);
  EXPECT_THAT(analysis.verdicts.at(0).candidates, IsEmpty());
  EXPECT_EQ(analysis.verdicts.at(0).reason.first_in_flight, kNone);
  EXPECT_EQ(analysis.verdicts[0].reason.completed_count, 0u);
}

TEST(KnownFailure, 04_UnsubmittedListWithoutWritesIsNotStartedWhereSubmissionsAreTold) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t submitted = builder.BeginList(queue, 0);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  builder.Submit(queue, submitted);
  builder.BeginList(queue, 1);
  builder.Scope(CAIRN_MARKER_DRAW, /*writes=*/false);
  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_EQ(analysis.executions[1].state, WorkState::kNotStarted);
  EXPECT_EQ(analysis.scopes[1].state, WorkState::kNotStarted);
}

// 09: a prerecorded list submitted twice could not be told apart.
TEST(KnownFailure, 09_ExecutionsOfAReusableListAreToldApart) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DRAW);  // 1, 2
  builder.Scope(CAIRN_MARKER_DRAW);  // 3, 4
  for (int i = 0; i < 3; ++i) builder.Submit(queue, list);
  builder.snapshot.recordings[list].reusable = true;
  builder.snapshot.recordings[list].runs = 2;
  builder.SetWords(list, 3, 2);

  const Analysis analysis = Analyse(builder.snapshot);
  ASSERT_EQ(analysis.executions.size(), 3u);
  EXPECT_EQ(analysis.executions[0].state, WorkState::kCompleted);
  EXPECT_EQ(analysis.executions[1].state, WorkState::kInFlight);
  EXPECT_EQ(analysis.executions[2].state, WorkState::kNotStarted);
  const QueueVerdict& verdict = analysis.verdicts.at(0);
  EXPECT_THAT(verdict.candidates, ElementsAre(analysis.executions[1].first_scope + 1));
  EXPECT_THAT(verdict.candidate_executions, ElementsAre(1));
  EXPECT_TRUE(verdict.exact);
  EXPECT_EQ(verdict.reason.first_in_flight, 1u);
}

TEST(KnownFailure, 09_ExecutionsThatCannotBeToldApartAreNotCalledFinished) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DRAW);
  builder.Scope(CAIRN_MARKER_DRAW);
  builder.Submit(queue, list);
  builder.Submit(queue, list);
  builder.SetWords(list, 3, 4);  // the whole list, in one of its executions

  const Analysis analysis = Analyse(builder.snapshot);
  ASSERT_EQ(analysis.executions.size(), 2u);
  EXPECT_EQ(analysis.executions[0].state,
            WorkState::kCompleted);  // the first of them, whichever wrote
  EXPECT_EQ(analysis.executions[1].state, WorkState::kInFlight);
  EXPECT_FALSE(analysis.verdicts.at(0).exact);
  EXPECT_EQ(analysis.verdicts.at(0).reason.words, ListWords::kOfSeveral);

  // The first execution is known to have finished before the second was submitted, so that the
  // words are the second's.
  builder.snapshot.recordings[list].finished_runs = 1;
  builder.SetWords(list, 1, 0);
  const Analysis told = Analyse(builder.snapshot);
  EXPECT_EQ(told.executions[0].state, WorkState::kCompleted);
  EXPECT_THAT(told.verdicts.at(0).candidates, ElementsAre(told.executions[1].first_scope));
  EXPECT_TRUE(told.verdicts.at(0).exact);
}

}  // namespace
}  // namespace cairn
