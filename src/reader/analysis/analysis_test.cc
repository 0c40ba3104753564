// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using enum WorkState;

std::vector<WorkState> ScopeStates(const Analysis& analysis) {
  std::vector<WorkState> states;
  for (const Scope& scope : analysis.scopes) states.push_back(scope.state);
  return states;
}

std::vector<WorkState> ExecutionStates(const Analysis& analysis) {
  std::vector<WorkState> states;
  for (const Execution& execution : analysis.executions) states.push_back(execution.state);
  return states;
}

// The example of docs/internals/analysis.md: pass { draw draw } dispatch dispatch, in one list.
SnapshotBuilder WorkedExample() {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue, 3);
  builder.Begin(CAIRN_MARKER_PASS);          // 1
  builder.Scope(CAIRN_MARKER_DRAW_INDEXED);  // 2, 3
  builder.Scope(CAIRN_MARKER_DRAW_INDEXED);  // 4, 5
  builder.End();                             // 6
  builder.Scope(CAIRN_MARKER_DISPATCH);      // 7, 8
  builder.Scope(CAIRN_MARKER_DISPATCH);      // 9, 10
  builder.Submit(queue, list);
  return builder;
}

TEST(Analysis, WorkedExample) {
  SnapshotBuilder builder = WorkedExample();
  builder.SetWords(0, 7, 5);
  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_THAT(ScopeStates(analysis),
              ElementsAre(kInFlight, kCompleted, kCompleted, kInFlight, kNotStarted));
  const QueueVerdict& verdict = analysis.verdicts.at(0);
  EXPECT_THAT(verdict.candidates, ElementsAre(0, 3));
  EXPECT_THAT(verdict.candidate_executions, ElementsAre(0, 0));
  EXPECT_FALSE(verdict.exact);
  EXPECT_EQ(verdict.reason.execution_count, 1u);
  EXPECT_EQ(verdict.reason.in_flight_count, 1u);
  EXPECT_EQ(verdict.reason.first_in_flight, 0u);
  EXPECT_EQ(verdict.reason.words, ListWords::kItsOwn);
}

TEST(Analysis, WhatWritesNothingIsSaidToBeUnseen) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DISPATCH, /*writes=*/false);
  builder.Submit(queue, list);
  const Analysis unseen = Analyse(builder.snapshot);
  EXPECT_TRUE(unseen.verdicts.at(0).ends_unseen);
  EXPECT_THAT(unseen.verdicts[0].candidates, ElementsAre(0));
  EXPECT_EQ(unseen.verdicts[0].reason.unseen_end_count, 1u);
  // The same where only the end takes no write, once all others have come.
  builder.snapshot.events[0].flags = kEventWritesTop;
  EXPECT_FALSE(Analyse(builder.snapshot).verdicts.at(0).ends_unseen);
  builder.SetWords(list, 1, 0);
  EXPECT_TRUE(Analyse(builder.snapshot).verdicts.at(0).ends_unseen);
  // Beside one that writes they are candidates like others.
  const uint32_t other = builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  builder.Submit(queue, other);
  builder.SetWords(other, 1, 0);
  EXPECT_FALSE(Analyse(builder.snapshot).verdicts.at(0).ends_unseen);
  builder.snapshot.queues[queue].completed_submission = 1;
  EXPECT_THAT(ExecutionStates(Analyse(builder.snapshot)), ElementsAre(kCompleted, kInFlight));
}

// The event that a list without work ends with.
TEST(Analysis, AListWithoutWorkFinishesWithItsEnd) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  Event end;
  end.kind = EventKind::kEnd;
  end.flags = kEventWritesBottom;
  builder.snapshot.events.push_back(end);
  builder.snapshot.recordings[list].event_count = 1;
  builder.Submit(queue, list);
  EXPECT_THAT(ExecutionStates(Analyse(builder.snapshot)), ElementsAre(kInFlight));
  EXPECT_FALSE(Analyse(builder.snapshot).verdicts.at(0).ends_unseen);
  builder.SetWords(list, 0, 1);
  const Analysis finished = Analyse(builder.snapshot);
  EXPECT_THAT(ExecutionStates(finished), ElementsAre(kCompleted));
  EXPECT_THAT(finished.verdicts.at(0).list_candidates, IsEmpty());
}

