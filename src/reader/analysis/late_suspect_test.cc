// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/late_suspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint32_t kNvidia = 0x10de;

void TellFault(Snapshot* snapshot, uint32_t address_count = 1, int32_t result = 0) {
  Fault fault;
  fault.device = 0;
  fault.result = result;
  fault.first_address = static_cast<uint32_t>(snapshot->fault_addresses.size());
  fault.address_count = address_count;
  snapshot->fault_addresses.resize(snapshot->fault_addresses.size() + address_count);
  snapshot->faults.push_back(fault);
}

// Dispatch (1, 2), copy (3, 4), barrier (5, 6), `last` (7, 8).
SnapshotBuilder WorkBehindABarrier(CairnMarkerType last, MarkerMode mode = MarkerMode::kFull) {
  SnapshotBuilder builder(mode);
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  builder.Scope(CAIRN_MARKER_COPY_BUFFER);
  builder.Scope(CAIRN_MARKER_PIPELINE_BARRIER);
  builder.Scope(last);
  builder.EndList();
  builder.Submit(queue, list);
  return builder;
}

TEST(LateSuspect, NoVendorIsLateByItsName) {
  SnapshotBuilder builder = WorkBehindABarrier(CAIRN_MARKER_DISPATCH);
  builder.snapshot.devices[0].vendor_id = kNvidia;
  builder.SetWords(0, 7, 6);
  const QueueVerdict verdict = Analyse(builder.snapshot).verdicts.at(0);
  EXPECT_THAT(verdict.candidates, ElementsAre(3));
  EXPECT_TRUE(verdict.exact);
  EXPECT_EQ(verdict.late_suspect, kNone);
  EXPECT_EQ(verdict.late_suspect_execution, kNone);
}

TEST(LateSuspect, WhatIsRunningAndCanHaveFaultedLeavesNoSuspect) {
  SnapshotBuilder builder = WorkBehindABarrier(CAIRN_MARKER_DISPATCH);
  TellFault(&builder.snapshot);
  builder.SetWords(0, 7, 6);
  EXPECT_EQ(Analyse(builder.snapshot).verdicts.at(0).late_suspect, kNone);
}

TEST(LateSuspect, AFaultThatNothingRunningCanHaveMadeNamesTheLastShaderWork) {
  SnapshotBuilder builder = WorkBehindABarrier(CAIRN_MARKER_PIPELINE_BARRIER);
  TellFault(&builder.snapshot);
  builder.SetWords(0, 7, 6);
  const QueueVerdict verdict = Analyse(builder.snapshot).verdicts.at(0);
  EXPECT_THAT(verdict.candidates, ElementsAre(3));
  EXPECT_EQ(verdict.late_suspect, 0u) << "the dispatch, not the copy";
  EXPECT_EQ(verdict.late_suspect_execution, 0u);
}

TEST(LateSuspect, SoDoesAFaultWhereEverythingFinished) {
  SnapshotBuilder builder = WorkBehindABarrier(CAIRN_MARKER_DISPATCH);
  TellFault(&builder.snapshot);
  builder.SetWords(0, 7, 8);
  const QueueVerdict verdict = Analyse(builder.snapshot).verdicts.at(0);
  EXPECT_THAT(verdict.candidates, IsEmpty());
  EXPECT_EQ(verdict.late_suspect, 3u);
}

TEST(LateSuspect, ThatItsFenceWasSeenMakesNoDifferenceToItsWord) {
  SnapshotBuilder builder = WorkBehindABarrier(CAIRN_MARKER_DISPATCH);
  TellFault(&builder.snapshot);
  builder.SetWords(0, 7, 8);
  builder.snapshot.queues[0].completed_submission = 1;
  EXPECT_EQ(Analyse(builder.snapshot).verdicts.at(0).late_suspect, 3u);
  // The word does not say so.
  builder.SetWords(0, 7, 6);
  EXPECT_EQ(Analyse(builder.snapshot).verdicts.at(0).late_suspect, 0u);
  builder.SetWords(0, 0, 0);
  EXPECT_EQ(Analyse(builder.snapshot).verdicts.at(0).late_suspect, kNone);
}

