// SPDX-License-Identifier: Apache-2.0
#include "format/elimination/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "cairn/marker_types.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

WorkNote Note(uint64_t key, std::vector<std::string> path) {
  WorkNote note;
  note.key = key;
  note.scope = key + 1;
  note.group = key + 2;
  note.type = CAIRN_MARKER_DISPATCH;
  note.ordinal = 3;
  note.path = std::move(path);
  note.pipeline = "Integrate";
  note.recorded = 4;
  note.submitted = 5;
  note.last_submission = 6;
  note.last_position = 7;
  return note;
}

TEST(WorkCatalogue, AFileHoldsAllOfIt) {
  WorkCatalogue catalogue;
  catalogue.work = {Note(10, {"Frame", "Simulate"}), Note(20, {}), Note(30, {"", "a", ""})};
  catalogue.work[1].pipeline.clear();
  catalogue.work[1].runs = 3;
  catalogue.lists = 12;
  catalogue.dropped = 1;
  catalogue.left_out = 9;
  catalogue.devices = {"Big GPU", "Little GPU"};
  const Result<WorkCatalogue> read = ReadCatalogue(WriteCatalogue(catalogue));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(catalogue.work, read->work);
  EXPECT_EQ(3u, read->runs);
  EXPECT_EQ(12u, read->lists);
  EXPECT_EQ(1u, read->dropped);
  EXPECT_EQ(9u, read->left_out);
  EXPECT_EQ(catalogue.devices, read->devices);
}

TEST(WorkCatalogue, WhatIsHalfWrittenIsLeftOut) {
  std::vector<std::byte> memory(Board::BytesFor(0, 4, 100));
  const Board board = Board::Make(memory, {}, 4, 100);
  bool is_new = false;
  WorkEntry* const done = board.FindOrAdd(1, &is_new);
  done->type = CAIRN_MARKER_DRAW;
  done->path = board.AddText("Frame");
  done->pipeline = 99;  // nothing can stand there
  done->ready.store(1);
  board.FindOrAdd(2, &is_new);  // its writer died
  WorkEntry* const odd = board.FindOrAdd(3, &is_new);
  odd->type = 5000;
  odd->ready.store(1);
  const Result<WorkCatalogue> read = ReadCatalogue(memory);
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(1u, read->work.size());
  EXPECT_EQ(1u, read->work[0].key);
  EXPECT_THAT(read->work[0].path, ElementsAre("Frame"));
  EXPECT_EQ("", read->work[0].pipeline);
}

TEST(WorkCatalogue, TellsWhatAnExperimentChanged) {
  std::vector<std::byte> memory(Board::BytesFor(0, 1, 8));
  const Board board = Board::Make(memory, {}, 1, 8);
  board.header().changes.fetch_add(120);
  board.header().not_changed.fetch_add(2);
  board.header().dropped.fetch_add(1);
  const Result<WorkCatalogue> read = ReadCatalogue(memory);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(120u, read->changes);
  EXPECT_EQ(2u, read->not_changed);
  EXPECT_EQ(1u, read->dropped);
  WorkCatalogue all = *read;
  Merge(*read, &all);
  EXPECT_EQ(240u, all.changes);
  EXPECT_EQ(4u, all.not_changed);
  // Versions before these counts read the file as they did.
  const std::vector<std::byte> file = WriteCatalogue(*read);
  const Result<WorkCatalogue> again = ReadCatalogue(file);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(1u, again->dropped);
  EXPECT_EQ(0u, again->changes);
  EXPECT_EQ(0u, again->not_changed);
}

TEST(WorkCatalogue, RunsAreCounted) {
  WorkCatalogue all;
  all.work = {Note(10, {"A"}), Note(20, {"B"})};
  WorkCatalogue second;
  second.work = {Note(10, {"A"}), Note(15, {"C"})};
  second.work[0].submitted = 50;
  all.devices = {"A", "C"};
  second.devices = {"B", "C"};
  Merge(second, &all);
  EXPECT_EQ(2u, all.runs);
  EXPECT_THAT(all.devices, ElementsAre("A", "B", "C"));
  ASSERT_EQ(3u, all.work.size());
  EXPECT_EQ(10u, all.work[0].key);
  EXPECT_EQ(2u, all.work[0].runs);
  EXPECT_EQ(50u, all.work[0].submitted);
  EXPECT_EQ(15u, all.work[1].key);
  EXPECT_EQ(1u, all.work[1].runs);
  EXPECT_EQ(20u, all.work[2].key);
  EXPECT_EQ(1u, all.work[2].runs);
}

// The file of a search in sample-fault-vulkan-plain on lavapipe.
TEST(WorkCatalogue, FilesOfEarlierVersionsAreRead) {
  std::ifstream file(CAIRN_SOURCE_DIR "/tests/golden/elimination-board-v1.work", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  const Result<WorkCatalogue> read = ReadCatalogue(bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_THAT(read->devices, ElementsAre("llvmpipe (LLVM 15.0.6, 256 bits)"));
  EXPECT_EQ(1u, read->lists);
  ASSERT_EQ(4u, read->work.size());
  std::vector<std::string> names;
  for (const WorkNote& note : read->work) {
    EXPECT_EQ(static_cast<uint32_t>(CAIRN_MARKER_DISPATCH), note.type);
    EXPECT_EQ(1u, note.submitted);
    names.push_back(note.path.back() + ": " + note.pipeline);
  }
  EXPECT_THAT(names, UnorderedElementsAre("Resolve: Fill [main (63b19c51fb38bbe3)]",
                                          "Scatter to a buffer: Scatter [main (0075b6f0231a3484)]",
                                          "Scatter to nowhere: Scatter [main (0075b6f0231a3484)]",
                                          "Clear: Fill [main (63b19c51fb38bbe3)]"));
}

TEST(WorkCatalogue, WhatIsNoBoardIsNoCatalogue) {
  const std::vector<std::byte> nothing(200);
  EXPECT_EQ(StatusCode::kCorrupt, ReadCatalogue(nothing).status().code());
  EXPECT_EQ(StatusCode::kCorrupt, ReadCatalogue({}).status().code());
}

}  // namespace
}  // namespace cairn