// Recorded once, submitted in every frame.
// Binds are no work: the GPU has done nothing of a list of which it has not come to the first command.
TEST(Analysis, AListThatBeginsWithBindsHasNotBegunBeforeItsFirstCommand) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.BindNothing(BindPoint::kVertexBuffer);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  builder.Submit(queue, list);
  const Analysis waiting = Analyse(builder.snapshot);
  EXPECT_EQ(waiting.executions[0].state, WorkState::kNotStarted);
  EXPECT_TRUE(waiting.verdicts[0].list_candidates.empty());
  builder.SetWords(list, 2, 0);
  const Analysis begun = Analyse(builder.snapshot);
  EXPECT_EQ(begun.executions[0].state, WorkState::kInFlight);
  EXPECT_EQ(begun.verdicts[0].candidates.size(), 1u);
}

// While a program records its first list nothing was submitted yet.
TEST(Analysis, WhereALayerTellsWhatIsSubmittedAListThatWasNotHasNotRun) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  builder.BeginList(queue);
  builder.Begin(CAIRN_MARKER_PASS, false);
  builder.Begin(CAIRN_MARKER_DISPATCH);
  builder.snapshot.recordings[0].open = true;
  EXPECT_EQ(Analyse(builder.snapshot).executions[0].state, WorkState::kInFlight)
      << "an application may not tell";
  builder.snapshot.devices[0].tells_submissions = true;
  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_EQ(analysis.executions[0].state, WorkState::kNotStarted);
  EXPECT_TRUE(analysis.verdicts[0].candidates.empty());
  EXPECT_TRUE(analysis.verdicts[0].list_candidates.empty());
}

TEST(Analysis, ExecutionsBelongToTheFrameOfTheirSubmission) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue, 0);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  for (uint64_t frame = 0; frame < 3; ++frame) {
    builder.Submit(queue, list);
    builder.snapshot.submissions.back().frame = 100 + frame;
  }
  builder.snapshot.recordings[list].finished_runs = 2;
  builder.SetWords(list, 1, 0);
  const Analysis analysis = Analyse(builder.snapshot);
  ASSERT_THAT(analysis.executions, SizeIs(3));
  EXPECT_EQ(analysis.executions[0].frame, 100u);
  EXPECT_EQ(analysis.executions[2].frame, 102u);
  EXPECT_EQ(analysis.verdicts.at(0).reason.first_in_flight, 2u);
  EXPECT_EQ(analysis.verdicts[0].reason.completed_count, 2u);
}

TEST(Analysis, ExactWhenOneScopeIsBetweenTheWords) {
  SnapshotBuilder builder = WorkedExample();
  builder.SetWords(0, 7, 6);
  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_THAT(ScopeStates(analysis),
              ElementsAre(kCompleted, kCompleted, kCompleted, kInFlight, kNotStarted));
  EXPECT_THAT(analysis.verdicts.at(0).candidates, ElementsAre(3));
  EXPECT_TRUE(analysis.verdicts.at(0).exact);
  EXPECT_EQ(analysis.verdicts.at(0).reason.waiting_count, 0u);
}

// pass { dispatch barrier } pass { barrier }, in one list.
SnapshotBuilder DispatchBeforeBarriers() {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Begin(CAIRN_MARKER_PASS);              // 1
  builder.Scope(CAIRN_MARKER_DISPATCH);          // 2, 3
  builder.Scope(CAIRN_MARKER_PIPELINE_BARRIER);  // 4, 5
  builder.End();                                 // 6
  builder.Begin(CAIRN_MARKER_PASS);              // 7
  builder.Scope(CAIRN_MARKER_PIPELINE_BARRIER);  // 8, 9
  builder.End();                                 // 10
  builder.Submit(queue, list);
  return builder;
}

TEST(Analysis, ABarrierBehindTheOnlyWorkWaitsForIt) {
  SnapshotBuilder builder = DispatchBeforeBarriers();
  builder.SetWords(0, 4, 0);
  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_THAT(ScopeStates(analysis),
              ElementsAre(kInFlight, kInFlight, kInFlight, kNotStarted, kNotStarted));
  EXPECT_THAT(analysis.verdicts.at(0).candidates, ElementsAre(1));
  EXPECT_TRUE(analysis.verdicts.at(0).exact);
  EXPECT_EQ(analysis.verdicts.at(0).reason.waiting_count, 1u);
}

