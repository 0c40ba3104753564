// SPDX-License-Identifier: Apache-2.0
//
// Blocks in, trees out: what becomes of secondary command buffers.
#include "format/snapshot/secondaries.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "cairn/marker_types.h"

#include "format/snapshot/marker_type_name.h"
#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/snapshot_dump.h"
#include "format/snapshot/testing/test_block.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Snapshot Take(const TestBlock& block) {
  Snapshot snapshot = std::move(SnapshotFromBlock(block.bytes(), 1).value());
  EXPECT_EQ(FindInconsistency(snapshot), "");
  // A file keeps the same tree.
  const std::vector<std::byte> file = SnapshotFileBytes(snapshot);
  const Result<FileReader> reader = FileReader::FromBytes(file);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(DumpSnapshot(*ReadSnapshot(*reader)), DumpSnapshot(snapshot));
  return snapshot;
}

// One line an event: "3 DRAW 'a' tb" with t and b for what it writes, ends as "4 end of 3".
std::string Tree(const Snapshot& snapshot, uint32_t index) {
  const Recording& recording = snapshot.recordings.at(index);
  std::string tree = fmt::format("'{}' reached {} passed {}\n", snapshot.Text(recording.name),
                                 recording.reached, recording.passed);
  for (uint32_t i = 0; i < recording.event_count; ++i) {
    const Event& event = snapshot.events[recording.first_event + i];
    tree += fmt::format("{} ", i + 1);
    if (event.kind == EventKind::kBegin) {
      tree += MarkerTypeName(event.type);
      if (!event.name.empty()) tree += fmt::format(" '{}'", snapshot.Text(event.name));
      tree += fmt::format(" to {}", event.match);
    } else if (event.kind == EventKind::kEnd) {
      tree += fmt::format("end of {}", event.match);
    } else {
      tree += fmt::format("bind {}", event.type);
    }
    if ((event.flags & (kEventWritesTop | kEventWritesBottom)) != 0) tree += ' ';
    if ((event.flags & kEventWritesTop) != 0) tree += 't';
    if ((event.flags & kEventWritesBottom) != 0) tree += 'b';
    tree += '\n';
  }
  return tree;
}

std::vector<std::string> Losses(const Snapshot& snapshot) {
  std::vector<std::string> losses;
  for (TextRef loss : snapshot.losses) losses.emplace_back(snapshot.Text(loss));
  return losses;
}

struct Fixture {
  TestBlock block;
  uint32_t context = block.AddContext();
  uint32_t queue = block.AddQueue(context, 0, "Graphics");

  TestBlock::List AddSecondary(std::string_view name, int draws) {
    const TestBlock::List list = block.AddList(context, kNoQueue, 0, name, kRecordingSecondary);
    for (int i = 0; i < draws; ++i) block.Scope(list, CAIRN_MARKER_DRAW);
    block.Close(list);
    return list;
  }
  // Executes these in one command.
  void Execute(TestBlock::List list, std::initializer_list<TestBlock::List> secondaries) {
    const uint32_t begin = block.Begin(list, CAIRN_MARKER_EXECUTE_COMMANDS);
    for (const TestBlock::List& secondary : secondaries) block.ExecuteSecondary(list, secondary);
    block.End(list, begin);
  }
  // Submits a list, of which the GPU came so far.
  void Run(TestBlock::List list, uint32_t reached, uint32_t passed) {
    block.Submit(queue, list);
    block.SetProgress(list, reached, passed);
  }
  TestBlock::List AddPrimary(std::string_view name,
                             std::initializer_list<TestBlock::List> secondaries,
                             uint32_t flags = 0) {
    const TestBlock::List list = block.AddList(context, queue, 0, name, flags);
    block.Scope(list, CAIRN_MARKER_DISPATCH);
    Execute(list, secondaries);
    block.Scope(list, CAIRN_MARKER_DISPATCH);
    block.Close(list);
    return list;
  }
  // A secondary with so many draws, and a primary that executes it.
  std::pair<TestBlock::List, TestBlock::List> AddBoth(int draws, std::string_view name) {
    const TestBlock::List secondary = AddSecondary("", draws);
    return {secondary, AddPrimary(name, {secondary})};
  }
};

