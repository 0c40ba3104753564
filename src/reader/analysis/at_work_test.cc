// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/at_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reader/analysis/submission_progress.h"
#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

LiveView View(const Snapshot& snapshot) {
  return MakeLiveView(snapshot, Analyse(snapshot));
}

// Frame { pass { draw draw draw } dispatch }: events 1 to 12.
uint32_t AddFrame(SnapshotBuilder* builder, uint32_t queue) {
  const uint32_t list = builder->BeginList(queue);
  builder->Begin(CAIRN_MARKER_PASS);                                      // 1
  builder->Begin(CAIRN_MARKER_PASS);                                      // 2
  for (int i = 0; i < 3; ++i) builder->Scope(CAIRN_MARKER_DRAW_INDEXED);  // 3 to 8
  builder->End();                                                         // 9
  builder->Scope(CAIRN_MARKER_DISPATCH);                                  // 10, 11
  builder->End();                                                         // 12
  return list;
}

TEST(Live, ShowsWhereTheGpuIs) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t idle = builder.AddQueue();
  for (int i = 0; i < 3; ++i) builder.Submit(queue, AddFrame(&builder, queue));
  builder.SetWords(0, 12, 12);
  builder.SetWords(1, 7, 6);
  const Analysis analysis = Analyse(builder.snapshot);
  const LiveView view = MakeLiveView(builder.snapshot, analysis);
  ASSERT_THAT(view.queues, SizeIs(2));
  const LiveQueue& live = view.queues[0];
  EXPECT_EQ(live.queue, queue);
  EXPECT_EQ(live.device, 0u);
  EXPECT_EQ(live.submitted, 3u);
  EXPECT_EQ(live.finished, 1u);
  EXPECT_EQ(live.pending, 2u);
  EXPECT_EQ(live.running_count, 1u);
  EXPECT_EQ(live.not_started_count, 1u);
  EXPECT_FALSE(live.unknown);
  ASSERT_THAT(live.running, SizeIs(1));
  const LiveExecution& running = live.running[0];
  EXPECT_EQ(running.submission, 2u);
  EXPECT_EQ(analysis.executions[running.execution].recording, 1u);
  EXPECT_EQ(running.reached, 7u);
  EXPECT_EQ(running.passed, 6u);
  EXPECT_EQ(running.event_count, 12u);
  EXPECT_EQ(running.candidate_count, 1u);
  // Frame > pass > draw 3.
  const std::vector<uint32_t> path = ScopePath(analysis, running.scope);
  ASSERT_THAT(path, SizeIs(3));
  EXPECT_EQ(analysis.scopes[path[0]].depth, 0u);
  EXPECT_EQ(analysis.scopes[path[1]].depth, 1u);
  EXPECT_EQ(analysis.scopes[path[2]].ordinal, 3u);
  EXPECT_EQ(view.queues[1].queue, idle);
  EXPECT_EQ(view.queues[1].pending, 0u);
  EXPECT_THAT(view.queues[1].running, IsEmpty());
}

TEST(Live, InModeTopTheLastThatWasReached) {
  SnapshotBuilder builder(MarkerMode::kTop);
  const uint32_t queue = builder.AddQueue();
  builder.Submit(queue, AddFrame(&builder, queue));
  builder.SetWords(0, 5, 0);
  const Analysis analysis = Analyse(builder.snapshot);
  const LiveView view = MakeLiveView(builder.snapshot, analysis);
  const LiveExecution& running = view.queues.at(0).running.at(0);
  EXPECT_EQ(running.candidate_count, 2u);
  EXPECT_EQ(analysis.scopes[running.scope].ordinal, 2u);
}

TEST(Live, BetweenScopesTheOneAround) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  builder.Submit(queue, AddFrame(&builder, queue));
  builder.SetWords(0, 7, 8);
  const Analysis analysis = Analyse(builder.snapshot);
  const LiveView view = MakeLiveView(builder.snapshot, analysis);
  const LiveExecution& running = view.queues.at(0).running.at(0);
  EXPECT_EQ(running.reached, 8u);
  EXPECT_THAT(ScopePath(analysis, running.scope), SizeIs(2));
}

TEST(Live, WorkOutsideOfScopesHasNone) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  builder.snapshot.recordings[list].open = true;
  builder.Submit(queue, list);
  builder.Submit(queue, builder.BeginList(queue));
  builder.SetWords(0, 1, 2);
  const Analysis analysis = Analyse(builder.snapshot);
  const LiveView view = MakeLiveView(builder.snapshot, analysis);
  for (const LiveExecution& running : view.queues.at(0).running) {
    EXPECT_EQ(running.scope, kNone);
    EXPECT_EQ(running.candidate_count, 0u);
  }
  EXPECT_THAT(ScopePath(analysis, kNone), IsEmpty());
}