TEST(Analysis, TheEndOfARenderPassWaitsForItsDraws) {
  for (const CairnMarkerType first : {CAIRN_MARKER_DRAW, CAIRN_MARKER_DISPATCH}) {
    SnapshotBuilder builder;
    const uint32_t queue = builder.AddQueue();
    const uint32_t list = builder.BeginList(queue);
    builder.Scope(first);                          // 1, 2
    builder.Scope(CAIRN_MARKER_END_RENDERING);     // 3, 4
    builder.Scope(CAIRN_MARKER_PIPELINE_BARRIER);  // 5, 6
    builder.Submit(queue, list);
    builder.SetWords(0, 5, 0);
    const Analysis analysis = Analyse(builder.snapshot);
    // A pass without draws may resolve beside a dispatch before it.
    EXPECT_EQ(analysis.verdicts.at(0).exact, first == CAIRN_MARKER_DRAW);
  }
}

// In that pass work without markers may run.
TEST(Analysis, ABarrierInAPassBehindSpeaksForItsPass) {
  SnapshotBuilder builder = DispatchBeforeBarriers();
  builder.SetWords(0, 8, 0);
  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_THAT(analysis.verdicts.at(0).candidates, ElementsAre(1, 2, 4));
  EXPECT_FALSE(analysis.verdicts.at(0).exact);
}

TEST(Analysis, ABarrierBehindFinishedWorkIsTheCandidate) {
  SnapshotBuilder builder = DispatchBeforeBarriers();
  builder.SetWords(0, 4, 3);
  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_THAT(analysis.verdicts.at(0).candidates, ElementsAre(2));
  EXPECT_TRUE(analysis.verdicts.at(0).exact);
}

TEST(Analysis, PassedProvesReachedToo) {
  SnapshotBuilder builder = WorkedExample();
  builder.SetWords(0, 2, 6);  // the top word is late
  EXPECT_THAT(ScopeStates(Analyse(builder.snapshot)),
              ElementsAre(kCompleted, kCompleted, kCompleted, kNotStarted, kNotStarted));
}

TEST(Analysis, FinishedListHasNoCandidates) {
  SnapshotBuilder builder = WorkedExample();
  builder.SetWords(0, 9, 10);
  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_THAT(ExecutionStates(analysis), ElementsAre(kCompleted));
  EXPECT_THAT(analysis.verdicts.at(0).candidates, IsEmpty());
  EXPECT_EQ(analysis.verdicts.at(0).reason.completed_count, 1u);
  EXPECT_EQ(analysis.verdicts[0].reason.first_in_flight, kNone);
}

TEST(Analysis, TreeAndOrdinals) {
  SnapshotBuilder builder;
  builder.BeginList(builder.AddQueue());
  builder.Begin(CAIRN_MARKER_PASS);
  builder.Scope(CAIRN_MARKER_DRAW_INDEXED);
  builder.Begin(CAIRN_MARKER_DRAW_INDEXED);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  builder.End();
  builder.Scope(CAIRN_MARKER_DRAW_INDEXED);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  builder.Scope(CAIRN_MARKER_DRAW_INDEXED);
  builder.Begin(CAIRN_MARKER_PASS);
  builder.End();
  builder.Scope(CAIRN_MARKER_DRAW_INDEXED);
  builder.End();
  builder.Scope(CAIRN_MARKER_DRAW_INDEXED);
  const Analysis analysis = Analyse(builder.snapshot);
  std::vector<uint32_t> ordinals, parents, depths;
  for (const Scope& scope : analysis.scopes) {
    ordinals.push_back(scope.ordinal);
    parents.push_back(scope.parent);
    depths.push_back(scope.depth);
  }
  EXPECT_THAT(ordinals, ElementsAre(0, 1, 2, 1, 3, 1, 4, 0, 5, 1));
  EXPECT_THAT(parents, ElementsAre(kNone, 0, 0, 2, 0, 0, 0, 0, 0, kNone));
  EXPECT_THAT(depths, ElementsAre(0, 1, 1, 2, 1, 1, 1, 1, 1, 0));
  // Passes whose name was not kept are told apart by their number.
  for (Event& event : builder.snapshot.events) event.name = {};
  EXPECT_EQ(Analyse(builder.snapshot).scopes[0].ordinal, 1u);
  EXPECT_TRUE(analysis.scopes[0].has_children);
  EXPECT_FALSE(analysis.scopes[1].has_children);
  EXPECT_TRUE(analysis.scopes[2].has_children);
}

