// SPDX-License-Identifier: Apache-2.0
#include "format/experiment/experiment_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

// Zero-filled memory, as a page is aligned.
class Memory {
 public:
  explicit Memory(size_t bytes)
      : data_(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{4096}))),
        bytes_(bytes) {
    std::memset(data_, 0, bytes);
  }
  ~Memory() { ::operator delete (data_, std::align_val_t{4096}); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  std::span<std::byte> span() const { return {data_, bytes_}; }
  void Put(size_t word, uint32_t value) { std::memcpy(data_ + 4 * word, &value, sizeof(value)); }

 private:
  std::byte* const data_;
  const size_t bytes_;
};
// Words of the header.
constexpr size_t kVersionWord = 1;
constexpr size_t kLoopCountWord = 2;
constexpr size_t kTextBytesWord = 3;
constexpr size_t kReservedWord = 4;
constexpr size_t kTextUsedWord = 5;
constexpr size_t kFirstEntryWord = 16;
constexpr size_t kFlagsWord = 7;  // of an entry

LoopNote Note() {
  LoopNote note;
  note.shader = 0xa1;
  note.translated = 0xd1;
  note.stage = 4;
  note.index = 3;
  note.count = 5;
  note.excerpt = {"{\nfor (;;)\n;", 8, 1};
  note.function = "march";
  note.file = "march.comp";
  note.text = "for (;;)";
  note.line = 9;
  note.column = 3;
  note.left = "i";
  note.comparison = "<";
  note.right = "limit";
  note.is_float = true;
  note.is_signed = true;
  note.invocations = InvocationKind::kGlobal;
  return note;
}

LoopNote Named(std::string function) {
  LoopNote note;
  note.function = std::move(function);
  return note;
}

TEST(ExperimentBoard, HasCountsBesideLoops) {
  const Memory memory(ExperimentBoard::BytesFor(4, 4096));
  const ExperimentBoard board = ExperimentBoard::Make(memory.span(), 4, 4096);
  ASSERT_EQ(board.Reserve(2), 0u);
  board.Describe(0, Note());
  CountNote note;
  note.command = "vkCmdDispatchIndirect";
  note.label = "Frame > Particles";
  note.count = 3;
  note.is_indirect = true;
  board.Describe(1, note);
  note.record = {.used = {8, 1, 1}, .given = {~0u, 2, 3}, .limited = 7};
  std::memcpy(&board.records()[1], &note.record, sizeof(note.record));
  EXPECT_THAT(board.Read().counts, ElementsAre(note));
  EXPECT_THAT(board.Read().loops, ElementsAre(Note()));
}

TEST(ExperimentBoard, HasBindingsBesideLoops) {
  Memory memory(ExperimentBoard::BytesFor(4, 4096));
  const ExperimentBoard board = ExperimentBoard::Make(memory.span(), 4, 4096);
  ASSERT_EQ(board.Reserve(3), 0u);
  BindingNote buffer{Note()};
  buffer.place = {BindingPlace::From::kDescriptor, 2, 7};
  buffer.kind = BindingKind::kStorageBuffer;
  buffer.name = "fogVolume";
  BindingNote input;
  input.place = {BindingPlace::From::kVertexInput, 0, 5};
  input.kind = BindingKind::kVertexInput;
  board.Describe(0, buffer);
  board.Describe(1, Note());
  board.Describe(2, input);
  EXPECT_THAT(board.Read().bindings, ElementsAre(buffer, input));
  EXPECT_THAT(board.Read().loops, ElementsAre(Note()));
  // A kind and an origin of another version.
  memory.Put(kFirstEntryWord + kFlagsWord, 0xffff80);
  EXPECT_EQ(BindingKind::kUnknown, board.Read().bindings[0].kind);
  EXPECT_EQ(BindingPlace::From::kNone, board.Read().bindings[0].place.from);
}

