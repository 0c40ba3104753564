// SPDX-License-Identifier: Apache-2.0
#include "reader/report/reason_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reader/analysis/scope_tree.h"
#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Reason(const Snapshot& snapshot) {
  const Analysis analysis = Analyse(snapshot);
  std::string reason;
  AppendQueueReason(snapshot, analysis, analysis.verdicts.at(0), reason);
  return reason;
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

// Four draws in a list.
SnapshotBuilder FourDraws(MarkerMode mode) {
  SnapshotBuilder builder(mode);
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  for (int i = 0; i < 4; ++i) builder.Scope(CAIRN_MARKER_DRAW);
  builder.EndList();
  builder.Submit(queue, list);
  return builder;
}

TEST(QueueReason, SaysHowFarTheGpuCame) {
  SnapshotBuilder builder = WorkedExample();
  builder.SetWords(0, 7, 5);
  EXPECT_EQ(Reason(builder.snapshot),
            "The GPU reached marker event 7 and completed up to marker event 5 of command list 1 "
            "(frame 3, "
            "submission 1). Each of 2 commands may have been running.");
  builder.SetWords(0, 7, 6);
  EXPECT_EQ(Reason(builder.snapshot),
            "The GPU reached marker event 7 and completed up to marker event 6 of command list 1 "
            "(frame 3, "
            "submission 1). The command that begins at marker event 7 was running: "
            "it began and did not end; no other command with a marker was in flight.");
  builder.SetWords(0, 9, 10);
  EXPECT_EQ(Reason(builder.snapshot), "Everything recorded for this queue has completed.");
  builder.SetWords(0, 0, 0);
  EXPECT_EQ(Reason(builder.snapshot), "Nothing recorded for this queue has started.");
}

TEST(QueueReason, IsAppended) {
  SnapshotBuilder builder = WorkedExample();
  builder.SetWords(0, 9, 10);
  const Analysis analysis = Analyse(builder.snapshot);
  std::string text = "queue 0: ";
  AppendQueueReason(builder.snapshot, analysis, analysis.verdicts.at(0), text);
  EXPECT_EQ(text, "queue 0: Everything recorded for this queue has completed.");
}

TEST(QueueReason, ListsBehindOneThatFinishedHaveNotStarted) {
  SnapshotBuilder builder = WorkedExample();
  builder.SetWords(0, 9, 10);
  const uint32_t second = builder.BeginList(0, 3);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  builder.Submit(0, second);
  EXPECT_EQ(Reason(builder.snapshot),
            "1 of 2 command lists have completed and the others have not started: no command with "
            "a marker "
            "was running on this queue.");
}

TEST(QueueReason, WordsMayProveNothing) {
  SnapshotBuilder builder = WorkedExample();
  builder.SetWords(0, 11, 0);
  EXPECT_THAT(
      Reason(builder.snapshot),
      StartsWith(
          "The progress words of command list 1 (frame 3, submission 1) hold values that its "
          "events do not write (reached 11, passed 0): nothing follows from them. "
          "Each of "));

  SnapshotBuilder twice = FourDraws(MarkerMode::kFull);
  twice.Submit(0, 0);
  twice.SetWords(0, 7, 8);
  EXPECT_THAT(
      Reason(twice.snapshot),
      StartsWith(
          "command list 1 (frame 0, submission 2, execution 2) was submitted 2 times "
          "without being registered as reusable: which execution its progress words (reached "
          "7, passed 8) belong to cannot be told. "));

  SnapshotBuilder uncounted = FourDraws(MarkerMode::kFull);
  uncounted.snapshot.recordings[0].reusable = true;
  uncounted.SetWords(0, 1, 0);
  EXPECT_THAT(
      Reason(uncounted.snapshot),
      StartsWith("The GPU wrote nothing that tells how far it came in command list 1 (frame "
                 "0, submission 1, execution 1). "));
}

TEST(QueueReason, AListWithoutWritesIsUnseen) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DISPATCH, /*writes=*/false);
  builder.Submit(queue, list);
  EXPECT_EQ(
      Reason(builder.snapshot),
      "The GPU wrote no marker event of command list 1 (frame 0, submission 1). One command may "
      "have been running. 1 of the 1 candidates carry no write of "
      "their own, because VK_AMD_buffer_marker could not write there (inside a render pass, "
      "say). In 1 of the 1 command lists in flight nothing more is written by the GPU, not "
      "even at the end: whether they have completed cannot be seen, and they never count as a "
      "hang.");
}

