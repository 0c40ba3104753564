// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/checkpoint_check.h"

#include <gtest/gtest.h>

#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

using enum CheckpointRelation;

struct Fixture {
  explicit Fixture(MarkerMode mode = MarkerMode::kFull) : builder(mode) {
    queue = builder.AddQueue();
    for (int i = 0; i < 2; ++i) {
      const uint32_t list = builder.BeginList(queue);
      for (int draw = 0; draw < 4; ++draw) builder.Scope(CAIRN_MARKER_DRAW);
      builder.EndList();
      builder.Submit(queue, list);
    }
  }
  CheckpointVerdict Check(PipeStage stage, uint32_t recording, uint32_t sequence) {
    builder.snapshot.checkpoints = {{0, queue, stage, recording, sequence}};
    return CheckCheckpoints(builder.snapshot, Analyse(builder.snapshot)).at(0);
  }

  SnapshotBuilder builder;
  uint32_t queue = 0;
};

TEST(CheckpointCheck, ComparesWithTheWordsOfTheStage) {
  Fixture f;
  f.builder.SetWords(0, 5, 4);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, 5).relation, kAgrees);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, 5).evidence, CheckpointEvidence::kWordIsSame);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, 5).word, 5u);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, 3).relation, kCheckpointBehind);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, 3).evidence, CheckpointEvidence::kWordIsFurther);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, 6).relation, kTellsMore);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, 6).evidence, CheckpointEvidence::kNoWriteBetween);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, 7).relation, kWordsBehind);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, 7).evidence, CheckpointEvidence::kWriteIsMissing);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, 7).word, 5u);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, 7).missing_write, 7u);
  EXPECT_EQ(f.Check(PipeStage::kBottom, 0, 4).relation, kAgrees);
  EXPECT_EQ(f.Check(PipeStage::kBottom, 0, 2).relation, kCheckpointBehind);
  EXPECT_EQ(f.Check(PipeStage::kBottom, 0, 6).relation, kWordsBehind);
}

TEST(CheckpointCheck, InModeTopTheBottomTellsMore) {
  Fixture f(MarkerMode::kTop);
  f.builder.SetWords(0, 5, 0);
  EXPECT_EQ(f.Check(PipeStage::kBottom, 0, 4).relation, kTellsMore);
}

TEST(CheckpointCheck, WhatHasFinishedAgreesIfItIsTheLast) {
  Fixture f;
  f.builder.SetWords(0, 7, 8);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, 8).relation, kAgrees);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, 8).evidence, CheckpointEvidence::kFinishedLast);
  f.builder.SetWords(1, 1, 0);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, 8).relation, kCheckpointBehind);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, 8).evidence, CheckpointEvidence::kLaterWorkBegan);
}

TEST(CheckpointCheck, WhatWasNotToHaveStarted) {
  Fixture f;
  f.builder.SetWords(0, 5, 4);
  const CheckpointVerdict verdict = f.Check(PipeStage::kTop, 1, 1);
  EXPECT_EQ(verdict.relation, kWordsBehind);
  EXPECT_EQ(verdict.evidence, CheckpointEvidence::kNotStarted);
}

TEST(CheckpointCheck, WhatCannotBeCompared) {
  Fixture f;
  EXPECT_EQ(f.Check(PipeStage::kOther, 0, 1).relation, kNotCompared);
  EXPECT_EQ(f.Check(PipeStage::kTop, kNone, 3).relation, kNotCompared);
  EXPECT_EQ(f.Check(PipeStage::kTop, kNone, 3).evidence, CheckpointEvidence::kNone);
}

// A file may say any number.
TEST(CheckpointCheck, SequencesBeyondTheEventsAreSafe) {
  Fixture f;
  f.builder.SetWords(0, 5, 4);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, UINT32_MAX).relation, kWordsBehind);
  EXPECT_EQ(f.Check(PipeStage::kTop, 0, 0).relation, kCheckpointBehind);
}

}  // namespace
}  // namespace cairn