TEST(LimitCounts, TheProductIsLimitedFromTheFrontOn) {
  const auto limited = [](std::vector<uint32_t> counts, uint32_t most) {
    const bool changed = LimitCounts(counts, most);
    counts.push_back(changed ? 1 : 0);
    return counts;
  };
  constexpr uint32_t kAll = ~0u;
  EXPECT_THAT(limited({3, 1}, 100), ElementsAre(3, 1, 0));
  EXPECT_THAT(limited({10, 10}, 100), ElementsAre(10, 10, 0));
  EXPECT_THAT(limited({10, 11}, 100), ElementsAre(10, 10, 1));
  EXPECT_THAT(limited({kAll, 1}, 100), ElementsAre(100, 1, 1));
  EXPECT_THAT(limited({1, kAll}, 100), ElementsAre(1, 100, 1));
  EXPECT_THAT(limited({kAll, kAll, kAll}, 100), ElementsAre(100, 1, 1, 1));
  EXPECT_THAT(limited({7, 5, 4}, 100), ElementsAre(7, 5, 2, 1));
  EXPECT_THAT(limited({kAll, 0, 1}, 100), ElementsAre(kAll, 0, 1, 0)) << "nothing is drawn";
  EXPECT_THAT(limited({65535, 65535, 2}, 1), ElementsAre(1, 1, 1, 1));
}

TEST(ExperimentBoard, IsReadAsItIsWritten) {
  const Memory memory(ExperimentBoard::BytesFor(4, 4096));
  const ExperimentBoard board = ExperimentBoard::Make(memory.span(), 4, 4096);
  EXPECT_EQ(board.Read(), ExperimentNotes{});
  EXPECT_EQ(board.Reserve(2), 0u);
  EXPECT_EQ(board.Reserve(1), 2u);
  LoopNote first = Note();
  LoopNote second;
  second.shader = 0xa2;
  second.cannot = "a value that no variable can hold";
  board.Describe(0, first);
  board.Describe(2, second);
  board.CountLimited();
  board.CountRefused("the module is not valid");
  board.CountRefused("another");
  board.SetWhyNone("no addresses");
  board.SetWhyNone("another");
  EXPECT_EQ(board.Reserve(2), std::nullopt);
  board.records()[2].cuts = 5;
  second.record.cuts = 5;
  const Result<ExperimentBoard> other = ExperimentBoard::Over(memory.span());
  ASSERT_TRUE(other.ok()) << other.status().message();
  // The loop that nobody described is not there.
  EXPECT_EQ(other->Read(), (ExperimentNotes{.loops = {first, second},
                                            .limited = 1,
                                            .refused = 2,
                                            .why_refused = "the module is not valid",
                                            .why_none = "no addresses",
                                            .dropped = 2}));
}

TEST(ExperimentBoard, AccessesStandAmongLoops) {
  const Memory memory(ExperimentBoard::BytesFor(8, 4096));
  const ExperimentBoard board = ExperimentBoard::Make(memory.span(), 8, 4096);
  AccessNote access;
  access.shader = 0xa3;
  access.index = 7;
  access.function = "main";
  access.line = 12;
  access.text = "node = node.next;";
  access.kind = AccessKind::kAtomic;
  access.bytes = 8;
  access.pointer = "node";
  const uint32_t at = board.Reserve(2).value();
  board.Describe(at, Note());
  board.Describe(at + 1, access);
  access.record = {.misses = 3, .first = 1, .address = 0x10, .range = {0x8, 8}};
  std::memcpy(&board.records()[at + 1], &access.record, sizeof(access.record));
  const ExperimentNotes read = board.Read();
  EXPECT_THAT(read.loops, ElementsAre(Note()));
  EXPECT_THAT(read.accesses, ElementsAre(access));
}

// The reason is that of the access, or of one of its indices.
TEST(ExperimentBoard, AnAccessMayBeCheckedInPart) {
  const Memory memory(ExperimentBoard::BytesFor(8, 4096));
  const ExperimentBoard board = ExperimentBoard::Make(memory.span(), 8, 4096);
  AccessNote partly;
  partly.by_descriptor = true;
  partly.partly = "nobody knows how many there are";
  partly.indices[0] = {IndexKind::kElement, true};
  AccessNote whole;
  whole.index = 1;
  whole.cannot = "it copies memory";
  AccessNote checked;
  checked.index = 2;
  const uint32_t at = board.Reserve(3).value();
  board.Describe(at, partly);
  board.Describe(at + 1, whole);
  board.Describe(at + 2, checked);
  EXPECT_THAT(board.Read().accesses, ElementsAre(partly, whole, checked));
}

