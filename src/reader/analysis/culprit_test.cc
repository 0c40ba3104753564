// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/culprit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "format/block/raw_marker_binds.h"
#include "reader/analysis/findings.h"
#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CulpritFinding Find(const Snapshot& snapshot, uint32_t device = kNone) {
  return AnalyseDump(snapshot, device).culprit;
}

std::vector<uint32_t> Scopes(const CulpritFinding& finding) {
  std::vector<uint32_t> scopes;
  for (const SuspectWork& suspect : finding.suspects) scopes.push_back(suspect.scope);
  return scopes;
}

std::vector<SuspectReason> Reasons(const CulpritFinding& finding) {
  std::vector<SuspectReason> reasons;
  for (const SuspectWork& suspect : finding.suspects) reasons.push_back(suspect.reason);
  return reasons;
}

void Note(IncidentKind kind, int64_t value, Snapshot* snapshot, uint32_t queue = kNone) {
  snapshot->incidents.push_back({.kind = kind, .value = value, .queue = queue});
}

// A list of these works, submitted; scopes are numbered as they stand, events 2 n + 1 and 2 n + 2.
uint32_t AddList(SnapshotBuilder* builder, uint32_t queue,
                 const std::vector<CairnMarkerType>& works, bool writes = true) {
  const uint32_t list = builder->BeginList(queue);
  for (const CairnMarkerType work : works) builder->Scope(work, writes);
  builder->EndList();
  builder->Submit(queue, list);
  return list;
}

SnapshotBuilder OneList(MarkerMode mode, const std::vector<CairnMarkerType>& works,
                        uint32_t reached, uint32_t passed) {
  SnapshotBuilder builder(mode);
  const uint32_t list = AddList(&builder, builder.AddQueue(), works);
  builder.SetWords(list, reached, passed);
  return builder;
}

// One dispatch at work.
SnapshotBuilder Exact() {
  return OneList(MarkerMode::kFull, {CAIRN_MARKER_DRAW, CAIRN_MARKER_DISPATCH, CAIRN_MARKER_DRAW},
                 3, 2);
}

TEST(Culprit, WhatHappenedFollowsFromTheIncidents) {
  struct Row {
    IncidentKind kind;
    int64_t value;
    FindingKind expected;
  };
  for (const Row& row : {Row{IncidentKind::kHang, 2000, FindingKind::kGpuHang},
                         Row{IncidentKind::kDeviceLost, -4, FindingKind::kDeviceLost},
                         Row{IncidentKind::kSignal, 11, FindingKind::kCpuFault},
                         Row{IncidentKind::kSignal, 6, FindingKind::kCpuFault},
                         Row{IncidentKind::kSignal, 9, FindingKind::kKilled},
                         Row{IncidentKind::kSignal, 15, FindingKind::kKilled},
                         Row{IncidentKind::kSignal, 0, FindingKind::kExited},
                         Row{IncidentKind::kExited, 3, FindingKind::kExited},
                         Row{IncidentKind::kRequested, 0, FindingKind::kNothingWrong}}) {
    SnapshotBuilder builder = Exact();
    Note(row.kind, row.value, &builder.snapshot, row.kind == IncidentKind::kHang ? 0 : kNone);
    const CulpritFinding finding = Find(builder.snapshot);
    EXPECT_EQ(finding.kind, row.expected) << row.value;
    EXPECT_EQ(finding.incident, 0u);
    EXPECT_EQ(finding.certainty, Certainty::kProven);
    EXPECT_THAT(Scopes(finding), ElementsAre(1));
    EXPECT_THAT(Reasons(finding), ElementsAre(SuspectReason::kOnlyWorkRunning));
  }
}

// Work that faulted may have ended by its words there: the one in flight is likely, and no more.
TEST(Culprit, ADeviceThatNoticesFaultsLateProvesNothing) {
  SnapshotBuilder builder = Exact();
  Note(IncidentKind::kDeviceLost, -4, &builder.snapshot);
  EXPECT_EQ(Find(builder.snapshot).certainty, Certainty::kProven);
  builder.snapshot.devices[0].notes =
      builder.snapshot.AddText("a fault surfaces up to one dispatch late");
  const CulpritFinding finding = Find(builder.snapshot);
  EXPECT_EQ(finding.certainty, Certainty::kLikely);
  EXPECT_THAT(Scopes(finding), ElementsAre(1));
  EXPECT_THAT(Reasons(finding), ElementsAre(SuspectReason::kOnlyWorkRunning));
}

TEST(Culprit, AnOrderlyEndIsNothingWrong) {
  SnapshotBuilder builder = OneList(MarkerMode::kFull, {CAIRN_MARKER_DRAW}, 1, 2);
  Note(IncidentKind::kExited, 0, &builder.snapshot);
  const CulpritFinding finding = Find(builder.snapshot);
  EXPECT_EQ(finding.kind, FindingKind::kNothingWrong);
  EXPECT_EQ(finding.certainty, Certainty::kNothingRunning);
  EXPECT_THAT(finding.suspects, IsEmpty());
  EXPECT_EQ(Find(Snapshot()).certainty, Certainty::kUnknown);
  EXPECT_EQ(Find(Snapshot()).incident, kNone);
}

