// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/usual_duration.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "cairn/marker_types.h"

namespace cairn {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kStart = 1'000 * kMs;  // monotonic
constexpr uint64_t kPipelines = 0b0110;

// Submissions of queue 0, made one after the other; the last one is in question.
class UsualDurationTest : public testing::Test {
 protected:
  UsualDurationTest() {
    snapshot_.process.start_time_ns = 77'000 * kMs;
    snapshot_.process.start_monotonic_ns = kStart;
    snapshot_.process.snapshot_time_ns = 77'000 * kMs + 20'000 * kMs;
    snapshot_.queues.resize(2);
    finding_.incident = 0;
    snapshot_.incidents = {{.kind = IncidentKind::kHang, .time_ns = 77'000 * kMs + 10'000 * kMs}};
  }

  // Times in ms since the start; ended 0: its end was not seen.
  void Submit(uint64_t made_ms, uint64_t ended_ms, uint64_t pipelines = kPipelines,
              uint32_t queue = 0, uint64_t number = 0) {
    Submission submission;
    submission.serial = snapshot_.submissions.size() + 1;
    submission.queue = queue;
    submission.number = number != 0 ? number : submission.serial;
    submission.time_ns = kStart + made_ms * kMs;
    snapshot_.submissions.push_back(submission);
    snapshot_.submission_ends.push_back(
        {submission.serial, ended_ms == 0 ? 0 : kStart + ended_ms * kMs, pipelines});
  }

  UsualDuration Find() {
    analysis_.executions.assign(1, {});
    analysis_.executions[0].submission = static_cast<uint32_t>(snapshot_.submissions.size() - 1);
    finding_.suspects = {SuspectWork{.execution = 0}};
    return FindUsualDuration(snapshot_, analysis_, finding_);
  }