TEST(ExperimentBoard, AnAccessByDescriptorHasItsIndices) {
  const Memory memory(ExperimentBoard::BytesFor(8, 4096));
  const ExperimentBoard board = ExperimentBoard::Make(memory.span(), 8, 4096);
  AccessNote access;
  access.kind = AccessKind::kAtomic;
  access.by_descriptor = true;
  access.pointer = "bins";
  access.set = 3;
  access.binding = UINT32_MAX;
  access.indices[0] = {IndexKind::kDescriptor, false};
  access.indices[1] = {IndexKind::kElement, true};
  access.indices[3] = {IndexKind::kElement, false};
  const uint32_t at = board.Reserve(1).value();
  board.Describe(at, access);
  access.record = {.misses = 2, .first = 1};
  SetIndexMiss({{9, static_cast<uint32_t>(-1), 0, 7}, {4, 64, 1, 8}}, &access.record);
  std::memcpy(&board.records()[at], &access.record, sizeof(access.record));
  const ExperimentNotes read = board.Read();
  ASSERT_THAT(read.accesses, ElementsAre(access));
  const IndexMiss miss = IndexMissOf(read.accesses[0].record);
  EXPECT_THAT(miss.index, ElementsAre(9, static_cast<uint32_t>(-1), 0, 7));
  EXPECT_THAT(miss.bound, ElementsAre(4, 64, 1, 8));
}

TEST(ExperimentBoard, RecordsAreWholePagesAtTheEnd) {
  constexpr size_t kAlignment = ExperimentBoard::kRecordAlignment;
  for (const uint32_t loops : {1u, 1024u, 1025u, ExperimentBoard::kMostLoops}) {
    const Memory memory(ExperimentBoard::BytesFor(loops, 100));
    const ExperimentBoard board = ExperimentBoard::Make(memory.span(), loops, 100);
    const std::span<std::byte> records = board.record_bytes();
    EXPECT_EQ((records.data() - memory.span().data()) % kAlignment, 0u);
    EXPECT_EQ(records.size() % kAlignment, 0u);
    EXPECT_EQ(records.data() + records.size(), memory.span().data() + memory.span().size());
    EXPECT_EQ(reinterpret_cast<std::byte*>(board.records().data()), records.data());
    EXPECT_EQ(board.records().size(), loops);
    // A record does not share its memory with texts.
    board.Reserve(loops);
    for (uint32_t i = 0; i < loops && i < 20; ++i) board.Describe(i, Note());
    EXPECT_EQ(board.records()[0], LoopRecord{});
  }
}

TEST(ExperimentBoard, TextsThatFindNoRoomAreLeftOutAndLongOnesCut) {
  const Memory memory(
      ExperimentBoard::BytesFor(3, 2 + 2 + ExperimentBoard::kMostTextLength + 2 + 3));
  const ExperimentBoard board = ExperimentBoard::Make(
      memory.span(), 3, 2 + 2 + static_cast<uint32_t>(ExperimentBoard::kMostTextLength) + 2 + 3);
  board.Reserve(3);
  // The last code point has three bytes, and does not fit.
  std::string longest(ExperimentBoard::kMostTextLength - 1, 'x');
  board.Describe(0, Named(longest + "\u20ac"));
  LoopNote second = Named("much too long by now");
  second.line = 7;
  board.Describe(1, second);
  board.Describe(2, Named("abc"));
  const ExperimentNotes catalogue = board.Read();
  ASSERT_EQ(catalogue.loops.size(), 3u);
  EXPECT_EQ(catalogue.loops[0].function, longest);
  EXPECT_EQ(catalogue.loops[1].function, "");
  EXPECT_EQ(catalogue.loops[1].line, 7u);
  EXPECT_EQ(catalogue.loops[2].function, "abc");
}

TEST(ExperimentBoard, ExcerptsLeaveHalfOfTheTextsToNames) {
  constexpr uint32_t kTextBytes = 4096;
  const Memory memory(ExperimentBoard::BytesFor(4, kTextBytes));
  const ExperimentBoard board = ExperimentBoard::Make(memory.span(), 4, kTextBytes);
  board.Reserve(4);
  LoopNote note = Named("march");
  note.excerpt = {std::string(ExperimentBoard::kMostExcerptLength + 1, 'x'), 8, 1};
  for (uint32_t i = 0; i < 3; ++i) board.Describe(i, note);
  const ExperimentNotes catalogue = board.Read();
  ASSERT_EQ(catalogue.loops.size(), 3u);
  EXPECT_EQ(catalogue.loops[0].excerpt.lines,
            std::string(ExperimentBoard::kMostExcerptLength, 'x'));
  EXPECT_EQ(catalogue.loops[0].excerpt.first_line, 8u);
  EXPECT_EQ(catalogue.loops[0].excerpt.marked, 1u);
  EXPECT_EQ(catalogue.loops[1].excerpt.lines.size(), ExperimentBoard::kMostExcerptLength);
  EXPECT_EQ(catalogue.loops[2].excerpt.lines, "");
  EXPECT_EQ(catalogue.loops[2].function, "march");
}