TEST(Culprit, TheFirstThatWasNoticedIsTheCause) {
  SnapshotBuilder builder = Exact();
  Note(IncidentKind::kRequested, 0, &builder.snapshot);
  Note(IncidentKind::kDeviceLost, -4, &builder.snapshot);
  Note(IncidentKind::kSignal, 6, &builder.snapshot);
  EXPECT_EQ(Find(builder.snapshot).kind, FindingKind::kDeviceLost);
  EXPECT_EQ(Find(builder.snapshot).incident, 1u);
}

TEST(Culprit, AFaultAddressOrTheKernelTellsOfAFault) {
  SnapshotBuilder builder = Exact();
  Snapshot& snapshot = builder.snapshot;
  Note(IncidentKind::kDeviceLost, -4, &snapshot);
  snapshot.fault_addresses = {{FaultAddressType::kNone, 0, 0, 1},
                              {FaultAddressType::kWriteInvalid, 0, 0x1000, 1}};
  snapshot.faults.resize(1);
  snapshot.faults[0].device = 0;
  EXPECT_EQ(Find(snapshot).kind, FindingKind::kDeviceLost) << "no address";
  snapshot.faults[0].address_count = 2;
  EXPECT_EQ(Find(snapshot).kind, FindingKind::kGpuFault);
  EXPECT_EQ(Find(snapshot).fault_address, 1u);
  snapshot.faults[0].result = -13;
  EXPECT_EQ(Find(snapshot).kind, FindingKind::kDeviceLost) << "the question failed";

  snapshot.kernel_lines = {{.tells_fault = true}, {.names_process = true}};
  EXPECT_EQ(Find(snapshot).kind, FindingKind::kDeviceLost) << "not of this process, or no fault";
  snapshot.kernel_lines.push_back({.names_process = true, .tells_fault = true});
  EXPECT_EQ(Find(snapshot).kind, FindingKind::kGpuFault);
  EXPECT_EQ(Find(snapshot).kernel_line, 2u);
}

// A line of the kernel's log names no device.
TEST(Culprit, AFaultThatTheKernelLoggedIsOfTheDeviceThatFailed) {
  SnapshotBuilder builder = Exact();
  Snapshot& snapshot = builder.snapshot;
  snapshot.devices.push_back(snapshot.devices[0]);
  snapshot.kernel_lines = {{.names_process = true, .tells_fault = true}};
  for (const uint32_t device : {0u, 1u, kNone}) {
    EXPECT_EQ(Find(snapshot, device).kind, FindingKind::kGpuFault) << "nobody knows whose it is";
  }
  Note(IncidentKind::kDeviceLost, -4, &snapshot);
  snapshot.devices[1].device_lost = true;
  EXPECT_EQ(Find(snapshot, 0).kind, FindingKind::kNothingWrong);
  EXPECT_EQ(Find(snapshot, 0).kernel_line, kNone);
  EXPECT_EQ(Find(snapshot, 1).kind, FindingKind::kGpuFault);
  EXPECT_EQ(Find(snapshot, 1).kernel_line, 0u);
  EXPECT_EQ(Find(snapshot).kind, FindingKind::kGpuFault);
  // The other device's driver tells of a fault, without its address.
  snapshot.devices[1].device_lost = false;
  snapshot.faults.push_back({.device = 0});
  EXPECT_EQ(Find(snapshot, 0).kernel_line, 0u);
  EXPECT_EQ(Find(snapshot, 1).kernel_line, kNone);
}

// A GPU that did not wait may have gone on past the work that faulted.
TEST(Culprit, AFaultBehindWhichAllHadFinishedIsOfWhatHadFinished) {
  SnapshotBuilder builder(MarkerMode::kFull);
  Snapshot& snapshot = builder.snapshot;
  const uint32_t queues[] = {builder.AddQueue(), builder.AddQueue(), builder.AddQueue()};
  const uint32_t first = AddList(&builder, queues[0], {CAIRN_MARKER_DRAW, CAIRN_MARKER_DISPATCH});
  const uint32_t second =
      AddList(&builder, queues[0], {CAIRN_MARKER_DRAW, CAIRN_MARKER_PIPELINE_BARRIER});
  const uint32_t third = AddList(&builder, queues[0], {CAIRN_MARKER_DRAW});
  const uint32_t labels = AddList(&builder, queues[1], {CAIRN_MARKER_PIPELINE_BARRIER});
  AddList(&builder, queues[2], {CAIRN_MARKER_DRAW});
  Note(IncidentKind::kDeviceLost, -4, &snapshot);
  CulpritFinding finding = Find(snapshot);
  EXPECT_EQ(finding.certainty, Certainty::kNothingRunning) << "nothing had ever begun";
  EXPECT_THAT(finding.last_completed, IsEmpty());

  builder.SetWords(first, 4, 4);
  builder.SetWords(second, 4, 4);
  builder.SetWords(labels, 2, 2);
  finding = Find(snapshot);
  EXPECT_EQ(finding.kind, FindingKind::kDeviceLost);
  EXPECT_EQ(finding.certainty, Certainty::kAllCompleted);
  EXPECT_THAT(finding.suspects, IsEmpty());
  const Analysis analysis = Analyse(snapshot);
  ASSERT_EQ(finding.last_completed.size(), 2u);
  EXPECT_EQ(analysis.executions[finding.last_completed[0].execution].recording, second);
  ASSERT_NE(finding.last_completed[0].scope, kNone);
  EXPECT_EQ(snapshot.events[analysis.scopes[finding.last_completed[0].scope].event].type,
            CAIRN_MARKER_DRAW)
      << "the barrier runs nothing";
  EXPECT_EQ(analysis.verdicts[finding.last_completed[1].verdict].queue, queues[1]);
  EXPECT_EQ(finding.last_completed[1].scope, kNone);
  EXPECT_EQ(analysis.executions[finding.last_completed[1].execution].recording, labels);

  snapshot.kernel_lines = {{.names_process = true, .tells_fault = true}};
  EXPECT_EQ(Find(snapshot).kind, FindingKind::kGpuFault);
  EXPECT_EQ(Find(snapshot).certainty, Certainty::kAllCompleted);
  builder.SetWords(third, 1, 0);
  EXPECT_EQ(Find(snapshot).certainty, Certainty::kProven) << "something runs";

  // Without a fault there is no suspect.
  builder.SetWords(third, 2, 2);
  snapshot.kernel_lines.clear();
  for (const IncidentKind kind : {IncidentKind::kExited, IncidentKind::kHang}) {
    snapshot.incidents.clear();
    Note(kind, 0, &snapshot);
    EXPECT_EQ(Find(snapshot).certainty, Certainty::kNothingRunning);
    EXPECT_THAT(Find(snapshot).last_completed, IsEmpty());
  }
}

