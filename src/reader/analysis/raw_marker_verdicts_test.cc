// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/raw_marker_verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "format/block/raw_marker_binds.h"
#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

// A snapshot with raw markers: "T1 X B2" as in raw_markers_test.cc, works being draws.
class RawSnapshot : public SnapshotBuilder {
 public:
  explicit RawSnapshot(MarkerMode mode = MarkerMode::kFull) : SnapshotBuilder(mode) {
    queue_ = AddQueue();
  }

  void List(const std::string& program) {
    const uint32_t list = BeginList(queue_);
    for (size_t i = 0; i < program.size(); ++i) {
      if (program[i] == ' ') continue;
      if (program[i] == 'T' || program[i] == 'B') {
        const bool top = program[i] == 'T';
        AddMarker(top, static_cast<uint32_t>(program[++i] - '0'));
      } else if (program[i] == '(') {
        Begin(CAIRN_MARKER_DRAW);
      } else if (program[i] == ')') {
        End();
      } else if (program[i] == 'b') {
        Scope(CAIRN_MARKER_RESOURCE_BARRIER);
      } else if (program[i] != '.') {
        Scope(CAIRN_MARKER_DRAW);
      }
    }
    EndList();
    Submit(queue_, list);
  }
  void Written(std::initializer_list<uint32_t> markers) {
    for (const uint32_t marker : markers) snapshot.raw_markers.push_back({0, marker, marker});
  }

 private:
  void AddMarker(bool top, uint32_t number) {
    Event event;
    event.kind = EventKind::kBind;
    event.type = static_cast<uint16_t>(top ? kBindRawMarkerTop : kBindRawMarkerBottom);
    event.detail = static_cast<uint32_t>(snapshot.binds.size());
    snapshot.binds.push_back({number, true, number});
    snapshot.events.push_back(event);
    ++snapshot.recordings.back().event_count;
  }

  uint32_t queue_ = 0;
};

std::vector<RawMarkerVerdict> Judge(const RawSnapshot& builder) {
  return JudgeRawMarkers(builder.snapshot, Analyse(builder.snapshot));
}

// For each work: F finished, R may run, r may run but is unlikely, N not started.
std::string States(const RawMarkerVerdict& verdict) {
  std::string states;
  for (const RawMarkerWork& work : verdict.works) {
    switch (work.state) {
      case WorkState::kCompleted: states += 'F'; break;
      case WorkState::kNotStarted: states += 'N'; break;
      default: states += work.likely ? 'R' : 'r';
    }
  }
  return states;
}

TEST(RawMarkerVerdicts, TheOrderOfListsAndScopesDecides) {
  RawSnapshot builder;
  builder.List("T1 X B2 T3 Y B4");
  builder.List("T5 Z B6");
  builder.Written({1, 2, 3});
  const Analysis analysis = Analyse(builder.snapshot);
  const std::vector<RawMarkerVerdict> verdicts = JudgeRawMarkers(builder.snapshot, analysis);
  ASSERT_EQ(verdicts.size(), 1u);
  const RawMarkerVerdict& verdict = verdicts[0];
  EXPECT_EQ(verdict.queue, 0u);
  EXPECT_TRUE(verdict.consistent);
  EXPECT_EQ(States(verdict), "FRN");
  ASSERT_EQ(verdict.markers.size(), 6u);
  EXPECT_TRUE(verdict.markers[0].top);
  EXPECT_FALSE(verdict.markers[1].top);
  EXPECT_EQ(verdict.markers[3].slot, 4u);
  EXPECT_EQ(verdict.markers[2].arrival, RawArrival::kArrived);
  EXPECT_EQ(verdict.markers[3].arrival, RawArrival::kMissing);
  EXPECT_EQ(verdict.works[1].after_marker, 3u);
  EXPECT_EQ(analysis.scopes[verdict.works[1].scope].ordinal, 2u);
  EXPECT_EQ(verdict.works[1].reason, (RawReason{RawRule::kReachedBefore, 3}));
}