TEST(QueueReason, CommandsThatWaitAreNamed) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DISPATCH);          // 1, 2
  builder.Scope(CAIRN_MARKER_PIPELINE_BARRIER);  // 3, 4
  builder.Scope(CAIRN_MARKER_PIPELINE_BARRIER);  // 5, 6
  builder.Submit(queue, list);
  builder.SetWords(list, 3, 0);
  EXPECT_THAT(
      Reason(builder.snapshot),
      EndsWith(" PIPELINE_BARRIER #1, which comes after that command, was reached as well: it "
               "waits for it."));
  builder.SetWords(list, 5, 0);
  EXPECT_THAT(
      Reason(builder.snapshot),
      EndsWith(" PIPELINE_BARRIER #1 and 1 more, which come after that command, were reached as "
               "well: they wait for it."));
}

TEST(QueueReason, TheModeLimitsIt) {
  SnapshotBuilder top = FourDraws(MarkerMode::kTop);
  top.SetWords(0, 5, 0);
  EXPECT_EQ(
      Reason(top.snapshot),
      "The GPU reached marker event 5 of command list 1 (frame 0, submission 1), and completed "
      "no marker event of it. Each of 3 commands may have been running. Mode top writes at the top "
      "of the pipe "
      "only, so that completed and running work look alike: any of the 3 commands that "
      "were reached may have been running.");
  top.SetWords(0, 1, 0);
  EXPECT_THAT(Reason(top.snapshot), EndsWith("completed and running work look alike."));
  SnapshotBuilder pass = FourDraws(MarkerMode::kPass);
  pass.SetWords(0, 5, 0);
  EXPECT_THAT(Reason(pass.snapshot),
              EndsWith(" Mode pass writes at the bottom of the pipe only where a pass ends: work "
                       "inside a pass that has not ended cannot be told apart."));
}

TEST(QueueReason, OfModeOffIsWhatTheApplicationTold) {
  SnapshotBuilder builder(MarkerMode::kOff);
  const uint32_t queue = builder.AddQueue();
  for (int i = 0; i < 3; ++i) {
    const uint32_t list = builder.BeginList(queue);
    builder.Scope(CAIRN_MARKER_DRAW, false);
    builder.Submit(queue, list);
  }
  builder.snapshot.queues[queue].completed_submission = 1;
  EXPECT_EQ(Reason(builder.snapshot),
            "The marker mode was off, so that the GPU wrote nothing: how far it came in 2 command "
            "lists is not known. 1 other has completed, as the application reported.");
}

TEST(QueueReason, DeviceNotesAndOldCopiesLimitIt) {
  SnapshotBuilder builder = WorkedExample();
  builder.SetWords(0, 7, 6);
  builder.snapshot.devices[0].notes =
      builder.snapshot.AddText("a fault surfaces up to one dispatch late");
  builder.snapshot.devices[0].memory = WordMemory::kMirrored;
  builder.snapshot.devices[0].mirror_period_us = 500;
  builder.snapshot.incidents.push_back({IncidentKind::kSignal, 9});
  EXPECT_THAT(
      Reason(builder.snapshot),
      EndsWith(
          " The process died and its progress words were copies, up to 500 µs old: the GPU may "
          "have been further. Note on this device: a fault surfaces up to one "
          "dispatch late."));
}

TEST(QueueReason, SeveralListsInFlightAreCounted) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t list = builder.BeginList(queue);
    builder.Scope(CAIRN_MARKER_DRAW);
    builder.Submit(queue, list);
    builder.SetWords(list, 1, 0);
  }
  EXPECT_THAT(
      Reason(builder.snapshot),
      EndsWith("Each of 2 commands may have been running. 2 command lists were in flight."));
}

TEST(QueueReason, NamesNoNames) {
  SnapshotBuilder builder = WorkedExample();
  builder.SetWords(0, 7, 5);
  const TextRef secret = builder.snapshot.AddText("secret");
  for (Event& event : builder.snapshot.events) event.name = secret;
  builder.snapshot.recordings[0].name = secret;
  builder.snapshot.queues[0].name = secret;
  EXPECT_THAT(Reason(builder.snapshot), Not(HasSubstr("secret")));
}

