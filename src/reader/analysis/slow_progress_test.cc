// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/slow_progress.h"

#include <gtest/gtest.h>

#include "reader/analysis/findings.h"
#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kStart = 1'000 * kSecond;   // CLOCK_REALTIME
constexpr uint64_t kMonotonic = 10 * kSecond;  // the same moment of the other clock

class SlowProgressTest : public testing::Test {
 protected:
  // 20 dispatches submitted 1 s after the start; the program exits 8 s later.
  explicit SlowProgressTest(MarkerMode mode = MarkerMode::kFull) : builder_(mode) {
    snapshot_.process.start_time_ns = kStart;
    snapshot_.process.start_monotonic_ns = kMonotonic;
    snapshot_.process.snapshot_time_ns = kStart + 9 * kSecond;
    builder_.AddQueue();
    list_ = AddList(20, kMonotonic + kSecond);
    builder_.SetWords(list_, 17, 16);  // the ninth runs
    snapshot_.queues[0].still_since_ns = kMonotonic + 9 * kSecond - kSecond / 2;
    snapshot_.incidents.push_back({.kind = IncidentKind::kExited, .value = 7});
  }

  uint32_t AddList(int works, uint64_t submitted_ns) {
    const uint32_t list = builder_.BeginList(0);
    for (int i = 0; i < works; ++i) builder_.Scope(CAIRN_MARKER_DISPATCH);
    builder_.EndList();
    builder_.Submit(0, list);
    snapshot_.submissions.back().time_ns = submitted_ns;
    return list;
  }

  CulpritFinding Find() const { return AnalyseDump(snapshot_).culprit; }

  SnapshotBuilder builder_;
  Snapshot& snapshot_ = builder_.snapshot;
  uint32_t list_ = 0;
};

TEST_F(SlowProgressTest, WhatWasDoneOfABatchIsCounted) {
  const CulpritFinding finding = Find();
  EXPECT_EQ(finding.kind, FindingKind::kExited);
  EXPECT_EQ(finding.slow.verdict, 0u);
  EXPECT_EQ(finding.slow.done_count, 8u);
  EXPECT_EQ(finding.slow.work_count, 20u);
  EXPECT_EQ(finding.slow.duration_ns, 8 * kSecond);
  EXPECT_FALSE(finding.slow.counts_begun);
  EXPECT_EQ(finding.suspects.size(), 1u) << "what was running is named all the same";
}

TEST_F(SlowProgressTest, OneThatHangsInItsNinthWorkIsNotSlow) {
  snapshot_.queues[0].still_since_ns = kMonotonic + kSecond + kSecond / 100;
  EXPECT_EQ(Find().slow.verdict, kNone);
}

TEST_F(SlowProgressTest, NeitherIsOneThatNobodyLookedAt) {
  snapshot_.queues[0].still_since_ns = 0;
  EXPECT_EQ(Find().slow.verdict, kNone);
}

TEST_F(SlowProgressTest, NorIsWhatTheWatchdogOrTheDriverTellOf) {
  for (const IncidentKind kind : {IncidentKind::kHang, IncidentKind::kDeviceLost}) {
    snapshot_.incidents[0] = {.kind = kind, .value = -4, .queue = 0};
    EXPECT_EQ(Find().slow.verdict, kNone);
  }
  for (const int64_t signal : {6, 9, 15}) {
    snapshot_.incidents[0] = {.kind = IncidentKind::kSignal, .value = signal};
    EXPECT_EQ(Find().slow.verdict, 0u) << "whoever ended it: " << signal;
  }
  // If the CPU does a GPU's work, that work may have caused the fault.
  snapshot_.incidents[0] = {.kind = IncidentKind::kSignal, .value = 11};
  EXPECT_EQ(Find().slow.verdict, kNone);
}

TEST_F(SlowProgressTest, SubmissionsThatWereMadeTogetherCountTogether) {
  builder_.SetWords(list_, 39, 40);
  const uint32_t second = AddList(20, kMonotonic + kSecond + kSecond / 100);
  AddList(20, kMonotonic + kSecond + kSecond / 50);
  builder_.SetWords(second, 5, 4);
  const CulpritFinding finding = Find();
  EXPECT_EQ(finding.slow.done_count, 22u);
  EXPECT_EQ(finding.slow.work_count, 60u);
}

TEST_F(SlowProgressTest, AFrameThatWasJustGivenIsNoBatch) {
  snapshot_.submissions[0].time_ns = kMonotonic + 9 * kSecond - kSecond / 5;
  snapshot_.queues[0].still_since_ns = kMonotonic + 9 * kSecond - kSecond / 100;
  EXPECT_EQ(Find().slow.verdict, kNone);
}

class SlowProgressTopTest : public SlowProgressTest {
 protected:
  SlowProgressTopTest() : SlowProgressTest(MarkerMode::kTop) {}
};

TEST_F(SlowProgressTopTest, WhereNoEndsAreWrittenWhatWasReachedCounts) {
  builder_.SetWords(list_, 17, 0);
  EXPECT_EQ(Find().slow.done_count, 9u);
  EXPECT_TRUE(Find().slow.counts_begun);
}

}  // namespace
}  // namespace cairn