TEST(Culprit, WhereTheModeDoesNotTellTheLastReachedIsLikeliest) {
  SnapshotBuilder builder =
      OneList(MarkerMode::kTop,
              {CAIRN_MARKER_DRAW, CAIRN_MARKER_DISPATCH, CAIRN_MARKER_COPY_BUFFER,
               CAIRN_MARKER_PIPELINE_BARRIER, CAIRN_MARKER_DRAW},
              7, 0);
  const CulpritFinding finding = Find(builder.snapshot);
  EXPECT_THAT(Scopes(finding), ElementsAre(1, 0, 2, 3));
  EXPECT_THAT(Reasons(finding),
              ElementsAre(SuspectReason::kLastReached, SuspectReason::kReached,
                          SuspectReason::kLastReached, SuspectReason::kRunsNothing));
  EXPECT_EQ(finding.certainty, Certainty::kLikely);
}

// In a render pass, say: the front end stands at the last write or somewhere behind it.
TEST(Culprit, BehindTheLastWriteTheNearestIsLikeliest) {
  SnapshotBuilder builder(MarkerMode::kTop);
  const uint32_t list = builder.BeginList(builder.AddQueue());
  builder.Scope(CAIRN_MARKER_DISPATCH);
  builder.Begin(CAIRN_MARKER_BEGIN_RENDERING);
  builder.End();
  builder.Scope(CAIRN_MARKER_DRAW, false);
  builder.Scope(CAIRN_MARKER_DRAW, false);
  builder.EndList();
  builder.Submit(0, list);
  builder.SetWords(list, 3, 0);
  const CulpritFinding finding = Find(builder.snapshot);
  EXPECT_THAT(Scopes(finding), ElementsAre(2, 3, 0, 1));
  EXPECT_THAT(Reasons(finding), ElementsAre(SuspectReason::kTied, SuspectReason::kTied,
                                            SuspectReason::kReached, SuspectReason::kRunsNothing));
  EXPECT_EQ(finding.suspects[0].tied_count, 2u);
  EXPECT_TRUE(finding.suspects[0].tied_in_pass);
  EXPECT_EQ(finding.certainty, Certainty::kOneOf);
}

// Like draws of Direct3D 12 on vkd3d: a write precedes the first draw, but not those that follow.
TEST(Culprit, TheLastReachedTiesWithWhatFollowsWithoutAWrite) {
  SnapshotBuilder builder(MarkerMode::kTop);
  const uint32_t list = builder.BeginList(builder.AddQueue());
  builder.Scope(CAIRN_MARKER_DISPATCH);
  builder.Scope(CAIRN_MARKER_DRAW);
  builder.Scope(CAIRN_MARKER_DRAW, false);
  builder.Scope(CAIRN_MARKER_DRAW, false);
  builder.Scope(CAIRN_MARKER_DRAW);
  builder.EndList();
  builder.Submit(0, list);
  builder.SetWords(list, 3, 0);
  CulpritFinding finding = Find(builder.snapshot);
  EXPECT_THAT(Scopes(finding), ElementsAre(1, 2, 3, 0));
  EXPECT_THAT(Reasons(finding), ElementsAre(SuspectReason::kTied, SuspectReason::kTied,
                                            SuspectReason::kTied, SuspectReason::kReached));
  EXPECT_EQ(finding.tied, 3u);
  EXPECT_EQ(finding.suspects[0].tied_count, 3u);
  // The tied draw whose shader has a loop goes first.
  Snapshot& snapshot = builder.snapshot;
  for (const uint64_t hash : {uint64_t{1}, uint64_t{2}}) {
    Pipeline pipeline;
    pipeline.device = 0;
    pipeline.shader_hashes[kStagePixel] = hash;
    snapshot.pipelines.push_back(pipeline);
    snapshot.shaders.push_back({.hash = hash,
                                .code = ShaderCode::kDxbc,
                                .traits = kShaderRead | (hash == 2 ? kShaderLoops : 0)});
  }
  for (const uint32_t draw : {2u, 4u, 6u}) snapshot.events[draw].pipeline = draw == 4 ? 1 : 0;
  finding = Find(snapshot);
  EXPECT_THAT(Scopes(finding), ElementsAre(2, 1, 3, 0));
  EXPECT_EQ(finding.suspects[0].tie_evidence, TieEvidence::kLoops);
  EXPECT_EQ(finding.certainty, Certainty::kLikely);
}