  Snapshot snapshot_;
  Analysis analysis_;
  CulpritFinding finding_;
};

TEST_F(UsualDurationTest, MedianOfThoseBefore) {
  Submit(100, 103);
  Submit(110, 111);
  Submit(120, 150);
  Submit(200, 0);
  const UsualDuration found = Find();
  EXPECT_EQ(found.execution, 0u);
  EXPECT_EQ(found.count, 3u);
  EXPECT_EQ(found.median_ns, 3 * kMs);
  EXPECT_EQ(found.longest_ns, 30 * kMs);
  EXPECT_EQ(found.unfinished_ns, 9'800 * kMs) << "to the incident, not to the snapshot";
}

// Two were made before the first had ended: the second began behind it.
TEST_F(UsualDurationTest, BeginsBehindTheOneBefore) {
  Submit(100, 140);
  Submit(101, 145);
  Submit(102, 0);
  const UsualDuration found = Find();
  EXPECT_EQ(found.count, 2u);
  EXPECT_EQ(found.longest_ns, 40 * kMs);
  EXPECT_EQ(found.median_ns, 40 * kMs);
  EXPECT_EQ(found.unfinished_ns, (10'000 - 145) * kMs);
}

TEST_F(UsualDurationTest, OthersDoNotCount) {
  Submit(100, 103, 0b1010);         // other pipelines
  Submit(110, 180, kPipelines, 1);  // another queue
  Submit(190, 0);                   // its end was not seen
  Submit(200, 0);
  EXPECT_EQ(Find().execution, kNone);
  snapshot_.submission_ends[2].ended_ns = kStart + 195 * kMs;
  EXPECT_EQ(Find().count, 1u);
  EXPECT_EQ(Find().median_ns, 5 * kMs);
}

// Lists that were submitted together are one submission, with the pipelines of all.
TEST_F(UsualDurationTest, ListsTogether) {
  Submit(100, 104, 0b0010, 0, 1);
  Submit(100, 104, 0b0100, 0, 1);
  Submit(200, 0, 0b0100, 0, 2);
  Submit(200, 0, 0b0010, 0, 2);
  EXPECT_EQ(Find().count, 1u);
  EXPECT_EQ(Find().median_ns, 4 * kMs);
}

TEST_F(UsualDurationTest, NothingIsKnown) {
  Submit(100, 103, 1);
  Submit(200, 0, 1);
  EXPECT_EQ(Find().execution, kNone) << "no pipelines say that they are alike";
  snapshot_.submission_ends[0].pipelines = snapshot_.submission_ends[1].pipelines = kPipelines;
  EXPECT_EQ(Find().execution, 0u);
  snapshot_.submission_ends[1].ended_ns = kStart + 300 * kMs;
  EXPECT_EQ(Find().execution, kNone) << "it has ended";
  snapshot_.submission_ends.clear();
  EXPECT_EQ(Find().execution, kNone) << "a file of before";
}

// Submissions of one list each, with labels.
class LabelDurationTest : public UsualDurationTest {
 protected:
  // A list with a dispatch within these labels, from the outside in.
  void SubmitList(uint64_t made_ms, uint64_t ended_ms, const std::vector<std::string>& labels,
                  uint32_t queue = 0) {
    Submit(made_ms, ended_ms, 0, queue);
    const auto first = static_cast<uint32_t>(analysis_.scopes.size());
    for (uint32_t depth = 0; depth <= labels.size(); ++depth) {
      Event event;
      event.type = depth == labels.size() ? CAIRN_MARKER_DISPATCH : CAIRN_MARKER_PASS;
      if (depth < labels.size()) event.name = snapshot_.AddText(labels[depth]);
      Scope scope;
      scope.event = static_cast<uint32_t>(snapshot_.events.size());
      scope.parent = depth == 0 ? kNone : first + depth - 1;
      snapshot_.events.push_back(event);
      analysis_.scopes.push_back(scope);
    }
    Execution execution;
    execution.submission = static_cast<uint32_t>(snapshot_.submissions.size() - 1);
    execution.first_scope = first;
    execution.scope_count = static_cast<uint32_t>(labels.size()) + 1;
    analysis_.executions.push_back(execution);
  }
  // For the dispatch of the last list.
  LabelDuration FindLabel(SuspectReason reason = SuspectReason::kUnfinished) {
    finding_.suspects = {
        SuspectWork{.execution = static_cast<uint32_t>(analysis_.executions.size() - 1),
                    .scope = static_cast<uint32_t>(analysis_.scopes.size() - 1),
                    .reason = reason}};
    return FindLabelDuration(snapshot_, analysis_, finding_);
  }
  std::string_view NameOf(uint32_t scope) const {
    return snapshot_.Text(snapshot_.events[analysis_.scopes[scope].event].name);
  }
};

TEST_F(LabelDurationTest, OfTheSamePathBefore) {
  SubmitList(100, 103, {"Frame 7", "Trees"});
  SubmitList(110, 111, {"Frame 8", "Trees"});
  SubmitList(120, 220, {"Frame 9", "Rocks"});     // another label
  SubmitList(230, 330, {"Trees"});                // another path
  SubmitList(340, 440, {"Frame 9", "Trees"}, 1);  // another queue
  SubmitList(450, 480, {"Frame 10", "Trees", "Leaves"});
  SubmitList(490, 0, {"Frame 11", "Trees"});
  const LabelDuration found = FindLabel();
  EXPECT_EQ(found.scope, analysis_.scopes.size() - 2);
  EXPECT_EQ(found.count, 3u);
  EXPECT_EQ(found.median_ns, 3 * kMs);
  EXPECT_EQ(found.longest_ns, 30 * kMs);
  EXPECT_EQ(found.running_ns, 0u) << "it may not have begun";
}

// Of a submission whose list is gone no label is known.
TEST_F(LabelDurationTest, AnOuterLabelWhereTheInnerOneIsNew) {
  SubmitList(100, 104, {"Frame 1"});
  SubmitList(200, 0, {"Frame 2", "Trees"});
  const LabelDuration found = FindLabel();
  EXPECT_EQ(NameOf(found.scope), "Frame 2");
  EXPECT_EQ(found.count, 1u);
  analysis_.executions[0].submission = kNone;
  EXPECT_EQ(FindLabel().scope, kNone);
}

TEST_F(LabelDurationTest, HowLongTheOnlyWorkHasRun) {
  SubmitList(100, 104, {"Trees"});
  SubmitList(200, 0, {"Trees"});
  finding_.kind = FindingKind::kGpuHang;
  EXPECT_EQ(FindLabel(SuspectReason::kOnlyWorkRunning).running_ns, 0u) << "nobody looked";
  snapshot_.queues[0].still_since_ns = kStart + 3'000 * kMs;
  EXPECT_EQ(FindLabel(SuspectReason::kOnlyWorkRunning).running_ns, 7'000 * kMs)
      << "to the incident";
  EXPECT_EQ(FindLabel().running_ns, 0u);
  finding_.kind = FindingKind::kDeviceLost;
  EXPECT_EQ(FindLabel(SuspectReason::kOnlyWorkRunning).running_ns, 0u) << "it may have stopped";
  finding_.kind = FindingKind::kGpuHang;
  snapshot_.queues[0].still_since_ns = kStart + 150 * kMs;
  EXPECT_EQ(FindLabel(SuspectReason::kOnlyWorkRunning).running_ns, 9'800 * kMs)
      << "not before it was submitted";
  snapshot_.queues[0].still_since_ns = kStart + 11'000 * kMs;
  EXPECT_EQ(FindLabel(SuspectReason::kOnlyWorkRunning).running_ns, 0u);
}

}  // namespace
}  // namespace cairn