TEST(Analysis, ModeTopKeepsAllReachedScopes) {
  SnapshotBuilder builder(MarkerMode::kTop);
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  for (int i = 0; i < 4; ++i) builder.Scope(CAIRN_MARKER_DRAW);
  builder.EndList();
  builder.Submit(queue, list);
  builder.SetWords(list, 5, 0);
  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_THAT(ScopeStates(analysis), ElementsAre(kInFlight, kInFlight, kInFlight, kNotStarted));
  EXPECT_FALSE(analysis.verdicts.at(0).exact);
  EXPECT_THAT(analysis.verdicts.at(0).candidates, ElementsAre(0, 1, 2));
  builder.SetWords(list, 7, 8);
  EXPECT_THAT(ExecutionStates(Analyse(builder.snapshot)), ElementsAre(kCompleted));
}

// No well-formed list has a draw in a dispatch. Barriers that end dispatches say nothing about it.
TEST(Analysis, ADrawInADispatchThatEndedMayRun) {
  SnapshotBuilder builder(MarkerMode::kTop);
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Begin(CAIRN_MARKER_DISPATCH);
  builder.Scope(CAIRN_MARKER_DRAW);
  builder.End();
  builder.Scope(CAIRN_MARKER_BARRIER);
  builder.snapshot.events.back().flags |= kEventDrainsDispatches;
  builder.Scope(CAIRN_MARKER_DRAW);
  builder.EndList();
  builder.Submit(queue, list);
  builder.SetWords(list, 7, 0);
  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_THAT(ScopeStates(analysis), ElementsAre(kCompleted, kInFlight, kInFlight, kInFlight));
  EXPECT_THAT(analysis.verdicts.at(0).candidates, ElementsAre(1, 2, 3));
}

TEST(Analysis, ModePassProvesPassesOnly) {
  SnapshotBuilder builder(MarkerMode::kPass);
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  for (int i = 0; i < 2; ++i) {
    builder.Begin(CAIRN_MARKER_PASS);
    builder.Scope(CAIRN_MARKER_DRAW);
    builder.Scope(CAIRN_MARKER_DRAW);
    builder.End();
  }
  builder.Submit(queue, list);
  builder.SetWords(list, 10, 6);
  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_THAT(ScopeStates(analysis),
              ElementsAre(kCompleted, kCompleted, kCompleted, kInFlight, kInFlight, kInFlight));
  EXPECT_THAT(analysis.verdicts.at(0).candidates, ElementsAre(4, 5));
}

TEST(Analysis, ScopesWithoutWritesStayCandidates) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DISPATCH);     // 1, 2
  builder.Begin(CAIRN_MARKER_PASS);         // 3
  builder.Scope(CAIRN_MARKER_DRAW, false);  // 4, 5
  builder.Scope(CAIRN_MARKER_DRAW, false);  // 6, 7
  builder.End();                            // 8
  builder.Scope(CAIRN_MARKER_DISPATCH);     // 9, 10
  builder.Submit(queue, list);
  builder.snapshot.devices[0].method = WriteMethod::kVulkanFillBuffer;
  builder.SetWords(list, 3, 2);
  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_THAT(ScopeStates(analysis),
              ElementsAre(kCompleted, kInFlight, kInFlight, kInFlight, kNotStarted));
  EXPECT_THAT(analysis.verdicts.at(0).candidates, ElementsAre(2, 3));
  EXPECT_EQ(analysis.verdicts.at(0).reason.unwritten_count, 2u);
}

TEST(Analysis, WordsThatTheListDoesNotWriteProveNothing) {
  SnapshotBuilder builder = WorkedExample();
  for (const auto& [reached, passed] :
       {std::pair(3u, 0u), {11u, 0u}, {0u, 4u}, {7u, 0xFFFFFFFFu}}) {
    builder.SetWords(0, reached, passed);
    const Analysis analysis = Analyse(builder.snapshot);
    EXPECT_THAT(ScopeStates(analysis), testing::Each(kInFlight)) << reached << ' ' << passed;
    EXPECT_FALSE(analysis.verdicts.at(0).exact);
    EXPECT_EQ(analysis.verdicts.at(0).reason.words, ListWords::kImpossible);
  }
}

TEST(Analysis, ListEndOnAnOpenScopeProvesTheWholeList) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Begin(CAIRN_MARKER_PASS);
  builder.Begin(CAIRN_MARKER_PASS);
  builder.EndList();
  builder.Submit(queue, list);
  builder.SetWords(list, 2, 2);
  EXPECT_THAT(ExecutionStates(Analyse(builder.snapshot)), ElementsAre(kCompleted));
  EXPECT_THAT(ScopeStates(Analyse(builder.snapshot)), ElementsAre(kCompleted, kCompleted));
}

