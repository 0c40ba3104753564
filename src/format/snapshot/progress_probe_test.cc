// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/progress_probe.h"

#include <gtest/gtest.h>

#include "cairn/marker_types.h"

#include "format/snapshot/testing/test_block.h"

namespace cairn {
namespace {

class ProgressProbeTest : public ::testing::Test {
 protected:
  ProgressProbeTest()
      : context_(block_.AddContext()),
        queue_(block_.AddQueue(context_, 0, "Main")),
        probe_(std::move(ProgressProbe::Open(block_.bytes()).value())) {}

  // A list with one scope; bottom writes only if told so.
  TestBlock::List MakeList(uint8_t end_flags = kEventWritesBottom) {
    const TestBlock::List list = block_.AddList(context_, queue_, 0, "");
    block_.End(list, block_.Begin(list, CAIRN_MARKER_DISPATCH), end_flags);
    block_.Close(list);
    return list;
  }
  QueueProgress PollQueue() {
    for (const QueueProgress& progress : probe_.Poll()) {
      if (progress.queue == queue_) return progress;
    }
    return QueueProgress{};
  }

  TestBlock block_;
  uint32_t context_;
  uint32_t queue_;
  ProgressProbe probe_;
};

TEST_F(ProgressProbeTest, AnIdleProgramHasNothingUnfinished) {
  EXPECT_TRUE(probe_.Poll().empty());
  MakeList();  // Recorded, never submitted.
  EXPECT_EQ(PollQueue().unfinished, 0u);
}

TEST_F(ProgressProbeTest, SubmittedWorkIsUnfinishedUntilItsLastBottomWrite) {
  const TestBlock::List list = MakeList();
  block_.Submit(queue_, list);
  const QueueProgress submitted = PollQueue();
  EXPECT_EQ(submitted.unfinished, 1u);
  EXPECT_EQ(submitted.device, context_);
  EXPECT_EQ(PollQueue().fingerprint, submitted.fingerprint);
  block_.SetProgress(list, 1, 0);
  const QueueProgress running = PollQueue();
  EXPECT_EQ(running.unfinished, 1u);
  EXPECT_NE(running.fingerprint, submitted.fingerprint);
  EXPECT_EQ(PollQueue().fingerprint, running.fingerprint);
  block_.SetProgress(list, 1, 2);
  const QueueProgress finished = PollQueue();
  EXPECT_EQ(finished.unfinished, 0u);
  EXPECT_NE(finished.fingerprint, running.fingerprint);
}

TEST_F(ProgressProbeTest, StartedWorkCountsAlsoWhenNobodyToldItsSubmission) {
  const TestBlock::List list = MakeList();
  block_.SetProgress(list, 1, 0);
  EXPECT_EQ(PollQueue().unfinished, 1u);
}

// A secondary command buffer's writes are progress of the queue that runs it; it is no work of its
// own.
TEST_F(ProgressProbeTest, SecondaryCommandBuffersMoveTheQueueThatRunsThem) {
  const TestBlock::List secondary = block_.AddList(context_, kNoQueue, 0, "", kRecordingSecondary);
  for (int i = 0; i < 2; ++i) block_.Scope(secondary, CAIRN_MARKER_DRAW);
  block_.Close(secondary);
  const TestBlock::List primary = block_.AddList(context_, queue_, 0, "");
  const uint32_t execute = block_.Begin(primary, CAIRN_MARKER_EXECUTE_COMMANDS);
  block_.ExecuteSecondary(primary, secondary);
  block_.End(primary, execute);
  block_.Close(primary);
  const uint32_t other = block_.AddQueue(context_, 1, "Other");
  block_.Submit(other, MakeList());
  block_.Submit(queue_, primary);
  block_.SetProgress(primary, execute, 0);
  const auto fingerprint_of = [this](uint32_t queue) {
    uint64_t fingerprint = 0;
    for (const QueueProgress& progress : probe_.Poll()) {
      if (progress.queue == queue) fingerprint = progress.fingerprint;
    }
    return fingerprint;
  };
  const QueueProgress before = PollQueue();
  const uint64_t other_before = fingerprint_of(other);
  EXPECT_EQ(before.unfinished, 1u);
  block_.SetProgress(secondary, 1, 0);
  const QueueProgress running = PollQueue();
  EXPECT_EQ(running.unfinished, 1u);
  EXPECT_NE(running.fingerprint, before.fingerprint);
  EXPECT_EQ(PollQueue().fingerprint, running.fingerprint);
  block_.SetProgress(secondary, 3, 2);
  EXPECT_NE(PollQueue().fingerprint, running.fingerprint);
  EXPECT_EQ(fingerprint_of(other), other_before);
  block_.SetProgress(primary, execute, 3);
  EXPECT_EQ(PollQueue().unfinished, 0u);
}

TEST_F(ProgressProbeTest, NewSubmissionsBehindAHangAreNoProgress) {
  const TestBlock::List hanging = MakeList();
  block_.Submit(queue_, hanging);
  block_.SetProgress(hanging, 1, 0);
  const QueueProgress before = PollQueue();
  block_.Submit(queue_, MakeList());
  const QueueProgress after = PollQueue();
  EXPECT_EQ(after.unfinished, 2u);
  EXPECT_EQ(after.fingerprint, before.fingerprint);
}

TEST_F(ProgressProbeTest, TheApplicationMaySayThatASubmissionCompleted) {
  const TestBlock::List list = MakeList(0);
  const uint64_t number = block_.Submit(queue_, list);
  const QueueProgress before = PollQueue();
  EXPECT_EQ(before.unfinished, 1u);
  block_.queue(queue_).completed_submission = number;
  EXPECT_EQ(PollQueue().unfinished, 0u);
  EXPECT_NE(PollQueue().fingerprint, before.fingerprint);
}

TEST_F(ProgressProbeTest, WithoutBottomWritesALaterFinishedSubmissionProvesIt) {
  block_.Submit(queue_, MakeList(0));
  const TestBlock::List later = MakeList();
  block_.Submit(queue_, later);
  EXPECT_EQ(PollQueue().unfinished, 2u);
  block_.SetProgress(later, 1, 2);
  EXPECT_EQ(PollQueue().unfinished, 0u);
}

TEST_F(ProgressProbeTest, WithoutBottomWritesAndSubmissionNothingIsCounted) {
  block_.SetProgress(MakeList(0), 1, 0);
  EXPECT_EQ(PollQueue().unfinished, 0u);
}

// No word can show that these have completed: an idle program must not look hung.
TEST_F(ProgressProbeTest, WhatWritesNothingIsNeverUnfinished) {
  const TestBlock::List empty = block_.AddList(context_, queue_, 0, "");
  block_.Close(empty);
  block_.Submit(queue_, empty);
  EXPECT_EQ(PollQueue().unfinished, 0u);
  const TestBlock::List silent = MakeList(0);
  block_.chunk(block_.slot(silent).first_event_page).events[EventPosition(silent.slot, 0)].flags =
      0;
  block_.Submit(queue_, silent);
  EXPECT_EQ(PollQueue().unfinished, 0u);
  const TestBlock::List reusable = block_.AddList(context_, queue_, 0, "", kRecordingReusable);
  block_.Close(reusable);
  block_.Submit(queue_, reusable);
  EXPECT_EQ(PollQueue().unfinished, 0u);
  // Later submissions count as usual.
  block_.Submit(queue_, MakeList());
  EXPECT_EQ(PollQueue().unfinished, 1u);
}

TEST_F(ProgressProbeTest, WhatTheQueueRefusedIsNotUnfinished) {
  const TestBlock::List list = MakeList();
  block_.Submit(queue_, list);
  EXPECT_EQ(PollQueue().unfinished, 1u);
  block_.slot(list).flags |= kRecordingRefused;
  EXPECT_EQ(PollQueue().unfinished, 0u);
}

TEST_F(ProgressProbeTest, WithoutBottomWritesTheLastOneAtTheTopCounts) {
  const TestBlock::List list = block_.AddList(context_, queue_, 0, "");
  block_.End(list, block_.Begin(list, CAIRN_MARKER_DRAW), 0);
  block_.End(list, block_.Begin(list, CAIRN_MARKER_DRAW), 0);
  block_.Close(list);
  block_.Submit(queue_, list);
  EXPECT_EQ(PollQueue().unfinished, 1u);
  block_.SetProgress(list, 1, 0);
  EXPECT_EQ(PollQueue().unfinished, 1u);
  block_.SetProgress(list, 3, 0);
  EXPECT_EQ(PollQueue().unfinished, 0u) << "whether the last draw has finished cannot be seen";
}

TEST_F(ProgressProbeTest, AReusableListHasToBeginEveryExecution) {
  const TestBlock::List list = block_.AddList(context_, queue_, 0, "", kRecordingReusable);
  block_.Scope(list, CAIRN_MARKER_DRAW);
  block_.Close(list);
  block_.Submit(queue_, list);
  block_.Submit(queue_, list);
  block_.words(list).runs = 1;
  block_.SetProgress(list, 1, 2);
  EXPECT_EQ(PollQueue().unfinished, 1u);
  block_.words(list).runs = 2;
  EXPECT_EQ(PollQueue().unfinished, 0u);
}

TEST_F(ProgressProbeTest, ClearingTheWordsForTheNextSubmissionIsNoProgress) {
  const TestBlock::List list = MakeList();
  block_.Submit(queue_, list);
  block_.SetProgress(list, 1, 2);
  const QueueProgress finished = PollQueue();
  block_.SetProgress(list, 0, 0);
  block_.Submit(queue_, list);
  const QueueProgress again = PollQueue();
  EXPECT_EQ(again.unfinished, 1u);
  EXPECT_EQ(again.fingerprint, finished.fingerprint);
}

TEST_F(ProgressProbeTest, AFlagThatIsAddedWhenTheListEndsIsSeen) {
  const TestBlock::List list = block_.AddList(context_, queue_, 0, "");
  block_.End(list, block_.Begin(list, CAIRN_MARKER_DRAW), 0);
  block_.SetProgress(list, 1, 0);
  EXPECT_EQ(PollQueue().unfinished, 0u);
  block_.chunk(block_.slot(list).first_event_page).events[1].flags = kEventWritesBottom;
  EXPECT_EQ(PollQueue().unfinished, 1u);
  block_.SetProgress(list, 1, 2);
  EXPECT_EQ(PollQueue().unfinished, 0u);
}

TEST_F(ProgressProbeTest, ListsOfManyPagesFinishWithTheirLastBottomWrite) {
  const TestBlock::List list = block_.AddList(context_, queue_, 0, "");
  for (int i = 0; i < 600; ++i) {
    block_.Scope(list, CAIRN_MARKER_DRAW);
    block_.SetProgress(list, 1, 0);
    PollQueue();  // Scans while the list grows.
  }
  block_.SetProgress(list, 1199, 1198);
  EXPECT_EQ(PollQueue().unfinished, 1u);
  block_.SetProgress(list, 1199, 1200);
  EXPECT_EQ(PollQueue().unfinished, 0u);
}

TEST_F(ProgressProbeTest, ListsWithoutAQueueAreCountedForTheirDevice) {
  const TestBlock::List list = block_.AddList(context_, kNoQueue, 0, "");
  block_.Scope(list, CAIRN_MARKER_DRAW);
  block_.SetProgress(list, 1, 0);
  const std::span<const QueueProgress> queues = probe_.Poll();
  ASSERT_EQ(queues.size(), 1u);
  EXPECT_EQ(queues[0].queue, kNone);
  EXPECT_EQ(queues[0].device, context_);
  EXPECT_EQ(queues[0].unfinished, 1u);
}

// The layer publishes a device when it is created, and its tables with the first list.
TEST_F(ProgressProbeTest, TablesThatComeLaterAreSeen) {
  ContextRecord& record = block_.context(context_);
  const uint32_t capacity = record.recording_capacity;
  const uint64_t recordings_offset = record.recordings_offset;
  const uint64_t progress_offset = record.progress_offset;
  record.recording_capacity = 0;
  record.recordings_offset = 0;
  record.progress_offset = 0;
  EXPECT_TRUE(probe_.Poll().empty());
  record.recording_capacity = capacity;
  record.recordings_offset = recordings_offset;
  record.progress_offset = progress_offset;
  block_.Submit(queue_, MakeList());
  EXPECT_EQ(PollQueue().unfinished, 1u);
}

// A block's entries are used again when what they stood for has ended.
TEST_F(ProgressProbeTest, AnotherContextAndQueueInTheSamePlaceAreWatched) {
  const TestBlock::List before = MakeList();
  block_.Submit(queue_, before);
  block_.Submit(queue_, before);
  block_.queue(queue_).completed_submission = 2;
  EXPECT_EQ(PollQueue().unfinished, 0u);
  block_.context(context_).state = 2;
  block_.queue(queue_).state = 2;
  EXPECT_EQ(PollQueue().unfinished, 0u);

  const uint32_t other = block_.AddContext();
  ContextRecord& record = block_.context(context_);
  record.recordings_offset = block_.context(other).recordings_offset;
  record.progress_offset = block_.context(other).progress_offset;
  record.state = 1;
  block_.context(other).state = 2;
  QueueRecord& queue = block_.queue(queue_);
  queue.completed_submission = 0;
  queue.submission_count = 0;
  queue.state = 1;
  block_.Submit(queue_, MakeList());
  EXPECT_EQ(PollQueue().unfinished, 1u);
}

TEST_F(ProgressProbeTest, DestroyedContextsAreNotWaitedFor) {
  const TestBlock::List list = MakeList();
  block_.Submit(queue_, list);
  EXPECT_EQ(PollQueue().unfinished, 1u);
  block_.context(context_).state = 2;
  EXPECT_EQ(PollQueue().unfinished, 0u);
}

TEST_F(ProgressProbeTest, ACircleOfEventsEndsThePoll) {
  const TestBlock::List list = MakeList();
  const uint32_t page = block_.slot(list).first_event_page;
  block_.chunk(page).next_page = page;
  block_.slot(list).event_count = kMaxSequence;
  block_.SetProgress(list, 1, 0);
  EXPECT_EQ(PollQueue().unfinished, 1u);
}

}  // namespace
}  // namespace cairn