// Facts of barriers, which no list of this builder has.
TEST(QueueReason, BarriersThatWereMeasuredAreNamed) {
  SnapshotBuilder builder = FourDraws(MarkerMode::kTop);
  builder.SetWords(0, 5, 0);
  Analysis analysis = Analyse(builder.snapshot);
  QueueVerdict& verdict = analysis.verdicts.at(0);
  verdict.reason.drained_work = 3;
  verdict.reason.drained_draws = kAllEvents;
  std::string reason;
  AppendQueueReason(builder.snapshot, analysis, verdict, reason);
  EXPECT_THAT(reason, HasSubstr(" Barriers at which this device was measured to wait prove "
                                "completed: its work up to marker event 3, all its draws. "));
  EXPECT_THAT(reason, HasSubstr("look alike after that: any of"));
}

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
            "It is marker event 5 of command list 1. The progress words say the same.");
  EXPECT_EQ(Reason(PipeStage::kTop, 0, 3),
            "It is marker event 3 of command list 1. The progress words say that marker event 5 "
            "was reached.");
  EXPECT_EQ(Reason(PipeStage::kTop, 0, 6),
            "It is marker event 6 of command list 1. The progress words say that marker event 5 "
            "was reached, and nothing "
            "in between writes one.");
  EXPECT_EQ(
      Reason(PipeStage::kBottom, 0, 7),
      "It is marker event 7 of command list 1. The progress words say that marker event 4 was "
      "completed, though "
      "marker event 6 was to write one: writes are late or lost, and more may have run than is "
      "shown.");
  EXPECT_EQ(Reason(PipeStage::kTop, 1, 1),
            "It is marker event 1 of command list 2. Its progress words say that it has not "
            "started: writes are "
            "late or lost, and more may have run than is shown.");
}

TEST_F(CheckpointReasonTest, OfAListThatHadFinished) {
  builder_.SetWords(0, 7, 8);
  EXPECT_EQ(
      Reason(PipeStage::kTop, 0, 8),
      "It is marker event 8 of command list 1. It had completed, and nothing behind it had begun.");
  builder_.SetWords(1, 1, 0);
  EXPECT_EQ(Reason(PipeStage::kTop, 0, 8),
            "It is marker event 8 of command list 1. Progress words say that later work of this "
            "queue had begun.");
}

TEST_F(CheckpointReasonTest, WithoutAComparisonSaysWhereItLies) {
  EXPECT_EQ(Reason(PipeStage::kOther, 0, 1), "It is marker event 1 of command list 1.");
  EXPECT_EQ(
      Reason(PipeStage::kTop, kNone, 3),
      "It is marker event 3 of a secondary command buffer that is executed in several places.");
}

TEST(RawReasonInWords, NamesStateRuleAndMarker) {
  EXPECT_EQ(RawReasonInWords({}), "may be running: no marker tells how far the front end came");
  EXPECT_EQ(RawReasonInWords({RawRule::kWrittenBehind, 3}),
            "may be running: marker 3 behind it was written, and nothing tells that it completed");
  EXPECT_EQ(RawReasonInWords({RawRule::kReachedBefore, 3}),
            "may be running: the front end was at marker 3 at least, and nothing tells that it "
            "stopped before this work");
  EXPECT_EQ(RawReasonInWords({RawRule::kAroundMarker}),
            "may be running: it lies around a marker, and only one side is known");
  EXPECT_EQ(RawReasonInWords({RawRule::kBottomWritten, 2}),
            "completed: the bottom-of-pipe marker 2 behind it was written");
  EXPECT_EQ(RawReasonInWords({RawRule::kTopMissing, 5}),
            "not started: the front end had not written the top-of-pipe marker 5 before it");
  EXPECT_EQ(RawReasonInWords({RawRule::kLineIsFull, 1, 64}),
            "not started: 64 bottom-of-pipe writes were waiting from marker 1 on, and the front "
            "end does not go on with more");
  EXPECT_EQ(RawReasonInWords({RawRule::kFirstUnproven, 0}),
            "may be running: no other work can be the culprit, and it is the first that is not "
            "proven to have completed; a marker's write can be lost with the device");
  EXPECT_EQ(RawReasonInWords({RawRule::kBehindUnproven, 3}),
            "may be running: the write of the top-of-pipe marker 3 before it can be lost with the "
            "device; unlikely, as earlier work has not completed either");
}

TEST(RawReasonInWords, SaysWhatSpeaksAgainstIt) {
  const std::string may = "may be running: it lies around a marker, and only one side is known";
  EXPECT_EQ(RawReasonInWords({RawRule::kAroundMarker, 0, 0, kDoubtOtherWork}),
            may + "; unlikely, as markers stand around other work");
  EXPECT_EQ(RawReasonInWords(
                {RawRule::kAroundMarker, 0, 0, uint8_t{kDoubtMarkerMissing | kDoubtRunsNothing}}),
            may +
                "; unlikely, as the top-of-pipe marker directly behind it is missing and earlier "
                "work had not completed; unlikely, as it runs nothing");
}

}  // namespace
}  // namespace cairn