TEST(Culprit, WhereTheModeTellsTheFirstUnfinishedStandsFirst) {
  SnapshotBuilder builder = OneList(MarkerMode::kFull,
                                    {CAIRN_MARKER_COPY_BUFFER, CAIRN_MARKER_DRAW,
                                     CAIRN_MARKER_DISPATCH, CAIRN_MARKER_BEGIN_RENDERING},
                                    7, 0);
  const CulpritFinding finding = Find(builder.snapshot);
  EXPECT_THAT(Scopes(finding), ElementsAre(1, 2, 0, 3));
  EXPECT_THAT(Reasons(finding),
              ElementsAre(SuspectReason::kFirstUnfinished, SuspectReason::kUnfinished,
                          SuspectReason::kFirstUnfinished, SuspectReason::kRunsNothing));
  EXPECT_EQ(finding.certainty, Certainty::kOneOf);
}

TEST(Culprit, APassMayHoldWorkThatNobodyMarked) {
  SnapshotBuilder builder = OneList(
      MarkerMode::kTop, {CAIRN_MARKER_COPY_BUFFER, CAIRN_MARKER_PASS, CAIRN_MARKER_BARRIER}, 5, 0);
  EXPECT_THAT(Scopes(Find(builder.snapshot)), ElementsAre(1, 0, 2));
}

// Binds `object` before each of `count` dispatches but those for which it is kNone.
SnapshotBuilder BoundDispatches(MarkerMode mode, const std::vector<uint32_t>& objects,
                                uint32_t* list) {
  SnapshotBuilder builder(mode);
  Snapshot& snapshot = builder.snapshot;
  snapshot.objects.resize(2);
  snapshot.objects[0].state = ObjectState::kAlive;
  snapshot.objects[1].state = ObjectState::kDestroyed;
  snapshot.objects[1].destroyed_ns = 1;
  *list = builder.BeginList(builder.AddQueue());
  for (const uint32_t object : objects) {
    Event bind;
    bind.kind = EventKind::kBind;
    bind.type = static_cast<uint16_t>(BindPoint::kSource);
    bind.detail = static_cast<uint32_t>(snapshot.binds.size());
    snapshot.binds.push_back({0, false, object});
    snapshot.events.push_back(bind);
    ++snapshot.recordings.back().event_count;
    builder.Scope(CAIRN_MARKER_DISPATCH);
  }
  builder.EndList();
  builder.Submit(0, *list);
  return builder;
}

TEST(Culprit, WhatUsesADestroyedObjectGoesBeforeItsNeighboursButNotBeforeTheFirst) {
  uint32_t list = 0;
  SnapshotBuilder builder = BoundDispatches(MarkerMode::kTop, {0, 1, 0, 0}, &list);
  builder.SetWords(list, 11, 0);
  CulpritFinding finding = Find(builder.snapshot);
  EXPECT_THAT(Scopes(finding), ElementsAre(3, 1, 2, 0));
  EXPECT_EQ(finding.suspects[0].binding, kNone);
  ASSERT_NE(finding.suspects[1].binding, kNone);
  EXPECT_EQ(Analyse(builder.snapshot).bindings[finding.suspects[1].binding].object, 1u);
  builder.snapshot.devices[0].mode = MarkerMode::kFull;
  EXPECT_THAT(Scopes(Find(builder.snapshot)), ElementsAre(0, 1, 2, 3));
}

// Two queues with a dispatch each, at work.
SnapshotBuilder TwoQueues() {
  SnapshotBuilder builder(MarkerMode::kFull);
  for (int i = 0; i < 2; ++i) {
    const uint32_t list = AddList(&builder, builder.AddQueue(), {CAIRN_MARKER_DISPATCH});
    builder.SetWords(list, 1, 0);
  }
  return builder;
}

void TellSync(SyncKind kind, uint32_t queue, uint64_t semaphore, Snapshot* snapshot) {
  Sync sync;
  sync.serial = snapshot->syncs.size() + 1;
  sync.kind = kind;
  sync.device = 0;
  sync.queue = queue;
  sync.submission_number = 1;
  sync.native_handle = semaphore;
  sync.value = 1;
  snapshot->syncs.push_back(sync);
}

TEST(Culprit, OfTwoQueuesThatNothingSeparatesNeitherIsLikelier) {
  SnapshotBuilder builder = TwoQueues();
  CulpritFinding finding = Find(builder.snapshot);
  EXPECT_THAT(Scopes(finding), ElementsAre(0, 1));
  EXPECT_EQ(finding.certainty, Certainty::kOneOf);
  EXPECT_EQ(finding.tied, 2u);
  // The queue whose work was submitted first stands first.
  std::swap(builder.snapshot.submissions[0].recording, builder.snapshot.submissions[1].recording);
  std::swap(builder.snapshot.submissions[0].queue, builder.snapshot.submissions[1].queue);
  finding = Find(builder.snapshot);
  EXPECT_THAT(Scopes(finding), ElementsAre(1, 0));
  EXPECT_EQ(finding.certainty, Certainty::kOneOf);
}