// Three lists on one queue, one draw each.
SnapshotBuilder ThreeLists(bool writes = true) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  for (int i = 0; i < 3; ++i) {
    const uint32_t list = builder.BeginList(queue);
    builder.Scope(CAIRN_MARKER_DRAW, writes || i == 2);
    builder.Submit(queue, list);
  }
  return builder;
}

TEST(Analysis, ToldCompletionFinishesEarlierSubmissions) {
  SnapshotBuilder builder = ThreeLists();
  builder.SetWords(0, 1, 0);
  builder.SetWords(1, 1, 0);
  builder.snapshot.queues[0].completed_submission = 1;
  EXPECT_THAT(ExecutionStates(Analyse(builder.snapshot)),
              ElementsAre(kCompleted, kInFlight, kNotStarted));
  EXPECT_TRUE(Analyse(builder.snapshot).verdicts.at(0).exact);
}

// A fence may be signalled by the loss itself.
TEST(Analysis, OnALostDeviceWordsAreBelievedBeforeFences) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  builder.EndList();
  builder.Submit(queue, list);
  builder.SetWords(list, 3, 2);
  builder.snapshot.submissions[0].number = 1;
  builder.snapshot.queues[0].submission_count = 1;
  builder.snapshot.queues[0].completed_submission = 1;
  EXPECT_THAT(Analyse(builder.snapshot).verdicts.at(0).candidates, IsEmpty());
  builder.snapshot.devices[0].device_lost = true;
  EXPECT_THAT(Analyse(builder.snapshot).verdicts.at(0).candidates, ElementsAre(1));
  builder.SetWords(list, 4, 4);
  EXPECT_THAT(Analyse(builder.snapshot).verdicts.at(0).candidates, IsEmpty());
}

TEST(Analysis, BottomWriteOfALaterListFinishesEarlierLists) {
  SnapshotBuilder builder = ThreeLists(/*writes=*/false);
  builder.SetWords(2, 1, 2);
  EXPECT_THAT(ExecutionStates(Analyse(builder.snapshot)),
              ElementsAre(kCompleted, kCompleted, kCompleted));
}

TEST(Analysis, BottomWriteOnAnotherQueueProvesNothing) {
  SnapshotBuilder builder = ThreeLists(/*writes=*/false);
  const uint32_t other = builder.AddQueue();
  builder.snapshot.submissions[2].queue = other;
  builder.SetWords(2, 1, 2);
  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_THAT(ExecutionStates(analysis), ElementsAre(kInFlight, kInFlight, kCompleted));
  ASSERT_THAT(analysis.verdicts, SizeIs(2));
  EXPECT_EQ(analysis.verdicts[0].queue, 0u);
  EXPECT_THAT(analysis.verdicts[0].candidates, ElementsAre(0, 1));
  EXPECT_EQ(analysis.verdicts[1].queue, other);
  EXPECT_THAT(analysis.verdicts[1].candidates, IsEmpty());
}

TEST(Analysis, NothingBehindAnUnreachedEventHasStarted) {
  SnapshotBuilder builder = ThreeLists();
  builder.snapshot.events[4].flags = 0;  // the last list has no writes
  builder.snapshot.events[5].flags = 0;
  builder.SetWords(0, 1, 0);
  EXPECT_THAT(ExecutionStates(Analyse(builder.snapshot)),
              ElementsAre(kInFlight, kNotStarted, kNotStarted));
}

TEST(Analysis, LaterReachedListShowsThatWordsAreLate) {
  SnapshotBuilder builder = ThreeLists();
  builder.SetWords(1, 1, 0);
  EXPECT_THAT(ExecutionStates(Analyse(builder.snapshot)),
              ElementsAre(kInFlight, kInFlight, kNotStarted));
}