TEST(ExperimentBoard, ManyThreadsGetRecordsOfTheirOwn) {
  constexpr uint32_t kEach = 500;
  const Memory memory(ExperimentBoard::BytesFor(4 * kEach, 1 << 16));
  const ExperimentBoard board = ExperimentBoard::Make(memory.span(), 4 * kEach, 1 << 16);
  std::vector<std::thread> threads;
  for (uint64_t shader = 1; shader <= 4; ++shader) {
    threads.emplace_back([&board, shader] {
      for (uint32_t i = 0; i < kEach; ++i) {
        const std::optional<uint32_t> at = board.Reserve(1);
        ASSERT_TRUE(at);
        LoopNote note = Named(std::to_string(i));
        note.shader = shader;
        note.index = i;
        board.Describe(*at, note);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<uint32_t> seen(5);
  for (const LoopNote& note : board.Read().loops) {
    ASSERT_LE(note.shader, 4u);
    EXPECT_EQ(note.index, seen[note.shader]++);
    EXPECT_EQ(note.function, std::to_string(note.index));
  }
  EXPECT_THAT(seen, ElementsAre(0, kEach, kEach, kEach, kEach));
}

TEST(ExperimentBoard, WhatIsNoBoardIsRefused) {
  const auto why = [](std::span<std::byte> memory) {
    const Result<ExperimentBoard> board = ExperimentBoard::Over(memory);
    EXPECT_FALSE(board.ok() || board.status().code() != StatusCode::kCorrupt);
    return board.ok() ? "" : board.status().message();
  };
  Memory memory(ExperimentBoard::BytesFor(4, 4096));
  EXPECT_THAT(why(memory.span()), StartsWith("the board of loops is damaged: "));
  EXPECT_NE(why({}), "");
  ExperimentBoard::Make(memory.span(), 4, 4096);
  EXPECT_NE(why(memory.span().first(memory.span().size() - 1)), "");
  EXPECT_NE(why(memory.span().subspan(4)), "");
  memory.Put(kLoopCountWord, 2000);
  EXPECT_NE(why(memory.span()), "");
  memory.Put(kLoopCountWord, 0);
  EXPECT_NE(why(memory.span()), "");
  memory.Put(kLoopCountWord, UINT32_MAX);
  EXPECT_NE(why(memory.span()), "");
  memory.Put(kLoopCountWord, 4);
  memory.Put(kTextBytesWord, UINT32_MAX);
  EXPECT_NE(why(memory.span()), "");
  memory.Put(kTextBytesWord, 4096);
  memory.Put(kVersionWord, 1);
  EXPECT_NE(why(memory.span()), "");
  memory.Put(kVersionWord, 2);
  EXPECT_TRUE(ExperimentBoard::Over(memory.span()).ok());
}

TEST(ExperimentBoard, CountsAndOffsetsOfOthersAreNotTrusted) {
  Memory memory(ExperimentBoard::BytesFor(2, 64));
  const ExperimentBoard board = ExperimentBoard::Make(memory.span(), 2, 64);
  board.Reserve(1);
  LoopNote note = Named("abc");
  note.file = "def";
  board.Describe(0, note);
  // Offsets of texts and the kind of invocations, in words of the entry.
  memory.Put(kFirstEntryWord + 8, 77);
  memory.Put(kFirstEntryWord + 9, 63);
  memory.Put(kFirstEntryWord + 10, UINT32_MAX);
  memory.Put(kReservedWord, UINT32_MAX);
  memory.Put(kTextUsedWord, UINT32_MAX);
  const ExperimentNotes catalogue = board.Read();
  ASSERT_EQ(catalogue.loops.size(), 1u);
  EXPECT_EQ(catalogue.loops[0].invocations, InvocationKind::kUnknown);
  EXPECT_EQ(catalogue.loops[0].function, "");
  EXPECT_EQ(catalogue.loops[0].file, "");
  EXPECT_EQ(board.Reserve(1), std::nullopt);
  board.Describe(2, Note());
  board.Describe(1, Note());
  EXPECT_EQ(board.Read().loops.back().function, "");
  memory.Put(kTextUsedWord, 0);
  board.CountRefused("no room");
  EXPECT_EQ(board.Read().why_refused, "");
  EXPECT_EQ(board.Read().refused, 1u);
}

}  // namespace
}  // namespace cairn