TEST(LateSuspect, WithoutAFaultFromTheDriverNothingIsShown) {
  SnapshotBuilder builder = WorkBehindABarrier(CAIRN_MARKER_PIPELINE_BARRIER);
  builder.SetWords(0, 7, 6);
  EXPECT_EQ(Analyse(builder.snapshot).verdicts.at(0).late_suspect, kNone);
  // A loss without an address, and a question that failed.
  TellFault(&builder.snapshot, 0);
  TellFault(&builder.snapshot, 1, -13);
  EXPECT_EQ(Analyse(builder.snapshot).verdicts.at(0).late_suspect, kNone);
}

TEST(LateSuspect, TheFaultIsThatOfItsDevice) {
  SnapshotBuilder builder = WorkBehindABarrier(CAIRN_MARKER_PIPELINE_BARRIER);
  builder.snapshot.devices.push_back(builder.snapshot.devices[0]);
  TellFault(&builder.snapshot);
  builder.snapshot.faults[0].device = 1;
  builder.SetWords(0, 7, 6);
  EXPECT_EQ(Analyse(builder.snapshot).verdicts.at(0).late_suspect, kNone);
}

// In mode top what finished within a list is known from what came later only.
TEST(LateSuspect, OnlyAWordAtTheBottomOfThePipeProvesThatItFinished) {
  SnapshotBuilder builder = WorkBehindABarrier(CAIRN_MARKER_PIPELINE_BARRIER, MarkerMode::kTop);
  builder.EndList();
  TellFault(&builder.snapshot);
  builder.SetWords(0, 7, 8);
  const Analysis analysis = Analyse(builder.snapshot);
  EXPECT_EQ(analysis.scopes[0].state, WorkState::kCompleted);
  EXPECT_EQ(analysis.verdicts.at(0).late_suspect, kNone);
}

TEST(LateSuspect, WorkOutsideOfMarkersMayBeWhatFaulted) {
  SnapshotBuilder builder = WorkBehindABarrier(CAIRN_MARKER_PIPELINE_BARRIER);
  TellFault(&builder.snapshot);
  builder.SetWords(0, 7, 8);
  const uint32_t unmarked = builder.BeginList(0);
  builder.Submit(0, unmarked);
  const QueueVerdict verdict = Analyse(builder.snapshot).verdicts.at(0);
  ASSERT_FALSE(verdict.list_candidates.empty());
  EXPECT_EQ(verdict.late_suspect, kNone);
}

TEST(LateSuspect, AnotherQueueOfTheDeviceMayBeWhatFaulted) {
  SnapshotBuilder builder = WorkBehindABarrier(CAIRN_MARKER_PIPELINE_BARRIER);
  TellFault(&builder.snapshot);
  builder.SetWords(0, 7, 6);
  const uint32_t other = builder.AddQueue();
  const uint32_t list = builder.BeginList(other);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  builder.EndList();
  builder.Submit(other, list);
  builder.SetWords(list, 1, 0);
  for (const QueueVerdict& verdict : Analyse(builder.snapshot).verdicts) {
    EXPECT_EQ(verdict.late_suspect, kNone);
  }
  // Both queues have finished work now, and the driver does not report which of them it was.
  builder.SetWords(list, 1, 2);
  for (const QueueVerdict& verdict : Analyse(builder.snapshot).verdicts) {
    EXPECT_EQ(verdict.late_suspect, kNone);
  }
}

TEST(LateSuspect, ItMayBeInAnEarlierList) {
  SnapshotBuilder builder = WorkBehindABarrier(CAIRN_MARKER_DRAW);
  TellFault(&builder.snapshot);
  builder.SetWords(0, 7, 8);
  const uint32_t last = builder.BeginList(0);
  builder.Scope(CAIRN_MARKER_PIPELINE_BARRIER);
  builder.EndList();
  builder.Submit(0, last);
  builder.SetWords(last, 1, 0);
  const Analysis analysis = Analyse(builder.snapshot);
  ASSERT_EQ(analysis.verdicts.at(0).late_suspect, 3u);
  EXPECT_EQ(analysis.executions[analysis.verdicts.at(0).late_suspect_execution].recording, 0u);
}

}  // namespace
}  // namespace cairn