TEST(RawMarkerVerdicts, TopAndBottomAreNotTheSame) {
  RawSnapshot top;
  top.List("T1 X T2 Y T3 Z T4");
  top.Written({1, 2});
  EXPECT_EQ(States(Judge(top).at(0)), "RRN");
  RawSnapshot bottom;
  bottom.List("B1 X B2 Y B3 Z B4");
  bottom.Written({1, 2});
  EXPECT_EQ(States(Judge(bottom).at(0)), "FRR");
}

TEST(RawMarkerVerdicts, WithoutScopesTheWorkIsWhatLiesBetweenMarkers) {
  RawSnapshot builder;
  builder.List("T1 . B2 T3 . B4");
  builder.Written({1, 2, 3});
  const RawMarkerVerdict verdict = Judge(builder).at(0);
  ASSERT_EQ(verdict.works.size(), 5u);
  EXPECT_EQ(States(verdict), "FFRRR");
  EXPECT_EQ(verdict.works[3].scope, kNone);
  EXPECT_EQ(verdict.works[3].after_marker, 3u);
}

// The scope's work may have been recorded before the marker in it or behind it.
TEST(RawMarkerVerdicts, AMarkerInsideOfAScopeSplitsIt) {
  RawSnapshot builder;
  builder.List("(B1)");
  builder.Written({1});
  EXPECT_EQ(States(Judge(builder).at(0)), "R");
  RawSnapshot missing;
  missing.List("T1 (T2)");
  missing.Written({1});
  EXPECT_EQ(States(Judge(missing).at(0)), "R");
  RawSnapshot behind;
  behind.List("(B1) B2");
  behind.Written({1, 2});
  EXPECT_EQ(States(Judge(behind).at(0)), "F");
}

// Both markers of Y are missing: where nothing failed, it had not begun.
TEST(RawMarkerVerdicts, OnlyADeviceThatFailedLosesStores) {
  RawSnapshot alive;
  alive.List("T1 X B2 T3 Y B4");
  alive.List("T5 Z B6");
  alive.Written({1, 2});
  EXPECT_EQ(States(Judge(alive).at(0)), "FNN");
  EXPECT_EQ(Judge(alive).at(0).candidate_count, 0u);

  RawSnapshot lost = alive;
  lost.snapshot.devices[0].device_lost = true;
  const RawMarkerVerdict verdict = Judge(lost).at(0);
  EXPECT_EQ(States(verdict), "FRr");
  EXPECT_EQ(verdict.candidate_count, 2u);
  EXPECT_EQ(verdict.likely_count, 1u);
  EXPECT_EQ(verdict.unreached_marker, 3u);
  EXPECT_TRUE(verdict.works[1].by_lost_store);
  EXPECT_EQ(verdict.works[1].reason, (RawReason{RawRule::kFirstUnproven, 3}));

  RawSnapshot hung = alive;
  hung.snapshot.incidents.push_back({.kind = IncidentKind::kHang, .queue = 0});
  EXPECT_EQ(States(Judge(hung).at(0)), "FRr");

  RawSnapshot faulted = alive;
  faulted.snapshot.faults.push_back({.device = 0});
  EXPECT_EQ(States(Judge(faulted).at(0)), "FRr");

  RawSnapshot killed = alive;
  killed.snapshot.incidents.push_back({.kind = IncidentKind::kSignal, .value = 9});
  EXPECT_EQ(States(Judge(killed).at(0)), "FNN");
}

// A candidate of another queue of the device, or of its words, is enough of an explanation.
TEST(RawMarkerVerdicts, ACandidateElsewhereLosesNoStore) {
  RawSnapshot builder;
  builder.List("T1 X B2 T3 Y B4");
  builder.Written({1, 2});
  builder.snapshot.devices[0].device_lost = true;
  RawSnapshot other = builder;
  const uint32_t queue = other.AddQueue();
  const uint32_t list = other.BeginList(queue);
  other.Scope(CAIRN_MARKER_DISPATCH);
  other.Submit(queue, list);
  other.SetWords(list, 1, 0);
  EXPECT_EQ(States(Judge(other).at(0)), "FN");
  // The work finished, and explains nothing.
  other.SetWords(list, 2, 2);
  EXPECT_EQ(States(Judge(other).at(0)), "FR");
}