// A primary is submitted again while the block is read: its secondary's words may be of either execution.
TEST(Secondaries, WordsAreDroppedWhereThePrimaryWasSubmittedMeanwhile) {
  Fixture f;
  const auto [secondary, primary] = f.AddBoth(2, "Main");
  f.block.Submit(f.queue, primary);
  f.block.SetProgress(secondary, 3, 2);
  const BlockReader reader = std::move(BlockReader::Open(f.block.bytes()).value());
  const auto place = [&f](TestBlock::List list) {
    const ContextRecord& record = f.block.context(list.context);
    return RecordingPlace{record.recordings_offset + list.slot * sizeof(RecordingSlot),
                          record.progress_offset + list.slot * sizeof(ProgressWords), 1};
  };
  const std::vector<RecordingPlace> places = {place(primary), place(secondary)};
  Snapshot s;
  s.recordings.resize(2);
  s.recordings[0].recording_id = f.block.slot(primary).recording_id;
  s.recordings[0].submit_count = 1;
  s.recordings[1].recording_id = f.block.slot(secondary).recording_id;
  s.recordings[1].secondary = true;
  s.recordings[1].event_count = 4;
  for (Recording& recording : s.recordings) recording.device = f.context;
  const std::vector<SecondaryLink> links = {{0, 4, s.recordings[1].recording_id}};
  // The words are of an earlier execution: the values read first are discarded.
  s.recordings[1].reached = s.recordings[1].passed = 4;
  ReadSecondaryWords(reader, places, links, {true, false}, &s);
  EXPECT_EQ(s.recordings[1].reached, 3u);
  EXPECT_EQ(s.recordings[1].passed, 2u);
  f.block.slot(primary).submit_count = 2;
  ReadSecondaryWords(reader, places, links, {true, false}, &s);
  EXPECT_EQ(s.recordings[1].reached, 0u);
  EXPECT_EQ(s.recordings[1].passed, 0u);
  // Words of finished recordings are not read.
  s.recordings[1].reached = 1;
  ReadSecondaryWords(reader, places, links, {false, false}, &s);
  EXPECT_EQ(s.recordings[1].reached, 1u);
}

TEST(Secondaries, StandWhereTheyAreExecuted) {
  Fixture f;
  const auto [secondary, primary] = f.AddBoth(2, "Main");
  f.Run(primary, 3, 2);
  f.block.SetProgress(secondary, 3, 2);
  const Snapshot s = Take(f.block);
  ASSERT_THAT(s.recordings, SizeIs(1));
  EXPECT_EQ(Tree(s, 0),
            "'Main' reached 7 passed 6\n"
            "1 DISPATCH to 2 t\n"
            "2 end of 1 b\n"
            "3 EXECUTE_COMMANDS to 9 t\n"
            "4 bind 12\n"
            "5 DRAW to 6 t\n"
            "6 end of 5 b\n"
            "7 DRAW to 8 t\n"
            "8 end of 7 b\n"
            "9 end of 3 b\n"
            "10 DISPATCH to 11 t\n"
            "11 end of 10 b\n");
  EXPECT_EQ(s.submissions[0].recording, 0u);
  EXPECT_THAT(Losses(s), IsEmpty());
}