TEST(Culprit, TheQueueThatHangsStandsFirst) {
  SnapshotBuilder builder = TwoQueues();
  Note(IncidentKind::kHang, 2000, &builder.snapshot, 1);
  EXPECT_THAT(Scopes(Find(builder.snapshot)), ElementsAre(1, 0));
  EXPECT_EQ(Find(builder.snapshot).certainty, Certainty::kLikely);
  EXPECT_EQ(Find(builder.snapshot).tied, 1u);
}

TEST(Culprit, AQueueThatStoodStillNearlyAsLongIsAsLikely) {
  SnapshotBuilder builder = TwoQueues();
  Snapshot& snapshot = builder.snapshot;
  constexpr uint64_t kSecond = 1'000'000'000;
  snapshot.process.start_time_ns = 1000 * kSecond;
  snapshot.process.start_monotonic_ns = 10 * kSecond;
  Note(IncidentKind::kHang, 2000, &snapshot, 1);
  snapshot.incidents[0].time_ns = 1005 * kSecond;  // 15 s of the other clock
  snapshot.queues[1].still_since_ns = 13 * kSecond;
  snapshot.queues[0].still_since_ns = 13 * kSecond + kSecond / 10;
  EXPECT_EQ(Find(snapshot).certainty, Certainty::kOneOf);
  EXPECT_EQ(Find(snapshot).tied, 2u);
  // One that went on has no part in it.
  snapshot.queues[0].still_since_ns = 14 * kSecond + kSecond / 2;
  EXPECT_EQ(Find(snapshot).certainty, Certainty::kLikely);
  EXPECT_THAT(Scopes(Find(snapshot)), ElementsAre(1, 0));
}

TEST(Culprit, OnNvidiaADispatchGoesBeforeADrawOfAnotherQueue) {
  SnapshotBuilder builder(MarkerMode::kFull);
  for (const CairnMarkerType type : {CAIRN_MARKER_DRAW, CAIRN_MARKER_DISPATCH}) {
    const uint32_t list = AddList(&builder, builder.AddQueue(), {type});
    builder.SetWords(list, 1, 0);
  }
  Note(IncidentKind::kHang, 2000, &builder.snapshot, 0);
  Note(IncidentKind::kHang, 2000, &builder.snapshot, 1);
  EXPECT_EQ(Find(builder.snapshot).certainty, Certainty::kOneOf);
  EXPECT_THAT(Scopes(Find(builder.snapshot)), ElementsAre(0, 1));
  builder.snapshot.devices[0].vendor_id = 0x10DE;
  EXPECT_EQ(Find(builder.snapshot).certainty, Certainty::kLikely);
  EXPECT_THAT(Scopes(Find(builder.snapshot)), ElementsAre(1, 0));
}

TEST(Culprit, InModeTopDispatchesWithoutABarrierAreAlikeAndTheEarliestStandsFirst) {
  // Three side by side, a barrier, and one behind it: the first three were all reached, the last was not.
  SnapshotBuilder builder =
      OneList(MarkerMode::kTop,
              {CAIRN_MARKER_DISPATCH, CAIRN_MARKER_PIPELINE_BARRIER, CAIRN_MARKER_DISPATCH,
               CAIRN_MARKER_DISPATCH, CAIRN_MARKER_DISPATCH, CAIRN_MARKER_PIPELINE_BARRIER,
               CAIRN_MARKER_DISPATCH},
              11, 0);
  CulpritFinding finding = Find(builder.snapshot);
  EXPECT_THAT(Scopes(finding), ElementsAre(2, 3, 4, 0, 5, 1));
  EXPECT_EQ(finding.certainty, Certainty::kOneOf);
  EXPECT_EQ(finding.tied, 3u);
  EXPECT_EQ(finding.suspects[0].reason, SuspectReason::kReachedTogether);
  // If one of the three was not reached, the GPU stands at the last one that was.
  builder.SetWords(0, 7, 0);
  finding = Find(builder.snapshot);
  EXPECT_EQ(finding.suspects[0].scope, 3u);
  EXPECT_EQ(finding.certainty, Certainty::kLikely);
  EXPECT_EQ(finding.suspects[0].reason, SuspectReason::kLastReached);
}

TEST(Culprit, ACheckpointOrAnEventIdOfTheDriverSpeaksForItsQueue) {
  SnapshotBuilder builder = TwoQueues();
  Snapshot& snapshot = builder.snapshot;
  const auto add = [&snapshot](uint32_t queue, PipeStage stage, uint32_t sequence) {
    snapshot.checkpoints.push_back({0, queue, stage, queue, sequence});
  };
  add(0, PipeStage::kTop, 1);
  add(0, PipeStage::kBottom, 1);
  add(1, PipeStage::kTop, 1);
  EXPECT_THAT(Scopes(Find(snapshot)), ElementsAre(1, 0));
  snapshot.checkpoints.clear();
  snapshot.annotations.resize(1);
  snapshot.annotations[0].event_id = 7;
  snapshot.events[snapshot.recordings[1].first_event].detail = 0;
  snapshot.reported_event_ids = {{0, 7, EventIdState::kResolved, 0}};
  EXPECT_THAT(Scopes(Find(snapshot)), ElementsAre(1, 0));
}