TEST(Analysis, ListWithoutEventsFollowsItsQueue) {
  SnapshotBuilder builder = ThreeLists();
  builder.snapshot.recordings[1].event_count = 0;
  builder.SetWords(0, 1, 0);
  const Analysis in_flight = Analyse(builder.snapshot);
  EXPECT_THAT(ExecutionStates(in_flight), ElementsAre(kInFlight, kInFlight, kNotStarted));
  EXPECT_THAT(in_flight.verdicts.at(0).candidates, ElementsAre(0));
  EXPECT_THAT(in_flight.verdicts.at(0).list_candidates, ElementsAre(1));
  EXPECT_FALSE(in_flight.verdicts.at(0).exact);
  builder.SetWords(2, 1, 2);
  EXPECT_THAT(ExecutionStates(Analyse(builder.snapshot)),
              ElementsAre(kCompleted, kCompleted, kCompleted));
  builder.snapshot.submissions.clear();
  builder.snapshot.recordings[1].submit_count = 0;
  EXPECT_EQ(Analyse(builder.snapshot).executions[1].state, kNotStarted);
}

TEST(Analysis, ReusableListBetweenTwoExecutionsClaimsNothing) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DRAW);
  builder.Submit(queue, list);
  builder.Submit(queue, list);
  Recording& recording = builder.snapshot.recordings[list];
  recording.reusable = true;
  EXPECT_THAT(ExecutionStates(Analyse(builder.snapshot)), ElementsAre(kNotStarted, kNotStarted));
  recording.runs = 1;  // words cleared: by execution 1, or by 2 before it counted itself
  EXPECT_THAT(ExecutionStates(Analyse(builder.snapshot)), ElementsAre(kInFlight, kNotStarted));
  EXPECT_EQ(Analyse(builder.snapshot).scopes[0].state, kInFlight);
  recording.runs = 2;  // the last one: it has begun, its first draw has not
  const Analysis last = Analyse(builder.snapshot);
  EXPECT_THAT(ExecutionStates(last), ElementsAre(kCompleted, kInFlight));
  EXPECT_THAT(last.verdicts.at(0).candidates, IsEmpty());
  EXPECT_THAT(last.verdicts.at(0).list_candidates, ElementsAre(1));
}

TEST(Analysis, ExecutionsKnownAlikeShareTheirScopes) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  for (int i = 0; i < 10; ++i) builder.Scope(CAIRN_MARKER_DRAW);
  for (int i = 0; i < 1000; ++i) builder.Submit(queue, list);
  builder.snapshot.recordings[list].reusable = true;
  builder.snapshot.recordings[list].runs = 500;
  builder.SetWords(list, 3, 2);
  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_THAT(analysis.executions, SizeIs(1000));
  EXPECT_THAT(analysis.scopes, SizeIs(30));
  EXPECT_EQ(analysis.executions[498].first_scope, analysis.executions[0].first_scope);
  EXPECT_TRUE(analysis.verdicts.at(0).exact);
  EXPECT_THAT(analysis.verdicts.at(0).candidate_executions, ElementsAre(499));

  // Executions of a list that is not reusable look alike in the middle and are listed once.
  builder.snapshot.recordings[list].reusable = false;
  const Analysis blurred = Analyse(builder.snapshot);
  EXPECT_THAT(blurred.scopes, SizeIs(30));
  EXPECT_THAT(blurred.verdicts.at(0).list_candidates, SizeIs(997));
}

TEST(Analysis, ReportOrderIsFrameQueueSubmission) {
  SnapshotBuilder builder;
  const uint32_t first = builder.AddQueue();
  const uint32_t second = builder.AddQueue();
  const uint32_t a = builder.BeginList(second, 0);
  const uint32_t b = builder.BeginList(first, 0);
  const uint32_t c = builder.BeginList(first, 1);
  const uint32_t d = builder.BeginList(first, 0);
  builder.Submit(second, a);
  builder.Submit(first, c);
  builder.Submit(first, d);
  builder.Submit(first, b);
  std::vector<uint32_t> recordings;
  for (const Execution& execution : Analyse(builder.snapshot).executions) {
    recordings.push_back(execution.recording);
  }
  EXPECT_THAT(recordings, ElementsAre(d, b, a, c));
}

TEST(Analysis, CandidatesComeInQueueOrderAcrossFrames) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t later_frame = builder.BeginList(queue, 2);
  builder.Scope(CAIRN_MARKER_DRAW);
  const uint32_t earlier_frame = builder.BeginList(queue, 1);
  builder.Scope(CAIRN_MARKER_DRAW);
  builder.Submit(queue, later_frame);
  builder.Submit(queue, earlier_frame);
  builder.SetWords(later_frame, 1, 0);
  builder.SetWords(earlier_frame, 1, 0);
  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_THAT(analysis.verdicts.at(0).candidate_executions, ElementsAre(1, 0));
  EXPECT_EQ(analysis.executions[1].recording, later_frame);
  EXPECT_EQ(analysis.verdicts.at(0).reason.in_flight_count, 2u);
}