TEST(Secondaries, SeveralInOneCommandWithTheirNames) {
  Fixture f;
  const TestBlock::List first = f.AddSecondary("Shadows", 1);
  const TestBlock::List second = f.AddSecondary("Lights", 1);
  const TestBlock::List empty = f.AddSecondary("Empty", 0);
  const TestBlock::List primary = f.AddPrimary("", {first, empty, second});
  f.Run(primary, 3, 2);
  f.block.SetProgress(first, 1, 2);
  f.block.SetProgress(second, 1, 0);
  EXPECT_EQ(Tree(Take(f.block), 0),
            "'' reached 12 passed 8\n"
            "1 DISPATCH to 2 t\n"
            "2 end of 1 b\n"
            "3 EXECUTE_COMMANDS to 15 t\n"
            "4 bind 12\n"
            "5 PASS 'Shadows' to 8\n"
            "6 DRAW to 7 t\n"
            "7 end of 6 b\n"
            "8 end of 5 b\n"
            "9 bind 12\n"
            "10 bind 12\n"
            "11 PASS 'Lights' to 14\n"
            "12 DRAW to 13 t\n"
            "13 end of 12 b\n"
            "14 end of 11 b\n"
            "15 end of 3 b\n"
            "16 DISPATCH to 17 t\n"
            "17 end of 16 b\n");
}

TEST(Secondaries, TheWordsOfThePrimaryMoveAlong) {
  Fixture f;
  const auto [secondary, primary] = f.AddBoth(2, "Main");
  f.Run(primary, 6, 5);
  f.block.SetProgress(secondary, 3, 4);
  const Snapshot s = Take(f.block);
  EXPECT_EQ(s.recordings[0].reached, 10u);
  EXPECT_EQ(s.recordings[0].passed, 9u);
}

TEST(Secondaries, WhatTheyLeaveOpenIsEnded) {
  Fixture f;
  const TestBlock::List secondary =
      f.block.AddList(f.context, kNoQueue, 0, "", kRecordingSecondary);
  f.block.Begin(secondary, CAIRN_MARKER_PASS, "a");
  f.block.Begin(secondary, CAIRN_MARKER_PASS, "b");
  // The end of the buffer writes with the last event.
  f.block.chunk(f.block.slot(secondary).first_event_page)
      .events[EventPosition(secondary.slot, 1)]
      .flags |= kEventWritesBottom;
  f.block.Close(secondary);
  const TestBlock::List primary = f.AddPrimary("", {secondary});
  f.Run(primary, 3, 2);
  f.block.SetProgress(secondary, 2, 2);
  EXPECT_EQ(Tree(Take(f.block), 0),
            "'' reached 6 passed 8\n"
            "1 DISPATCH to 2 t\n"
            "2 end of 1 b\n"
            "3 EXECUTE_COMMANDS to 9 t\n"
            "4 bind 12\n"
            "5 PASS 'a' to 8 t\n"
            "6 PASS 'b' to 7 tb\n"
            "7 end of 6\n"
            "8 end of 5 b\n"
            "9 end of 3 b\n"
            "10 DISPATCH to 11 t\n"
            "11 end of 10 b\n");
}

// The words may be of either primary, so that they count for none.
TEST(Secondaries, WordsOfTwoUnfinishedPrimariesDoNotCount) {
  Fixture f;
  const TestBlock::List secondary = f.AddSecondary("", 1);
  const TestBlock::List first = f.AddPrimary("First", {secondary});
  const TestBlock::List second = f.AddPrimary("Second", {secondary});
  f.block.Submit(f.queue, first);
  f.block.Submit(f.queue, second);
  f.block.SetProgress(first, 3, 2);
  f.block.SetProgress(secondary, 1, 2);
  const Snapshot s = Take(f.block);
  ASSERT_THAT(s.recordings, SizeIs(2));
  EXPECT_EQ(Tree(s, 0),
            "'First' reached 3 passed 2\n"
            "1 DISPATCH to 2 t\n"
            "2 end of 1 b\n"
            "3 EXECUTE_COMMANDS to 7 t\n"
            "4 bind 12\n"
            "5 DRAW to 6\n"
            "6 end of 5\n"
            "7 end of 3 b\n"
            "8 DISPATCH to 9 t\n"
            "9 end of 8 b\n");
  EXPECT_EQ(s.recordings[1].reached, 0u);
}