TEST(Culprit, AQueueThatOnlyWaitsStandsLast) {
  SnapshotBuilder builder = TwoQueues();
  Snapshot& snapshot = builder.snapshot;
  // In mode top nothing says that the first has not begun.
  snapshot.events[0].flags = 0;
  builder.SetWords(0, 0, 0);
  TellSync(SyncKind::kWait, 0, 0x10, &snapshot);
  TellSync(SyncKind::kSignal, 1, 0x10, &snapshot);
  const CulpritFinding finding = Find(snapshot);
  EXPECT_THAT(Scopes(finding), ElementsAre(1, 0));
  EXPECT_EQ(finding.suspects[1].reason, SuspectReason::kHeldBack);
  // The hang of this queue comes from the queue that it waits for.
  Note(IncidentKind::kHang, 2000, &snapshot, 0);
  EXPECT_EQ(Find(snapshot).kind, FindingKind::kGpuHang);
  EXPECT_THAT(Scopes(Find(snapshot)), ElementsAre(1, 0));
}

TEST(Culprit, ABarrierOnTheHungQueueStandsBehindWorkOfAnother) {
  SnapshotBuilder builder(MarkerMode::kFull);
  for (const CairnMarkerType type : {CAIRN_MARKER_PIPELINE_BARRIER, CAIRN_MARKER_DRAW}) {
    builder.SetWords(AddList(&builder, builder.AddQueue(), {type}), 1, 0);
  }
  Note(IncidentKind::kHang, 2000, &builder.snapshot, 0);
  EXPECT_THAT(Scopes(Find(builder.snapshot)), ElementsAre(1, 0));
}

TEST(Culprit, InADeadlockNoWorkIsASuspect) {
  SnapshotBuilder builder(MarkerMode::kTop);
  for (uint32_t i = 0; i < 2; ++i)
    AddList(&builder, builder.AddQueue(), {CAIRN_MARKER_DRAW}, false);
  for (uint32_t i = 0; i < 2; ++i) {
    TellSync(SyncKind::kWait, i, 0x10 + i, &builder.snapshot);
    TellSync(SyncKind::kSignal, i, 0x11 - i, &builder.snapshot);
  }
  for (const IncidentKind kind :
       {IncidentKind::kHang, IncidentKind::kSignal, IncidentKind::kRequested}) {
    builder.snapshot.incidents.clear();
    Note(kind, 9, &builder.snapshot, kind == IncidentKind::kHang ? 1 : kNone);
    const CulpritFinding finding = Find(builder.snapshot);
    EXPECT_EQ(finding.kind, FindingKind::kDeadlock);
    EXPECT_EQ(finding.certainty, Certainty::kProven);
    EXPECT_EQ(finding.cycle, 0u);
    EXPECT_THAT(finding.suspects, IsEmpty());
  }
  // A fault of the CPU explains the end, so that the deadlock does not.
  builder.snapshot.incidents.clear();
  Note(IncidentKind::kSignal, 11, &builder.snapshot);
  EXPECT_EQ(Find(builder.snapshot).kind, FindingKind::kCpuFault);
}

TEST(Culprit, AWaitForNothingIsFollowedToItsEnd) {
  SnapshotBuilder builder(MarkerMode::kTop);
  for (uint32_t i = 0; i < 2; ++i)
    AddList(&builder, builder.AddQueue(), {CAIRN_MARKER_DRAW}, false);
  // Queue 0 waits for queue 1, which waits for a signal that never comes.
  TellSync(SyncKind::kWait, 0, 0x10, &builder.snapshot);
  TellSync(SyncKind::kWait, 1, 0x20, &builder.snapshot);
  TellSync(SyncKind::kSignal, 1, 0x10, &builder.snapshot);
  Note(IncidentKind::kHang, 2000, &builder.snapshot, 0);
  const CulpritFinding finding = Find(builder.snapshot);
  EXPECT_EQ(finding.kind, FindingKind::kEndlessWait);
  EXPECT_EQ(finding.certainty, Certainty::kProven);
  const WaitGraph waits = FindWaits(builder.snapshot, Analyse(builder.snapshot));
  ASSERT_LT(finding.wait, waits.waits.size());
  EXPECT_EQ(builder.snapshot.syncs[waits.waits[finding.wait].sync].queue, 1u);
  EXPECT_THAT(finding.suspects, IsEmpty());
}

TEST(Culprit, WhatIsNotKnownIsSaid) {
  SnapshotBuilder off = OneList(MarkerMode::kOff, {CAIRN_MARKER_DRAW}, 0, 0);
  EXPECT_EQ(Find(off.snapshot).certainty, Certainty::kUnknown);
  EXPECT_THAT(Find(off.snapshot).next_to_begin, IsEmpty());
  SnapshotBuilder unseen(MarkerMode::kFull);
  unseen.Submit(unseen.AddQueue(), unseen.BeginList(0));
  const CulpritFinding finding = Find(unseen.snapshot);
  EXPECT_EQ(finding.certainty, Certainty::kUnknown);
  EXPECT_THAT(Reasons(finding), ElementsAre(SuspectReason::kEndUnseen));
}