// A barrier runs nothing, and what stands between one draw's markers and the next's is nothing, as a rule.
TEST(RawMarkerVerdicts, WhatRunsNothingIsNoCandidate) {
  RawSnapshot barrier(MarkerMode::kOff);
  barrier.List("T1 X B2 b T3 Y B4");
  barrier.Written({1, 2});
  barrier.snapshot.devices[0].device_lost = true;
  EXPECT_EQ(States(Judge(barrier).at(0)), "FrR");

  RawSnapshot gaps;
  gaps.List("T1 . B2 T3 . B4");
  gaps.Written({1, 2});
  EXPECT_EQ(States(Judge(gaps).at(0)), "FFRNN");
  gaps.snapshot.devices[0].device_lost = true;
  const RawMarkerVerdict verdict = Judge(gaps).at(0);
  EXPECT_EQ(States(verdict), "FFrRN");
  EXPECT_EQ(verdict.works[3].after_marker, 3u);
}

// 70 draws, each with a bottom marker, of which the first hangs.
RawMarkerVerdict JudgeSeventyDraws(uint32_t vendor, uint32_t device, WriteMethod method,
                                   bool lost = false) {
  RawSnapshot builder(MarkerMode::kOff);
  builder.snapshot.devices[0].vendor_id = vendor;
  builder.snapshot.devices[0].device_id = device;
  builder.snapshot.devices[0].method = method;
  builder.snapshot.devices[0].device_lost = lost;
  for (int draw = 0; draw < 70; ++draw) builder.List("XB1");
  // Each marker has its slot.
  for (uint32_t i = 0; i < builder.snapshot.binds.size(); ++i) builder.snapshot.binds[i].slot = i;
  return Judge(builder).at(0);
}

TEST(RawMarkerVerdicts, TheLineOfGcnIsShort) {
  constexpr uint32_t kAmd = 0x1002;
  constexpr uint32_t kPolaris = 0x67DF;
  const RawMarkerVerdict polaris =
      JudgeSeventyDraws(kAmd, kPolaris, WriteMethod::kVulkanBufferMarker);
  EXPECT_EQ(States(polaris), std::string(64, 'R') + "NNNNNN");
  EXPECT_EQ(polaris.works[64].reason, (RawReason{RawRule::kLineIsFull, 1, 64}));
  const std::string any(70, 'R');
  // RDNA 1, a GPU of others, writes that are copies, and one whose stores can be lost.
  EXPECT_EQ(States(JudgeSeventyDraws(kAmd, 0x731F, WriteMethod::kVulkanBufferMarker)), any);
  EXPECT_EQ(States(JudgeSeventyDraws(0x10DE, kPolaris, WriteMethod::kVulkanBufferMarker)), any);
  EXPECT_EQ(States(JudgeSeventyDraws(kAmd, kPolaris, WriteMethod::kVulkanFillBuffer)), any);
  EXPECT_EQ(States(JudgeSeventyDraws(kAmd, kPolaris, WriteMethod::kVulkanBufferMarker, true)), any);
}

TEST(RawMarkerVerdicts, ListsThatWereNotSubmittedDidNotRun) {
  RawSnapshot builder;
  builder.List("T1 X B2");
  builder.List("T3 Y B4");
  builder.snapshot.submissions.pop_back();
  builder.Written({1, 2});
  EXPECT_EQ(States(Judge(builder).at(0)), "F");
}

TEST(RawMarkerVerdicts, WithoutMarkersThereIsNoVerdict) {
  RawSnapshot builder;
  builder.List("X Y");
  builder.Written({1});
  EXPECT_TRUE(Judge(builder).empty());
}

TEST(RawMarkerVerdicts, TheLastCommandsAreLookedAtAndTheRestIsSaid) {
  RawSnapshot builder;
  for (uint32_t i = 0; i < kMaxRawMarkerCommands / 4; ++i) builder.List("T1 X");
  builder.Written({1});
  const RawMarkerVerdict verdict = Judge(builder).at(0);
  EXPECT_GT(verdict.executions_left_out, 0u);
  EXPECT_LT(verdict.works.size() + verdict.markers.size(), size_t{kMaxRawMarkerCommands});
  EXPECT_EQ(verdict.works.back().state, WorkState::kInFlight);
}

}  // namespace
}  // namespace cairn
