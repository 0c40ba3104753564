// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Findings, NothingFollowsFromAnEmptyDump) {
  const Findings findings = AnalyseDump(Snapshot());
  EXPECT_EQ(findings.device, kNone);
  EXPECT_THAT(findings.analysis.verdicts, IsEmpty());
  EXPECT_THAT(findings.waits.queues, IsEmpty());
  EXPECT_THAT(findings.submission_executions, IsEmpty());
  EXPECT_THAT(findings.checkpoints, IsEmpty());
  EXPECT_EQ(findings.culprit.kind, FindingKind::kNothingWrong);
  EXPECT_THAT(findings.culprit.suspects, IsEmpty());
}

TEST(Findings, EachPartIsOfTheSameDump) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  for (int i = 0; i < 2; ++i) {
    const uint32_t list = builder.BeginList(queue);
    builder.Scope(CAIRN_MARKER_DRAW);
    builder.EndList();
    builder.Submit(queue, list);
  }
  builder.SetWords(0, 1, 2);
  builder.SetWords(1, 1, 0);
  Snapshot& snapshot = builder.snapshot;
  // Its recording is gone.
  snapshot.submissions.push_back({.serial = 3, .queue = queue, .recording = kNone, .number = 3});
  snapshot.checkpoints = {{0, queue, PipeStage::kTop, 1, 1}};
  snapshot.incidents.push_back({.kind = IncidentKind::kHang, .value = 2000, .queue = queue});
  const Findings findings = AnalyseDump(snapshot);
  EXPECT_THAT(findings.submission_executions, ElementsAre(0u, 1u, kNone));
  EXPECT_EQ(findings.checkpoints.at(0).relation, CheckpointRelation::kAgrees);
  EXPECT_EQ(findings.waits.progress.at(queue).finished, 1u);
  EXPECT_EQ(findings.culprit.kind, FindingKind::kGpuHang);
  ASSERT_EQ(findings.culprit.suspects.size(), 1u);
  EXPECT_EQ(findings.culprit.suspects[0].execution, 1u);
}

TEST(Findings, TheCulpritIsOfTheDeviceInQuestion) {
  SnapshotBuilder builder;
  const uint32_t list = builder.BeginList(builder.AddQueue());
  builder.Scope(CAIRN_MARKER_DRAW);
  builder.EndList();
  builder.SetWords(list, 1, 0);
  Snapshot& snapshot = builder.snapshot;
  snapshot.devices.push_back(snapshot.devices[0]);
  EXPECT_EQ(AnalyseDump(snapshot, 0).culprit.suspects.size(), 1u);
  const Findings of_other = AnalyseDump(snapshot, 1);
  EXPECT_EQ(of_other.device, 1u);
  EXPECT_THAT(of_other.culprit.suspects, IsEmpty());
  // The rest is of all devices.
  EXPECT_EQ(of_other.analysis.verdicts.size(), 1u);
}

}  // namespace
}  // namespace cairn