TEST(Culprit, OldWordsNameWhatWasToBeginNext) {
  SnapshotBuilder builder = OneList(MarkerMode::kFull, {CAIRN_MARKER_DRAW}, 1, 2);
  for (int i = 0; i < 2; ++i) AddList(&builder, 0, {CAIRN_MARKER_DISPATCH});
  builder.snapshot.devices[0].memory = WordMemory::kMirrored;
  Note(IncidentKind::kSignal, 9, &builder.snapshot);
  const CulpritFinding finding = Find(builder.snapshot);
  EXPECT_EQ(finding.certainty, Certainty::kUnknown);
  EXPECT_THAT(finding.suspects, IsEmpty());
  ASSERT_EQ(finding.next_to_begin.size(), 1u);
  EXPECT_EQ(finding.next_to_begin[0].verdict, 0u);
  EXPECT_EQ(finding.next_to_begin[0].execution, 1u);
  builder.snapshot.devices.push_back(builder.snapshot.devices[0]);
  EXPECT_EQ(Find(builder.snapshot, 0).next_to_begin.size(), 1u);
  EXPECT_THAT(Find(builder.snapshot, 1).next_to_begin, IsEmpty()) << "a queue of another device";
}

TEST(Culprit, TheLateSuspectGoesBeforeTheBarrier) {
  SnapshotBuilder builder =
      OneList(MarkerMode::kFull, {CAIRN_MARKER_DISPATCH, CAIRN_MARKER_PIPELINE_BARRIER}, 3, 2);
  Snapshot& snapshot = builder.snapshot;
  snapshot.fault_addresses = {{FaultAddressType::kWriteInvalid, 0, 0x1000, 1}};
  snapshot.faults.resize(1);
  snapshot.faults[0].device = 0;
  snapshot.faults[0].address_count = 1;
  const CulpritFinding finding = Find(snapshot);
  EXPECT_THAT(Scopes(finding), ElementsAre(0, 1));
  EXPECT_EQ(finding.suspects[0].reason, SuspectReason::kFinishedByItsWord);
  EXPECT_EQ(finding.certainty, Certainty::kLikely);
}

// On an H100 the end of a build whose instance points nowhere is written, and the barrier behind it hangs.
TEST(Culprit, ABarrierThatHangsWaitsForTheWorkBeforeIt) {
  SnapshotBuilder builder =
      OneList(MarkerMode::kFull,
              {CAIRN_MARKER_DISPATCH, CAIRN_MARKER_RESOURCE_BARRIER,
               CAIRN_MARKER_BUILD_RAY_TRACING_ACCELERATION_STRUCTURE, CAIRN_MARKER_COPY_BUFFER,
               CAIRN_MARKER_RESOURCE_BARRIER, CAIRN_MARKER_DISPATCH},
              9, 8);
  Snapshot& snapshot = builder.snapshot;
  Note(IncidentKind::kSignal, 9, &snapshot);
  EXPECT_THAT(Scopes(Find(snapshot)), ElementsAre(4)) << "killed in the middle of a barrier";
  EXPECT_EQ(Find(snapshot).certainty, Certainty::kLikely);

  snapshot.incidents.clear();
  Note(IncidentKind::kHang, 2000, &snapshot, 1);
  EXPECT_THAT(Scopes(Find(snapshot)), ElementsAre(4)) << "another queue hangs";

  snapshot.incidents.clear();
  Note(IncidentKind::kHang, 2000, &snapshot, 0);
  const CulpritFinding finding = Find(snapshot);
  EXPECT_THAT(Scopes(finding), ElementsAre(2, 4)) << "the build, not the copy";
  EXPECT_THAT(Reasons(finding),
              ElementsAre(SuspectReason::kBarrierBehind, SuspectReason::kRunsNothing));
  EXPECT_EQ(finding.certainty, Certainty::kLikely);

  snapshot.queues[0].still_since_ns = 5;
  EXPECT_THAT(Scopes(Find(snapshot)), ElementsAre(4)) << "it went on since it hung";

  snapshot.incidents.clear();
  Note(IncidentKind::kDeviceLost, -4, &snapshot);
  EXPECT_THAT(Scopes(Find(snapshot)), ElementsAre(4)) << "another device was lost";
  snapshot.devices[0].device_lost = true;
  EXPECT_THAT(Scopes(Find(snapshot)), ElementsAre(2, 4));
}

TEST(Culprit, ABarrierThatEndedClearsTheWorkBeforeIt) {
  SnapshotBuilder builder = OneList(MarkerMode::kFull,
                                    {CAIRN_MARKER_DISPATCH, CAIRN_MARKER_RESOURCE_BARRIER,
                                     CAIRN_MARKER_COPY_BUFFER, CAIRN_MARKER_RESOURCE_BARRIER},
                                    7, 6);
  Note(IncidentKind::kHang, 2000, &builder.snapshot, 0);
  EXPECT_THAT(Scopes(Find(builder.snapshot)), ElementsAre(3));
}

TEST(Culprit, ABarrierIsNeverProven) {
  SnapshotBuilder builder =
      OneList(MarkerMode::kFull, {CAIRN_MARKER_PIPELINE_BARRIER, CAIRN_MARKER_DRAW}, 1, 0);
  Note(IncidentKind::kHang, 2000, &builder.snapshot, 0);
  const CulpritFinding finding = Find(builder.snapshot);
  EXPECT_THAT(Scopes(finding), ElementsAre(0));
  EXPECT_THAT(Reasons(finding), ElementsAre(SuspectReason::kRunsNothing));
  EXPECT_EQ(finding.certainty, Certainty::kLikely);
}