TEST(Analysis, OldCopiesProveLess) {
  SnapshotBuilder builder = WorkedExample();
  builder.SetWords(0, 7, 6);
  builder.snapshot.devices[0].memory = WordMemory::kMirrored;
  builder.snapshot.incidents.push_back({IncidentKind::kSignal, 9});
  EXPECT_TRUE(Analyse(builder.snapshot).verdicts.at(0).reason.words_are_old);
  EXPECT_FALSE(Analyse(builder.snapshot).verdicts.at(0).exact);

  // Work whose words reached no copy may have run all the same.
  builder.SetWords(0, 0, 0);
  const QueueVerdict nothing = Analyse(builder.snapshot).verdicts.at(0);
  EXPECT_THAT(nothing.candidates, IsEmpty());
  EXPECT_TRUE(nothing.unknown);
  EXPECT_TRUE(nothing.reason.words_are_old);

  // The handler that saw the fault in the process copied the current words.
  builder.snapshot.incidents[0].detail = builder.snapshot.AddText("the state at that moment");
  const QueueVerdict seen = Analyse(builder.snapshot).verdicts.at(0);
  EXPECT_FALSE(seen.unknown);
  EXPECT_FALSE(seen.reason.words_are_old);
}

TEST(Analysis, EmptySnapshot) {
  const Analysis analysis = Analyse({});
  EXPECT_THAT(analysis.executions, IsEmpty());
  EXPECT_THAT(analysis.scopes, IsEmpty());
  EXPECT_THAT(analysis.verdicts, IsEmpty());
}

TEST(Analysis, ListsWithoutQueueOrDeviceAreJudgedByTheirWords) {
  Snapshot snapshot;
  snapshot.events.resize(2);
  snapshot.events[0] = {EventKind::kBegin, kEventWritesTop, CAIRN_MARKER_DRAW, kNone, 2, {}};
  snapshot.events[1] = {EventKind::kEnd, kEventWritesBottom, 0, kNone, 1, {}};
  snapshot.recordings.emplace_back();
  snapshot.recordings[0].event_count = 2;
  snapshot.recordings[0].reached = 1;
  const Analysis analysis = Analyse(snapshot);
  EXPECT_THAT(ExecutionStates(analysis), ElementsAre(kInFlight));
  EXPECT_EQ(analysis.verdicts.at(0).queue, kNone);
  EXPECT_EQ(analysis.verdicts.at(0).device, kNone);
  EXPECT_THAT(analysis.verdicts.at(0).candidates, ElementsAre(0));
}

TEST(Analysis, MillionfoldNesting) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  constexpr uint32_t kDepth = 1'000'000;
  builder.snapshot.events.reserve(2 * kDepth);
  for (uint32_t i = 0; i < kDepth; ++i) builder.Begin(CAIRN_MARKER_PASS);
  for (uint32_t i = 0; i < kDepth; ++i) builder.End();
  builder.Submit(queue, list);
  builder.SetWords(list, kDepth, 0);
  const Analysis analysis = Analyse(builder.snapshot);
  ASSERT_EQ(analysis.scopes.size(), kDepth);
  EXPECT_EQ(analysis.scopes.back().depth, kDepth - 1);
  EXPECT_THAT(analysis.verdicts.at(0).candidates, ElementsAre(kDepth - 1));
}

TEST(Analysis, EndsThatEndNothingAndEndsThatSkipScopes) {
  Snapshot snapshot;
  const auto begin = [](uint16_t type) {
    return Event{EventKind::kBegin, kEventWritesTop, type, kNone, 0, {}};
  };
  const auto end = [](uint32_t match) {
    return Event{EventKind::kEnd, kEventWritesBottom, 0, kNone, match, {}};
  };
  snapshot.events = {end(0),    end(1), end(99), begin(80), begin(80),
                     begin(80), end(5), end(5),  end(6),    begin(80)};
  snapshot.events.push_back({static_cast<EventKind>(77), 0xFF, 0xFFFF, kNone, 3, {}});
  snapshot.recordings.emplace_back();
  snapshot.recordings[0].event_count = 11;
  snapshot.recordings[0].reached = 6;
  snapshot.recordings[0].passed = 7;
  const Analysis analysis = Analyse(snapshot);
  ASSERT_THAT(analysis.scopes, SizeIs(4));
  EXPECT_EQ(analysis.scopes[0].end_sequence, 12u);
  EXPECT_EQ(analysis.scopes[1].end_sequence, 7u);
  EXPECT_EQ(analysis.scopes[2].end_sequence, 7u);
  EXPECT_TRUE(analysis.scopes[2].left_open);
  EXPECT_FALSE(analysis.scopes[1].left_open);
  EXPECT_EQ(analysis.scopes[3].parent, 0u);
  EXPECT_THAT(ScopeStates(analysis), ElementsAre(kInFlight, kCompleted, kCompleted, kNotStarted));
}