TEST(Secondaries, WordsBelongToTheOneThatIsUnfinished) {
  Fixture f;
  const TestBlock::List secondary = f.AddSecondary("", 1);
  const TestBlock::List done = f.AddPrimary("Done", {secondary});
  const TestBlock::List running = f.AddPrimary("Running", {secondary});
  const TestBlock::List later = f.AddPrimary("Not submitted", {secondary});
  f.Run(done, 6, 7);
  f.Run(running, 3, 2);
  f.block.SetProgress(secondary, 1, 0);
  f.block.SetProgress(later, 0, 0);
  const Snapshot s = Take(f.block);
  EXPECT_EQ(s.recordings[0].reached, 8u);
  EXPECT_EQ(s.recordings[0].passed, 9u);
  EXPECT_EQ(s.recordings[1].reached, 5u);
  EXPECT_EQ(s.recordings[1].passed, 2u);
  EXPECT_EQ(s.recordings[2].reached, 0u);
}

TEST(Secondaries, ToldCompletionMakesAPrimaryFinished) {
  Fixture f;
  const TestBlock::List secondary = f.AddSecondary("", 1);
  const TestBlock::List done = f.AddPrimary("Done", {secondary});
  const TestBlock::List running = f.AddPrimary("Running", {secondary});
  f.block.Submit(f.queue, done);
  f.block.Submit(f.queue, running);
  f.block.queue(f.queue).completed_submission = 1;
  f.block.SetProgress(secondary, 1, 0);
  EXPECT_EQ(Take(f.block).recordings[1].reached, 5u);
}

TEST(Secondaries, WordsOfAnEarlierGenerationDoNotCount) {
  Fixture f;
  const auto [secondary, primary] = f.AddBoth(1, "");
  f.Run(primary, 3, 2);
  f.block.SetProgress(secondary, 1, 2);
  ++f.block.slot(secondary).generation;
  const Snapshot s = Take(f.block);
  EXPECT_EQ(s.recordings[0].reached, 3u);
  EXPECT_EQ(s.recordings[0].passed, 2u);
}

// Several executions may run at once: such a buffer writes nothing.
TEST(Secondaries, OfSimultaneousUseThePrimaryBracketsThem) {
  Fixture f;
  const TestBlock::List secondary =
      f.block.AddList(f.context, kNoQueue, 0, "", kRecordingSecondary);
  const uint32_t draw = f.block.Begin(secondary, CAIRN_MARKER_DRAW);
  f.block.End(secondary, draw, 0);
  EventChunk& chunk = f.block.chunk(f.block.slot(secondary).first_event_page);
  chunk.events[EventPosition(secondary.slot, 0)].flags = 0;
  const TestBlock::List primary = f.AddPrimary("", {secondary}, kRecordingReusable);
  f.block.Submit(f.queue, primary);
  f.block.words(primary).runs = 1;
  f.block.SetProgress(primary, 3, 2);
  EXPECT_EQ(Tree(Take(f.block), 0),
            "'' reached 3 passed 2\n"
            "1 DISPATCH to 2 t\n"
            "2 end of 1 b\n"
            "3 EXECUTE_COMMANDS to 7 t\n"
            "4 bind 12\n"
            "5 DRAW to 6\n"
            "6 end of 5\n"
            "7 end of 3 b\n"
            "8 DISPATCH to 9 t\n"
            "9 end of 8 b\n");
}

TEST(Secondaries, ThoseThatNobodyExecutesStay) {
  Fixture f;
  f.AddSecondary("Alone", 1);
  const Snapshot s = Take(f.block);
  ASSERT_THAT(s.recordings, SizeIs(1));
  EXPECT_TRUE(s.recordings[0].secondary);
}

TEST(Secondaries, UnknownOnesAreNamedAsALoss) {
  Fixture f;
  const TestBlock::List primary = f.block.AddList(f.context, f.queue, 0, "");
  f.block.ExecuteSecondary(primary, 4711);
  f.block.ExecuteSecondary(primary, uint64_t{1} << 40);
  // A recording that is no secondary one is not executed.
  const TestBlock::List other = f.block.AddList(f.context, f.queue, 0, "");
  f.block.ExecuteSecondary(primary, other);
  f.block.ExecuteSecondary(primary, primary);
  const Snapshot s = Take(f.block);
  EXPECT_EQ(s.recordings[0].event_count, 4u);
  EXPECT_THAT(Losses(s), ElementsAre(HasSubstr("4 executions of secondary command buffers name one "
                                               "that is not known")));
}

