// SPDX-License-Identifier: Apache-2.0
#include "reader/report/reason_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

// Two lists of four draws on one queue, the first at its third draw.
class CheckpointReasonTest : public testing::Test {
 protected:
  CheckpointReasonTest() {
    queue_ = builder_.AddQueue();
    for (int i = 0; i < 2; ++i) {
      const uint32_t list = builder_.BeginList(queue_);
      for (int draw = 0; draw < 4; ++draw) builder_.Scope(CAIRN_MARKER_DRAW);
      builder_.EndList();
      builder_.Submit(queue_, list);
    }
    builder_.SetWords(0, 5, 4);
  }
  std::string Reason(PipeStage stage, uint32_t recording, uint32_t sequence) {
    Snapshot& snapshot = builder_.snapshot;
    snapshot.checkpoints = {{0, queue_, stage, recording, sequence}};
    std::string reason;
    AppendCheckpointReason(snapshot, CheckCheckpoints(snapshot, Analyse(snapshot)).at(0), reason);
    return reason;
  }

  SnapshotBuilder builder_;
  uint32_t queue_ = 0;
};

TEST_F(CheckpointReasonTest, ComparesWithTheWords) {
  EXPECT_EQ(Reason(PipeStage::kTop, 0, 5),
            "It is event 5 of command list 1. The words say the same.");
  EXPECT_EQ(Reason(PipeStage::kTop, 0, 3),
            "It is event 3 of command list 1. The words say that event 5 was reached.");
  EXPECT_EQ(Reason(PipeStage::kTop, 0, 6),
            "It is event 6 of command list 1. The words say that event 5 was reached, and nothing "
            "in between writes one.");
  EXPECT_EQ(Reason(PipeStage::kBottom, 0, 7),
            "It is event 7 of command list 1. The words say that event 4 was finished, though "
            "event 6 was to write one: writes are late or lost, and more may have run than is "
            "shown.");
  EXPECT_EQ(Reason(PipeStage::kTop, 1, 1),
            "It is event 1 of command list 2. Its words say that it has not started: writes are "
            "late or lost, and more may have run than is shown.");
}

TEST_F(CheckpointReasonTest, OfAListThatHadFinished) {
  builder_.SetWords(0, 7, 8);
  EXPECT_EQ(Reason(PipeStage::kTop, 0, 8),
            "It is event 8 of command list 1. It had finished, and nothing behind it had begun.");
  builder_.SetWords(1, 1, 0);
  EXPECT_EQ(Reason(PipeStage::kTop, 0, 8),
            "It is event 8 of command list 1. Words say that later work of this queue had begun.");
}

TEST_F(CheckpointReasonTest, WithoutAComparisonSaysWhereItLies) {
  EXPECT_EQ(Reason(PipeStage::kOther, 0, 1), "It is event 1 of command list 1.");
  EXPECT_EQ(Reason(PipeStage::kTop, kNone, 3),
            "It is event 3 of a secondary command buffer that is executed in several places.");
}

TEST(RawReasonInWords, NamesStateRuleAndMarker) {
  EXPECT_EQ(RawReasonInWords({}), "may be running: no marker tells how far the front end came");
  EXPECT_EQ(RawReasonInWords({RawRule::kWrittenBehind, 3}),
            "may be running: marker 3 behind it was written, and nothing tells that it finished");
  EXPECT_EQ(RawReasonInWords({RawRule::kReachedBefore, 3}),
            "may be running: the front end was at marker 3 at least, and nothing tells that it "
            "stopped before this work");
  EXPECT_EQ(RawReasonInWords({RawRule::kAroundMarker}),
            "may be running: it lies around a marker, and only one side is known");
  EXPECT_EQ(RawReasonInWords({RawRule::kBottomWritten, 2}),
            "finished: the bottom-of-pipe marker 2 behind it was written");
  EXPECT_EQ(RawReasonInWords({RawRule::kTopMissing, 5}),
            "not started: the front end had not written the top-of-pipe marker 5 before it");
  EXPECT_EQ(RawReasonInWords({RawRule::kLineIsFull, 1, 64}),
            "not started: 64 bottom-of-pipe writes were waiting from marker 1 on, and the front "
            "end does not go on with more");
  EXPECT_EQ(RawReasonInWords({RawRule::kFirstUnproven, 0}),
            "may be running: no other work can be the culprit, and it is the first that is not "
            "proven to have finished; a marker's write can be lost with the device");
  EXPECT_EQ(RawReasonInWords({RawRule::kBehindUnproven, 3}),
            "may be running: the write of the top-of-pipe marker 3 before it can be lost with the "
            "device; unlikely, as earlier work has not finished either");
}

TEST(RawReasonInWords, SaysWhatSpeaksAgainstIt) {
  const std::string may = "may be running: it lies around a marker, and only one side is known";
  EXPECT_EQ(RawReasonInWords({RawRule::kAroundMarker, 0, 0, kDoubtOtherWork}),
            may + "; unlikely, as markers stand around other work");
  EXPECT_EQ(RawReasonInWords(
                {RawRule::kAroundMarker, 0, 0, uint8_t{kDoubtMarkerMissing | kDoubtRunsNothing}}),
            may +
                "; unlikely, as the top-of-pipe marker directly behind it is missing and earlier "
                "work had not finished; unlikely, as it runs nothing");
}

}  // namespace
}  // namespace cairn