// Checks the guarantees of an analysis for any snapshot.
void ExpectConsistent(const Snapshot& snapshot, const Analysis& analysis) {
  for (uint32_t i = 0; i < analysis.scopes.size(); ++i) {
    const Scope& scope = analysis.scopes[i];
    ASSERT_LT(scope.event, snapshot.events.size());
    if (scope.parent == kNone) continue;
    ASSERT_LT(scope.parent, i);
    const Scope& parent = analysis.scopes[scope.parent];
    EXPECT_EQ(scope.depth, parent.depth + 1);
    EXPECT_LE(scope.end_sequence, parent.end_sequence);
    if (scope.state == kInFlight) {
      EXPECT_EQ(parent.state, kInFlight);
    }
    if (parent.state != kInFlight) {
      EXPECT_EQ(scope.state, parent.state);
    }
  }
  size_t in_flight = 0;
  for (const Execution& execution : analysis.executions) {
    ASSERT_LE(execution.first_scope + execution.scope_count, analysis.scopes.size());
    in_flight += execution.state == kInFlight;
  }
  size_t listed = 0;
  for (const QueueVerdict& verdict : analysis.verdicts) {
    const QueueReason& reason = verdict.reason;
    EXPECT_LE(reason.completed_count + reason.in_flight_count + reason.unknown_count,
              reason.execution_count);
    EXPECT_EQ(reason.first_in_flight == kNone, reason.in_flight_count == 0);
    ASSERT_EQ(verdict.candidates.size(), verdict.candidate_executions.size());
    listed += verdict.list_candidates.size();
    for (size_t i = 0; i < verdict.candidates.size(); ++i) {
      EXPECT_EQ(analysis.scopes.at(verdict.candidates[i]).state, kInFlight);
      EXPECT_EQ(analysis.executions.at(verdict.candidate_executions[i]).state, kInFlight);
      listed += i == 0 || verdict.candidate_executions[i] != verdict.candidate_executions[i - 1];
    }
  }
  EXPECT_EQ(listed, in_flight);
}

TEST(Analysis, RandomSnapshotsAreSafeAndConsistent) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    const auto below = [&random](uint64_t limit) {
      return static_cast<uint32_t>(random() % limit);
    };
    const auto index = [&](size_t count) { return below(4) == 0 ? kNone : below(count); };
    Snapshot snapshot;
    snapshot.devices.resize(2);
    snapshot.devices[1].mode = MarkerMode::kTop;
    snapshot.queues.resize(3);
    for (Queue& queue : snapshot.queues) {
      queue.device = index(2);
      queue.completed_submission = below(4);
    }
    for (uint32_t i = 0, count = 1 + below(4); i < count; ++i) {
      Recording recording;
      recording.device = index(2);
      recording.queue = index(3);
      recording.reusable = below(3) == 0;
      recording.open = below(3) == 0;
      recording.first_event = static_cast<uint32_t>(snapshot.events.size());
      recording.event_count = below(12);
      recording.reached = below(14);
      recording.passed = below(14);
      recording.runs = below(4);
      recording.finished_runs = below(3);
      recording.submit_count = below(4);
      for (uint32_t event = 0; event < recording.event_count; ++event) {
        snapshot.events.push_back({static_cast<EventKind>(below(4)),
                                   static_cast<uint8_t>(below(8)),
                                   static_cast<uint16_t>(below(3)),
                                   kNone,
                                   below(14),
                                   {}});
      }
      snapshot.recordings.push_back(recording);
    }
    for (uint32_t i = 0, count = below(6); i < count; ++i) {
      snapshot.submissions.push_back(
          {i + 1u, index(3), index(snapshot.recordings.size()), below(5), below(5), 0});
    }
    SCOPED_TRACE(round);
    ExpectConsistent(snapshot, Analyse(snapshot));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace cairn