TEST(Culprit, OneDeviceAlone) {
  SnapshotBuilder builder = TwoQueues();
  Snapshot& snapshot = builder.snapshot;
  snapshot.devices.push_back(snapshot.devices[0]);
  snapshot.queues[1].device = 1;
  snapshot.recordings[1].device = 1;
  EXPECT_THAT(Scopes(Find(snapshot, 1)), ElementsAre(1));
  EXPECT_EQ(Find(snapshot, 1).certainty, Certainty::kProven);
  // Suspects of the lost device come first.
  snapshot.devices[1].device_lost = true;
  EXPECT_THAT(Scopes(Find(snapshot)), ElementsAre(1, 0));
  Note(IncidentKind::kDeviceLost, -4, &snapshot);
  EXPECT_EQ(Find(snapshot, 1).kind, FindingKind::kDeviceLost);
  EXPECT_EQ(Find(snapshot, 0).kind, FindingKind::kNothingWrong);
}

// Draws among raw markers at the top and at the bottom of the pipe, each to a slot of its own.
SnapshotBuilder DrawsAmongRawMarkers(MarkerMode mode, uint32_t count, uint32_t arrived) {
  SnapshotBuilder builder(mode);
  Snapshot& snapshot = builder.snapshot;
  const uint32_t list = builder.BeginList(builder.AddQueue());
  const auto write = [&](BindPoint pipe) {
    Event event;
    event.kind = EventKind::kBind;
    event.type = static_cast<uint16_t>(pipe);
    event.detail = static_cast<uint32_t>(snapshot.binds.size());
    snapshot.binds.push_back({static_cast<uint32_t>(snapshot.binds.size()), true, 7});
    snapshot.events.push_back(event);
    ++snapshot.recordings.back().event_count;
  };
  for (uint32_t i = 0; i < count; ++i) {
    write(kBindRawMarkerTop);
    builder.Scope(CAIRN_MARKER_DRAW);
    write(kBindRawMarkerBottom);
  }
  builder.EndList();
  builder.Submit(0, list);
  for (uint32_t slot = 0; slot < arrived; ++slot) snapshot.raw_markers.push_back({0, slot, 7});
  return builder;
}

TEST(Culprit, RawMarkersTellWhereTheModeDoesNot) {
  // The first two have finished, the third has begun.
  for (const MarkerMode mode : {MarkerMode::kOff, MarkerMode::kTop}) {
    SnapshotBuilder builder = DrawsAmongRawMarkers(mode, 4, 5);
    if (mode == MarkerMode::kTop) builder.SetWords(0, 14, 0);
    const CulpritFinding finding = Find(builder.snapshot);
    ASSERT_FALSE(finding.suspects.empty());
    EXPECT_EQ(finding.suspects[0].scope, 2u);
    EXPECT_EQ(finding.suspects[0].reason, SuspectReason::kRawMarkers);
    // Every suspect that the words leave open stays.
    EXPECT_EQ(finding.suspects.size(), mode == MarkerMode::kTop ? 4u : 1u);
    if (mode != MarkerMode::kTop) continue;
    EXPECT_EQ(finding.suspects[3].reason, SuspectReason::kRawMarkersClear);
  }
}

TEST(Culprit, AnySnapshotIsSafe) {
  std::mt19937 random(22);
  const auto below = [&random](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  for (int round = 0; round < 500; ++round) {
    SnapshotBuilder builder(static_cast<MarkerMode>(below(4)));
    Snapshot& snapshot = builder.snapshot;
    const uint32_t queues = 1 + below(3);
    for (uint32_t i = 0; i < queues; ++i) builder.AddQueue();
    for (uint32_t i = below(6); i-- > 0;) {
      const uint32_t list = builder.BeginList(below(queues));
      for (uint32_t work = below(6); work-- > 0;) {
        builder.Scope(static_cast<CairnMarkerType>(below(200)), below(3) != 0);
      }
      if (below(3) != 0) builder.EndList();
      if (below(4) != 0) builder.Submit(below(queues), list);
      builder.SetWords(list, below(16), below(16));
    }
    for (uint32_t i = below(12); i-- > 0;) {
      TellSync(below(2) == 0 ? SyncKind::kWait : SyncKind::kSignal,
               below(6) == 0 ? kNone : below(queues), below(4), &snapshot);
      snapshot.syncs.back().submission_number = below(4);
      snapshot.syncs.back().flags = below(4) == 0 ? below(16) : 0;
    }
    for (uint32_t i = below(4); i-- > 0;) {
      Note(static_cast<IncidentKind>(below(7)), below(20), &snapshot,
           below(3) == 0 ? kNone : below(queues));
    }
    const CulpritFinding finding = Find(snapshot, below(3) == 0 ? 0 : kNone);
    const Analysis analysis = Analyse(snapshot);
    EXPECT_TRUE(finding.incident == kNone || finding.incident < snapshot.incidents.size());
    if (finding.kind == FindingKind::kDeadlock || finding.kind == FindingKind::kEndlessWait) {
      EXPECT_THAT(finding.suspects, IsEmpty());
      const WaitGraph waits = FindWaits(snapshot, analysis);
      EXPECT_TRUE(finding.cycle == kNone || finding.cycle < waits.cycles.size());
      EXPECT_TRUE(finding.kind == FindingKind::kDeadlock || finding.wait < waits.waits.size());
      continue;
    }
    size_t count = 0;
    for (const QueueVerdict& verdict : analysis.verdicts) {
      count += verdict.candidates.size() + verdict.list_candidates.size();
    }
    EXPECT_EQ(finding.suspects.size(), count);
  }
}

}  // namespace
}  // namespace cairn
