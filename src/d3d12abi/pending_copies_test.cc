// SPDX-License-Identifier: Apache-2.0
#include "d3d12abi/pending_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kBuffer = 5;
constexpr uint64_t kQueue = 7;
constexpr uint64_t kFence = 9;

CopiedRows Bytes(uint64_t offset, uint64_t size) {
  return {.buffer = kBuffer, .offset_bytes = offset, .row_bytes = size};
}

class PendingCopiesTest : public testing::Test {
 protected:
  void Execute(std::vector<CopiedRows> rows, uint64_t queue = kQueue) {
    ListCopies list;
    for (const CopiedRows& each : rows) list.Add(each);
    const ListCopies* const lists[] = {&list};
    pending_.Execute(lists, queue, [&](uint64_t source) { return source == unpredictable_; });
  }
  // Offsets of what the fence says is there.
  std::vector<uint64_t> DoneBy(uint64_t fence, uint64_t value) {
    std::vector<uint64_t> offsets;
    pending_.TakeFromAll([&](const PendingCopies::Copy& copy) {
      const bool done = copy.fence == fence && copy.fence_value <= value;
      if (done) offsets.push_back(copy.rows.offset_bytes);
      return done;
    });
    return offsets;
  }

  PendingCopies pending_;
  uint64_t unpredictable_ = 77;
};

TEST_F(PendingCopiesTest, ASignalSaysWhatWasSubmittedBeforeOnItsQueue) {
  Execute({Bytes(0, 16)});
  Execute({Bytes(16, 16)}, kQueue + 1);
  pending_.Signal(kQueue, kFence, 3);
  Execute({Bytes(32, 16)});
  EXPECT_THAT(DoneBy(kFence, 2), IsEmpty());
  EXPECT_THAT(DoneBy(kFence, 3), ElementsAre(0));
  EXPECT_EQ(pending_.size(), 2u);
  pending_.Signal(kQueue, kFence, 4);
  EXPECT_THAT(DoneBy(kFence, 9), ElementsAre(32));
}

TEST_F(PendingCopiesTest, TheFirstSignalIsTheOneThatCounts) {
  Execute({Bytes(0, 16)});
  pending_.Signal(kQueue, kFence, 3);
  pending_.Signal(kQueue, kFence, 4);
  EXPECT_THAT(DoneBy(kFence, 3), ElementsAre(0));
}

TEST_F(PendingCopiesTest, ALaterCopyToTheSamePlaceReplacesIt) {
  Execute({Bytes(0, 16), Bytes(16, 16)});
  pending_.Signal(kQueue, kFence, 1);
  Execute({Bytes(8, 8)});
  EXPECT_THAT(DoneBy(kFence, 1), ElementsAre(16));
  pending_.Signal(kQueue, kFence, 2);
  EXPECT_THAT(DoneBy(kFence, 2), ElementsAre(8));
}

TEST_F(PendingCopiesTest, WhatCannotBeComparedReplacesToo) {
  Execute({Bytes(0, 16)});
  CopiedRows times = Bytes(0, 8);
  times.comparable = false;
  Execute({times});
  EXPECT_EQ(pending_.size(), 0u);
}

// The state at submission counts, not that at recording.
TEST_F(PendingCopiesTest, WhatComesFromThereCannotBeComparedEither) {
  CopiedRows rows = Bytes(0, 16);
  rows.source = unpredictable_;
  Execute({rows, Bytes(16, 16)});
  pending_.Signal(kQueue, kFence, 1);
  EXPECT_THAT(DoneBy(kFence, 1), ElementsAre(16));
}

TEST_F(PendingCopiesTest, LongAndShortCopiesMeet) {
  Execute({Bytes(0, 1000), Bytes(2000, 16), Bytes(3000, 16)});
  Execute({Bytes(900, 1101)});
  pending_.Signal(kQueue, kFence, 1);
  EXPECT_THAT(DoneBy(kFence, 1), ElementsAre(900, 3000));
}

TEST_F(PendingCopiesTest, WhatWasReachedOutlivesItsFence) {
  Execute({Bytes(0, 16)});
  pending_.Signal(kQueue, kFence, 1);
  pending_.TakeFromAll([](PendingCopies::Copy& copy) {
    copy.reached = true;
    return false;
  });
  pending_.ForgetFence(kFence);
  EXPECT_THAT(DoneBy(kFence, 1), ElementsAre(0));
}

TEST_F(PendingCopiesTest, WhatASubmissionWritesOverIsAskedForBefore) {
  Execute({Bytes(0, 16), Bytes(64, 16)});
  ListCopies list;
  list.Add(Bytes(70, 1));
  list.Add({.buffer = kBuffer + 1, .offset_bytes = 0, .row_bytes = 16});
  const ListCopies* const lists[] = {&list};
  std::vector<uint64_t> asked;
  pending_.TakeOverwritten(lists, [&](const PendingCopies::Copy& copy) {
    asked.push_back(copy.rows.offset_bytes);
    return false;
  });
  EXPECT_THAT(asked, ElementsAre(64));
  EXPECT_EQ(pending_.size(), 2u);
}

TEST_F(PendingCopiesTest, AFenceThatEndedSaysNothing) {
  Execute({Bytes(0, 16)});
  pending_.Signal(kQueue, kFence, 1);
  pending_.ForgetFence(kFence);
  EXPECT_THAT(DoneBy(kFence, 1), IsEmpty());
  pending_.Signal(kQueue, kFence + 1, 1);
  EXPECT_THAT(DoneBy(kFence + 1, 1), ElementsAre(0));
}