TEST(Secondaries, OfAnotherDeviceAreUnknown) {
  Fixture f;
  const TestBlock::List secondary = f.AddSecondary("", 1);
  const TestBlock::List other = f.block.AddList(f.block.AddContext(), kNoQueue, 0, "");
  f.block.ExecuteSecondary(other, secondary);
  EXPECT_THAT(Losses(Take(f.block)), ElementsAre(HasSubstr("1 executions of secondary")));
}

TEST(Secondaries, CyclesAndDepthAreNotFollowed) {
  Fixture f;
  const TestBlock::List inner = f.AddSecondary("Inner", 1);
  const TestBlock::List outer =
      f.block.AddList(f.context, kNoQueue, 0, "Outer", kRecordingSecondary);
  f.block.ExecuteSecondary(outer, inner);
  f.block.ExecuteSecondary(outer, outer);
  const TestBlock::List primary = f.AddPrimary("Main", {outer});
  f.block.Submit(f.queue, primary);
  const Snapshot s = Take(f.block);
  // The inner one is executed by nothing that is shown.
  ASSERT_THAT(s.recordings, SizeIs(2));
  EXPECT_EQ(s.Text(s.recordings[0].name), "Inner");
  EXPECT_EQ(s.recordings[1].event_count, 7u + 2u + 2u);
  EXPECT_THAT(Losses(s), ElementsAre(HasSubstr("2 secondary command buffers are executed by "
                                               "secondary ones")));
}

TEST(Secondaries, EndlessRepetitionIsBounded) {
  Fixture f;
  f.block.context(f.context).recording_capacity = 64;
  const TestBlock::List secondary = f.AddSecondary("", 1000);
  const TestBlock::List primary = f.block.AddList(f.context, f.queue, 0, "Main");
  for (int i = 0; i < 20'000; ++i) f.block.ExecuteSecondary(primary, secondary);
  f.block.Close(primary);
  const Snapshot s = Take(f.block);
  EXPECT_LE(s.events.size(), 2 * 22'000 + SecondarySplicer::kMostExtraEvents);
  EXPECT_GT(s.recordings[0].event_count, 500'000u);
  EXPECT_THAT(Losses(s), ElementsAre(HasSubstr("are too many to be shown")));
}

TEST(Secondaries, CheckpointsFollow) {
  Fixture f;
  const TestBlock::List once = f.AddSecondary("", 2);
  const TestBlock::List twice = f.AddSecondary("", 2);
  const TestBlock::List first = f.AddPrimary("First", {once, twice});
  f.AddPrimary("Second", {twice});
  f.block.AddCheckpoint(f.queue, PipeStage::kTop, once, 3);
  f.block.AddCheckpoint(f.queue, PipeStage::kTop, twice, 3);
  f.block.AddCheckpoint(f.queue, PipeStage::kBottom, first, 8);
  f.block.AddCheckpoint(f.queue, PipeStage::kBottom, first, 2);
  const Snapshot s = Take(f.block);
  ASSERT_THAT(s.checkpoints, SizeIs(4));
  EXPECT_EQ(s.checkpoints[0].recording, 0u);
  EXPECT_EQ(s.checkpoints[0].sequence, 7u);
  EXPECT_EQ(s.checkpoints[1].recording, kNone);
  EXPECT_EQ(s.checkpoints[1].sequence, 3u);
  EXPECT_EQ(s.checkpoints[2].recording, 0u);
  EXPECT_EQ(s.checkpoints[2].sequence, 16u);
  EXPECT_EQ(s.checkpoints[3].sequence, 2u);
}

}  // namespace
}  // namespace cairn