TEST(Live, ListsWithoutAQueueStandLast) {
  SnapshotBuilder builder;
  builder.AddQueue();
  const uint32_t list = builder.BeginList(kNone);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  builder.SetWords(list, 1, 0);
  const LiveView view = View(builder.snapshot);
  ASSERT_THAT(view.queues, SizeIs(2));
  EXPECT_EQ(view.queues[1].queue, kNone);
  EXPECT_EQ(view.queues[1].device, 0u);
  EXPECT_EQ(view.queues[1].running_count, 1u);
  EXPECT_EQ(view.queues[1].running.at(0).submission, 0u);
}

TEST(Live, DestroyedDevicesAreLeftOut) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  builder.Submit(queue, AddFrame(&builder, queue));
  builder.SetWords(0, 5, 0);
  builder.snapshot.devices[0].destroyed = true;
  EXPECT_THAT(View(builder.snapshot).queues, IsEmpty());
}

// The last submission has a fence only.
TEST(Live, AnIdleQueueHasNothingPending) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  builder.Submit(queue, AddFrame(&builder, queue));
  builder.SetWords(0, 12, 12);
  ++builder.snapshot.queues[queue].submission_count;
  const LiveView view = View(builder.snapshot);
  EXPECT_EQ(view.queues.at(0).submitted, 2u);
  EXPECT_EQ(view.queues[0].pending, 0u);
}

TEST(Live, WhatWritesNothingIsUnknown) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DISPATCH, /*writes=*/false);
  builder.Submit(queue, list);
  const LiveView view = View(builder.snapshot);
  EXPECT_TRUE(view.queues.at(0).unknown);
  EXPECT_THAT(view.queues[0].running, IsEmpty());
  builder.snapshot.queues[queue].completed_submission = 1;
  EXPECT_FALSE(View(builder.snapshot).queues.at(0).unknown);
}

TEST(Live, ModeOffIsUnknown) {
  SnapshotBuilder builder(MarkerMode::kOff);
  const uint32_t queue = builder.AddQueue();
  builder.Submit(queue, AddFrame(&builder, queue));
  builder.Submit(queue, AddFrame(&builder, queue));
  builder.snapshot.queues[queue].completed_submission = 1;
  const LiveView view = View(builder.snapshot);
  EXPECT_TRUE(view.queues.at(0).unknown);
  EXPECT_EQ(view.queues[0].finished, 1u);
  EXPECT_EQ(view.queues[0].pending, 1u);
  EXPECT_THAT(view.queues[0].running, IsEmpty());
}

TEST(Live, OfManyTheFirstOnes) {
  SnapshotBuilder builder(MarkerMode::kTop);
  const uint32_t queue = builder.AddQueue();
  for (int i = 0; i < 20; ++i) {
    const uint32_t list = builder.BeginList(queue);
    builder.Scope(CAIRN_MARKER_DISPATCH);
    builder.EndList();
    builder.Submit(queue, list);
    builder.SetWords(list, 1, 0);
  }
  const LiveView view = View(builder.snapshot);
  EXPECT_EQ(view.queues.at(0).running_count, 20u);
  ASSERT_THAT(view.queues[0].running, SizeIs(kMostLiveExecutions));
  EXPECT_EQ(view.queues[0].running[0].submission, 1u);
}

TEST(SubmissionProgress, ASubmissionWithoutListsHasFinishedWhenALaterOneHas) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  builder.Submit(queue, AddFrame(&builder, queue));
  ++builder.snapshot.queues[queue].submission_count;  // 2: only signals, say
  builder.SetWords(0, 12, 12);
  const auto progress = [&builder] {
    return FindSubmissionProgress(builder.snapshot, Analyse(builder.snapshot)).at(0);
  };
  EXPECT_EQ(progress().submitted, 2u);
  EXPECT_EQ(progress().finished, 1u);
  EXPECT_EQ(progress().first_with_unfinished_list, 0u);
  builder.Submit(queue, AddFrame(&builder, queue));  // 3
  EXPECT_EQ(progress().finished, 1u);
  EXPECT_EQ(progress().first_with_unfinished_list, 3u);
  EXPECT_FALSE(progress().begun);
  builder.SetWords(1, 1, 0);
  EXPECT_TRUE(progress().begun);
  EXPECT_EQ(progress().finished, 2u);
  builder.SetWords(1, 12, 12);
  EXPECT_EQ(progress().finished, 3u);
}

TEST(SubmissionProgress, NeverBeyondWhatWasSubmitted) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  builder.Submit(queue, AddFrame(&builder, queue));
  builder.snapshot.queues[queue].completed_submission = UINT64_MAX;
  EXPECT_EQ(FindSubmissionProgress(builder.snapshot, Analyse(builder.snapshot)).at(0).finished, 1u);
}

TEST(SubmissionProgress, RecycledListsHadFinished) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  builder.Submit(queue, AddFrame(&builder, queue));
  builder.snapshot.submissions[0].recording = kNone;
  EXPECT_EQ(FindSubmissionProgress(builder.snapshot, Analyse(builder.snapshot)).at(0).finished, 1u);
}

}  // namespace
}  // namespace cairn