TEST_F(PendingCopiesTest, ABufferEndsWithItsCopies) {
  Execute({Bytes(0, 16), {.buffer = kBuffer + 1, .offset_bytes = 4, .row_bytes = 16}});
  pending_.ForgetBuffer(kBuffer);
  pending_.Signal(kQueue, kFence, 1);
  EXPECT_THAT(DoneBy(kFence, 1), ElementsAre(4));
}

TEST_F(PendingCopiesTest, HoldsNoMoreThanItSays) {
  std::vector<CopiedRows> rows;
  for (size_t i = 0; i < PendingCopies::kMostCopies; ++i) rows.push_back(Bytes(i * 16, 16));
  Execute(rows);
  EXPECT_EQ(pending_.size(), PendingCopies::kMostCopies);
  Execute({Bytes(rows.size() * 16, 16)});
  EXPECT_EQ(pending_.size(), PendingCopies::kMostCopies);
  pending_.Clear();
  EXPECT_EQ(pending_.size(), 0u);
}

// ---- Rows ----------------------------------------------------------------------------------------

TEST(CopiedRowsTest, BytesOverlapOrNot) {
  EXPECT_TRUE(Overlap(Bytes(0, 16), Bytes(15, 1)));
  EXPECT_FALSE(Overlap(Bytes(0, 16), Bytes(16, 1)));
  CopiedRows elsewhere = Bytes(0, 16);
  elsewhere.buffer = kBuffer + 1;
  EXPECT_FALSE(Overlap(Bytes(0, 16), elsewhere));
}

TEST(CopiedRowsTest, HalvesOfATextureLieSideBySide) {
  CopiedRows left = Bytes(1024, 128);
  left.row_pitch_bytes = 256;
  left.row_count = 4;
  CopiedRows right = left;
  right.offset_bytes += 128;
  EXPECT_EQ(left.end_bytes(), 1024u + 3 * 256 + 128);
  EXPECT_FALSE(Overlap(left, right));
  EXPECT_FALSE(Overlap(right, left));
  right.row_bytes = 129;  // into the next row
  EXPECT_TRUE(Overlap(left, right));
  EXPECT_TRUE(Overlap(right, left));
  right.row_bytes = 128;
  right.offset_bytes -= 1;
  EXPECT_TRUE(Overlap(left, right));
  // Bytes in between are taken to be in both.
  EXPECT_TRUE(Overlap(left, Bytes(1024 + 128, 8)));
}

constexpr CopiedRows kTo = {.buffer = kBuffer};
constexpr PlacedTexture kPlaced = {
    .offset_bytes = 512, .row_pitch_bytes = 256, .block_bytes = 4, .rows_per_slice = 8};

TEST(ListCopiesTest, ABoxIsRows) {
  ListCopies list;
  list.AddBox(kTo, kPlaced, {.x = 2, .y = 1, .width = 16, .height = 3});
  EXPECT_THAT(list.rows(), ElementsAre(CopiedRows{.buffer = kBuffer,
                                                  .offset_bytes = 512 + 256 + 8,
                                                  .row_bytes = 64,
                                                  .row_pitch_bytes = 256,
                                                  .row_count = 3}));
}

TEST(ListCopiesTest, WholeSlicesAreOne) {
  ListCopies list;
  list.AddBox(kTo, kPlaced, {.z = 1, .width = 64, .height = 8, .depth = 2});
  ASSERT_EQ(list.rows().size(), 1u);
  EXPECT_EQ(list.rows()[0].offset_bytes, 512u + 8 * 256);
  EXPECT_EQ(list.rows()[0].row_count, 16u);
}

TEST(ListCopiesTest, PartsOfSlicesAreOneEach) {
  ListCopies list;
  list.AddBox(kTo, kPlaced, {.width = 64, .height = 1, .depth = 2});
  ASSERT_EQ(list.rows().size(), 2u);
  EXPECT_EQ(list.rows()[1].offset_bytes, 512u + 8 * 256);
  EXPECT_EQ(list.rows()[1].row_count, 1u);
}

TEST(ListCopiesTest, MoreThanItHoldsIsSaid) {
  ListCopies list;
  for (size_t i = 0; i < ListCopies::kMostRows; ++i) list.Add(Bytes(i, 1));
  EXPECT_FALSE(list.lost());
  list.Add(Bytes(0, 1));
  EXPECT_TRUE(list.lost());
  EXPECT_EQ(list.rows().size(), ListCopies::kMostRows);
  list.Reset();
  EXPECT_FALSE(list.lost());
}

TEST(ListCopiesTest, WhatLiesInNoBufferIsPassedOver) {
  constexpr uint64_t kHuge = ~uint64_t{0};
  ListCopies list;
  list.Add(Bytes(kHuge, 16));
  list.Add(Bytes(0, 0));
  list.Add(Bytes(0, kHuge));
  list.Add({.buffer = kBuffer, .row_bytes = 16, .row_pitch_bytes = 8, .row_count = 2});
  list.Add({.buffer = kBuffer, .row_bytes = 16, .row_pitch_bytes = kHuge, .row_count = 2});
  list.AddBox(kTo, kPlaced, {.x = kHuge, .width = 1, .height = 1});
  list.AddBox(kTo, kPlaced, {.width = 1, .height = 1, .depth = kHuge});
  list.AddBox(kTo, kPlaced, {.width = 0, .height = 1});
  PlacedTexture far = kPlaced;
  far.row_pitch_bytes = kHuge;
  list.AddBox(kTo, far, {.width = 1, .height = 2});
  EXPECT_THAT(list.rows(), IsEmpty());
}

}  // namespace
}  // namespace cairn
