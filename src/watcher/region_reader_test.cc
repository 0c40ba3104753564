// SPDX-License-Identifier: Apache-2.0
#include "watcher/region_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "watcher/testing/test_region.h"

namespace cairn {
namespace {

using Found = RegionReader::Found;
using testing::ElementsAre;

std::string Text(const Record& record) {
  return std::string(reinterpret_cast<const char*>(record.body.data()), record.body.size());
}

class RegionReaderTest : public testing::Test {
 protected:
  RegionReader Open() { return std::move(RegionReader::Open(region_.Watched())).value(); }

  // All that can be taken now: "NUMBER:TEXT".
  std::vector<std::string> TakeAll(RegionReader& reader) {
    std::vector<std::string> taken;
    Record record;
    while (reader.Take(&record) == Found::kRecord) {
      taken.push_back(std::to_string(record.number) + ":" + Text(record));
    }
    return taken;
  }

  TestRegion region_;
};

TEST_F(RegionReaderTest, RingsBecomeOneOrder) {
  region_.Write(3, RecordKind::kNote, 0, TestBytes("a"));
  region_.Write(0, RecordKind::kNote, 0, TestBytes("b"));
  region_.Write(3, RecordKind::kNote, 0, TestBytes("c"));
  region_.Write(127, RecordKind::kNote, 0, TestBytes("d"));
  RegionReader reader = Open();
  EXPECT_THAT(TakeAll(reader), ElementsAre("1:a", "2:b", "3:c", "4:d"));
  Record record;
  EXPECT_EQ(reader.Take(&record), Found::kNothing);
  EXPECT_THAT(reader.Losses(), testing::IsEmpty());
}

// Pads, and numbers that were used: a program may write them for as long as it is read.
TEST_F(RegionReaderTest, WhatIsNoRecordIsLookedAtInSteps) {
  region_.Write(0, RecordKind::kNote, 0, TestBytes("a"));
  RecordHeader pad{};
  for (int i = 0; i < 100; ++i) region_.Write(0, pad, {});
  RecordHeader old{};
  old.kind = RecordKind::kNote;
  old.number = 1;
  for (int i = 0; i < 100; ++i) region_.Write(0, old, {});
  region_.Write(0, RecordKind::kNote, 0, TestBytes("b"));
  RegionReader reader = Open();
  Record record;
  reader.AllowSteps(50);
  ASSERT_EQ(reader.Take(&record), Found::kRecord);
  int pauses = 0;
  Found found = reader.Take(&record);
  for (; found == Found::kPaused; found = reader.Take(&record)) {
    ++pauses;
    reader.AllowSteps(50);
  }
  EXPECT_EQ(found, Found::kRecord);
  EXPECT_EQ(Text(record), "b");
  EXPECT_GE(pauses, 3);
  EXPECT_LE(pauses, 5);
}

TEST_F(RegionReaderTest, AProgramThatGaveUpIsALoss) {
  RegionReader reader = Open();
  region_.header().gave_up = 1;
  reader.NoteCut();
  EXPECT_THAT(reader.Losses(),
              ElementsAre(testing::HasSubstr("went on without being captured"),
                          testing::HasSubstr("no time for all records that the program left")));
}

TEST_F(RegionReaderTest, TheFieldsOfARecord) {
  RecordHeader header{};
  header.kind = RecordKind::kCall;
  header.method = 77;
  header.thread = 5;
  header.object = 0x1234'5678'9ABC;
  header.number = region_.TakeNumber();
  header.flags = kRecordRestores;  // which a program cannot say
  region_.Write(0, header, TestBytes("arguments"));
  RegionReader reader = Open();
  Record record;
  ASSERT_EQ(reader.Take(&record), Found::kRecord);
  EXPECT_EQ(record.kind, RecordKind::kCall);
  EXPECT_EQ(record.method, 77);
  EXPECT_EQ(record.thread, 5u);
  EXPECT_EQ(record.object, 0x1234'5678'9ABCu);
  EXPECT_EQ(record.flags, 0);
  EXPECT_EQ(Text(record), "arguments");
}

TEST_F(RegionReaderTest, ANumberThatIsTakenHoldsBackWhatComesBehindIt) {
  RecordHeader late{};
  late.kind = RecordKind::kNote;
  late.number = region_.TakeNumber();
  region_.Write(1, RecordKind::kNote, 0, TestBytes("second"));
  RegionReader reader = Open();
  Record record;
  EXPECT_EQ(reader.Take(&record), Found::kHeldBack);
  region_.Write(0, late, TestBytes("first"));
  EXPECT_THAT(TakeAll(reader), ElementsAre("1:first", "2:second"));
}

TEST_F(RegionReaderTest, GapsAreLeftByTheDead) {
  RecordHeader late{};
  late.kind = RecordKind::kNote;
  late.number = region_.TakeNumber();
  region_.TakeNumber();
  region_.Write(1, RecordKind::kNote, 0, TestBytes("third"));
  region_.TakeNumber();
  RegionReader reader = Open();
  EXPECT_TRUE(reader.PassOverGap());
  EXPECT_THAT(TakeAll(reader), ElementsAre("3:third"));
  EXPECT_FALSE(reader.PassOverGap());
  EXPECT_EQ(reader.passed_over(), 2u);
  // One that comes all the same is not written behind its place.
  region_.Write(0, late, TestBytes("first"));
  EXPECT_THAT(TakeAll(reader), ElementsAre());
  EXPECT_THAT(reader.Losses(), ElementsAre("1 records came too late and are skipped"));
}

TEST_F(RegionReaderTest, PadsWithNumbersAndWithout) {
  RecordHeader pad{};
  pad.number = region_.TakeNumber();
  region_.Write(0, pad, {});
  region_.Write(0, RecordKind::kNote, 0, TestBytes("x"));
  RegionReader reader = Open();
  EXPECT_THAT(TakeAll(reader), ElementsAre("2:x"));
}

TEST_F(RegionReaderTest, TheRestOfALeaseThatIsGivenBackIsSkipped) {
  region_.Write(0, RecordKind::kNote, 0, TestBytes("a"));
  region_.header().next_number = 8;
  RecordHeader unused{};
  unused.number = 2;
  unused.object = 8;
  region_.Write(0, unused, {});
  region_.Write(1, RecordKind::kNote, 0, TestBytes("b"));
  RegionReader reader = Open();
  EXPECT_THAT(TakeAll(reader), ElementsAre("1:a", "9:b"));
  EXPECT_EQ(reader.passed_over(), 0u);
  EXPECT_THAT(reader.Losses(), testing::IsEmpty());
}

TEST_F(RegionReaderTest, ALieAboutUnusedNumbersSkipsNoneOfOthers) {
  region_.header().next_number = 1;
  RecordHeader unused{};
  unused.number = 1;
  for (const uint64_t last : {uint64_t{3}, uint64_t{1} + kMostLeased, ~uint64_t{0}}) {
    unused.object = last;
    region_.Write(0, unused, {});
  }
  region_.Write(1, RecordKind::kNote, 0, TestBytes("b"));
  RegionReader reader = Open();
  EXPECT_THAT(TakeAll(reader), ElementsAre("2:b"));
}

TEST_F(RegionReaderTest, ALeaseThatOthersWaitForIsTakenBack) {
  region_.Write(0, RecordKind::kNote, 0, TestBytes("a"));
  region_.ring(0).lease = Lease{1, 8, 1}.Word();
  region_.header().next_number = 8;
  region_.Write(1, RecordKind::kNote, 0, TestBytes("b"));
  RegionReader reader = Open();
  EXPECT_EQ(reader.HoldingLease(), 0u);  // it is not in the way yet
  EXPECT_THAT(TakeAll(reader), ElementsAre("1:a"));
  Record record;
  EXPECT_EQ(reader.Take(&record), Found::kHeldBack);
  EXPECT_EQ(reader.HoldingLease(), 1u);
  EXPECT_TRUE(reader.TakeBackLeases());
  EXPECT_TRUE(Lease::Of(region_.ring(0).lease).revoked);
  EXPECT_THAT(TakeAll(reader), ElementsAre("9:b"));
  EXPECT_FALSE(reader.TakeBackLeases());
  EXPECT_EQ(reader.passed_over(), 0u);
}

TEST_F(RegionReaderTest, ANumberOfALeaseWhoseRecordIsAboutToComeIsWaitedFor) {
  region_.header().next_number = 8;
  region_.ring(0).lease = Lease{1, 8, 2}.Word();
  RecordHeader header{};
  header.kind = RecordKind::kNote;
  header.number = 1;
  region_.Write(0, header, TestBytes("a"));
  region_.Write(1, RecordKind::kNote, 0, TestBytes("c"));
  RegionReader reader = Open();
  EXPECT_THAT(TakeAll(reader), ElementsAre("1:a"));
  EXPECT_FALSE(reader.TakeBackLeases());
  header.number = 2;
  region_.Write(0, header, TestBytes("b"));
  EXPECT_THAT(TakeAll(reader), ElementsAre("2:b", "9:c"));
}

TEST_F(RegionReaderTest, TheLeaseOfAnEndedThreadIsTakenBackWithItsRing) {
  region_.UseRing(0, 0, "ended");
  region_.Write(0, RecordKind::kNote, 0, TestBytes("a"));
  region_.ring(0).lease = Lease{1, 64, 1}.Word();
  region_.header().next_number = 64;
  region_.ring(0).state = kEntryRetired;
  region_.Write(1, RecordKind::kNote, 0, TestBytes("b"));
  RegionReader reader = Open();
  EXPECT_THAT(TakeAll(reader), ElementsAre("1:a"));
  reader.GiveBack();
  reader.GiveBack();
  EXPECT_EQ(region_.ring(0).state.load(), kEntryFree);
  EXPECT_THAT(TakeAll(reader), ElementsAre("65:b"));
}

TEST_F(RegionReaderTest, NoWordOfALeaseSkipsWhatIsThere) {
  constexpr uint64_t kWords[] = {~uint64_t{0},
                                 0xFF00,
                                 uint64_t{1} << 16 | 0xFF00,
                                 Lease{0, kMostLeased, 0}.Word(),
                                 Lease{1, kMostLeased, kMostLeased}.Word(),
                                 Lease{2, kMostLeased, 0}.Word()};
  RegionReader reader = Open();
  uint64_t number = 0;
  for (const uint64_t word : kWords) {
    region_.ring(5).lease = word;
    number = region_.TakeNumber();
    reader.TakeBackLeases();
    RecordHeader header{};
    header.kind = RecordKind::kNote;
    header.number = number;
    region_.Write(1, header, TestBytes("a"));
    reader.TakeBackLeases();
    // A number that was said to be free, and is not, is late; the reader goes on behind it.
    TakeAll(reader);
    EXPECT_LE(reader.next_number(), number + 1) << std::hex << word;
  }
  region_.ring(5).lease = 0;
  number = region_.Write(1, RecordKind::kNote, 0, TestBytes("last"));
  EXPECT_THAT(TakeAll(reader), ElementsAre(std::to_string(number) + ":last"));
}

TEST_F(RegionReaderTest, RingsGoRoundAndRoomIsGivenBack) {
  RegionReader reader = Open();
  const std::vector<std::byte> body(300'000, std::byte{7});
  const uint32_t drained_before = region_.header().drained;  // a reader that comes counts as well
  for (int i = 0; i < 20; ++i) {
    region_.Write(0, RecordKind::kNote, 0, body);
    Record record;
    ASSERT_EQ(reader.Take(&record), Found::kRecord) << i;
    EXPECT_EQ(record.body.size(), body.size());
    reader.GiveBack();
    EXPECT_EQ(region_.ring(0).tail, region_.ring(0).head);
  }
  EXPECT_EQ(region_.header().drained - drained_before, 20u);
}

TEST_F(RegionReaderTest, BlobsComeOutOfTheSpillAndTheirBlocksAreFree) {
  std::vector<std::byte> bytes(150'000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
  region_.WriteSpilled(0, bytes, 62);
  EXPECT_NE(region_.header().spill_used[0], 0u);
  RegionReader reader = Open();
  Record record;
  ASSERT_EQ(reader.Take(&record), Found::kRecord);
  EXPECT_EQ(record.flags, 0);
  BlobBody blob;
  ASSERT_EQ(record.body.size(), sizeof(blob) + bytes.size());
  std::memcpy(&blob, record.body.data(), sizeof(blob));
  EXPECT_EQ(blob.size_bytes, bytes.size());
  EXPECT_EQ(blob.block_count, 0u);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), record.body.begin() + sizeof(blob)));
  EXPECT_EQ(region_.header().spill_used[0], 0u);
  EXPECT_EQ(region_.header().spill_used[1], 0u);
}

TEST_F(RegionReaderTest, ABlobThatLiesAboutItsBlocksIsLeftOut) {
  const uint32_t bad[] = {10, 1, kSpillBlocks};  // size, count, a block that is none
  region_.Write(0, RecordKind::kBlob, 0, std::as_bytes(std::span(bad)), kRecordSpilled);
  const uint32_t many[] = {kMaxBlobBytes + 1, 17, 0};
  region_.Write(0, RecordKind::kBlob, 0, std::as_bytes(std::span(many)), kRecordSpilled);
  const uint32_t few[] = {2 * kSpillBlockBytes, 2, 0};
  region_.Write(0, RecordKind::kBlob, 0, std::as_bytes(std::span(few)), kRecordSpilled);
  region_.Write(0, RecordKind::kNote, 0, TestBytes("good"));
  RegionReader reader = Open();
  EXPECT_THAT(TakeAll(reader), ElementsAre("4:good"));
  EXPECT_THAT(reader.Losses(), ElementsAre("3 records were damaged and are skipped"));
}

TEST_F(RegionReaderTest, AfterTheEndOnlyWhatWasThereIsTaken) {
  region_.Write(0, RecordKind::kNote, 0, TestBytes("before"));
  region_.WriteSpilled(1, TestBytes("a blob"), 5);
  RegionReader reader = Open();
  reader.TakeWhatIsThere();
  EXPECT_EQ(reader.end_number(), 2u);
  // A child that has the region as well goes on.
  region_.Write(0, RecordKind::kNote, 0, TestBytes("after"));
  region_.Write(2, RecordKind::kNote, 0, TestBytes("after"));
  Record record;
  ASSERT_EQ(reader.Take(&record), Found::kRecord);
  EXPECT_EQ(Text(record), "before");
  ASSERT_EQ(reader.Take(&record), Found::kRecord);
  EXPECT_EQ(record.body.size(), sizeof(BlobBody) + 6);
  EXPECT_NE(reader.Take(&record), Found::kRecord);
  EXPECT_FALSE(reader.PassOverGap());
  // The program gets no room to go on in.
  reader.GiveBack();
  EXPECT_EQ(region_.ring(0).tail, 0u);
}

// A record of some bytes may name a megabyte of blocks; that each serves only once bounds what comes out.
TEST_F(RegionReaderTest, AfterTheEndABlockServesOneBlob) {
  const std::vector<std::byte> bytes(kSpillBlockBytes, std::byte{7});
  for (int i = 0; i < 100; ++i) region_.WriteSpilled(0, bytes, 5);
  region_.Write(0, RecordKind::kNote, 0, TestBytes("last"));
  RegionReader reader = Open();
  reader.TakeWhatIsThere();
  Record record;
  size_t taken_bytes = 0;
  while (reader.Take(&record) == Found::kRecord) taken_bytes += record.body.size();
  EXPECT_EQ(Text(record), "last");
  EXPECT_EQ(taken_bytes, sizeof(BlobBody) + kSpillBlockBytes + 4);
  EXPECT_THAT(reader.Losses(), ElementsAre("99 records were damaged and are skipped"));
}

TEST_F(RegionReaderTest, RecordsThatLieAboutTheirSizeEndTheirRing) {
  for (const uint32_t size : {0u, 8u, 33u, 64u, 0xFFFFFFE0u}) {
    TestRegion region;
    RecordHeader header{};
    header.kind = RecordKind::kNote;
    header.size_bytes = size;
    header.number = region.TakeNumber();
    std::memcpy(region.ring_bytes(0), &header, sizeof(header));
    region.ring(0).head = 32;
    region.Write(1, RecordKind::kNote, 0, TestBytes("of another"));
    RegionReader reader = std::move(RegionReader::Open(region.Watched())).value();
    Record record;
    EXPECT_EQ(reader.Take(&record), Found::kHeldBack) << size;
    EXPECT_TRUE(reader.PassOverGap());
    EXPECT_THAT(TakeAll(reader), ElementsAre("2:of another")) << size;
    EXPECT_EQ(reader.Losses().size(), 1u);
  }
}

TEST_F(RegionReaderTest, ANumberThatNobodyTookIsDamageAndCostsOneRecord) {
  RecordHeader future{};
  future.kind = RecordKind::kBlob;
  future.flags = kRecordSpilled;
  future.number = 1'000'000;
  const uint32_t blob[] = {10, 1, 5};  // size, count, a block
  region_.header().spill_used[0] = uint64_t{1} << 5;
  region_.Write(0, RecordKind::kNote, 0, TestBytes("a"));
  region_.TakeNumber();
  region_.Write(0, future, std::as_bytes(std::span(blob)));
  region_.Write(0, RecordKind::kNote, 0, TestBytes("c"));
  RegionReader reader = Open();
  EXPECT_THAT(TakeAll(reader), ElementsAre("1:a"));
  EXPECT_EQ(reader.next_number(), 2u);
  EXPECT_EQ(reader.gap_free_until(), 3u);
  EXPECT_EQ(region_.header().spill_used[0], 0u);
  EXPECT_TRUE(reader.PassOverGap());
  EXPECT_THAT(TakeAll(reader), ElementsAre("3:c"));
  EXPECT_THAT(reader.Losses(), ElementsAre("1 records were damaged and are skipped"));
}

TEST_F(RegionReaderTest, OfMoreThreadsThanAreKeptTheLivingStay) {
  RegionReader reader = Open();
  region_.UseRing(1, 0, "main");
  region_.Write(1, RecordKind::kNote);
  TakeAll(reader);
  constexpr uint32_t kThreads = 65536 + 10;
  for (uint32_t thread = 1; thread < kThreads; ++thread) {
    region_.UseRing(0, thread, "short");
    region_.Write(0, RecordKind::kNote);
    TakeAll(reader);
  }
  region_.ring(1).in_call = 77;
  region_.ring(0).in_call = 78;
  const std::vector<RegionReader::Thread> threads = reader.Threads();
  ASSERT_EQ(threads.size(), 65536u);
  EXPECT_EQ(threads.front().name, "main");
  EXPECT_EQ(threads.front().in_call, 77u);
  EXPECT_EQ(threads.back().index, kThreads - 1);
  EXPECT_EQ(threads.back().in_call, 78u);
}

TEST_F(RegionReaderTest, BodiesAreWithinTheirRecords) {
  RecordHeader header{};
  header.kind = RecordKind::kNote;
  header.size_bytes = 32;
  header.body_bytes = 64;
  header.number = region_.TakeNumber();
  std::memcpy(region_.ring_bytes(0), &header, sizeof(header));
  region_.ring(0).head = 32;
  RecordHeader strange{};
  strange.kind = static_cast<RecordKind>(99);
  strange.number = region_.TakeNumber();
  region_.Write(1, strange, {});
  RegionReader reader = Open();
  EXPECT_THAT(TakeAll(reader), ElementsAre());
  EXPECT_THAT(reader.Losses(), ElementsAre("2 records were damaged and are skipped"));
}

TEST_F(RegionReaderTest, AHeadThatJumpsIsNotFollowed) {
  region_.ring(0).head = uint64_t{kCaptureRingBytes} * 3;
  RegionReader reader = Open();
  Record record;
  EXPECT_EQ(reader.Take(&record), Found::kNothing);
  EXPECT_EQ(reader.Losses().size(), 1u);
  region_.ring(0).head = 32;
  EXPECT_EQ(reader.Take(&record), Found::kNothing);
}

TEST_F(RegionReaderTest, RingsOfEndedThreadsAreFreeWhenTheyAreRead) {
  region_.UseRing(0, 0, "loader");
  region_.Write(0, RecordKind::kNote, 0, TestBytes("x"));
  region_.ring(0).state = 2;
  RegionReader reader = Open();
  reader.GiveBack();
  EXPECT_EQ(region_.ring(0).state, 2u) << "not read yet";
  EXPECT_THAT(TakeAll(reader), ElementsAre("1:x"));
  reader.GiveBack();
  reader.GiveBack();
  EXPECT_EQ(region_.ring(0).state, 0u);
  region_.UseRing(0, 1, "worker");
  region_.ring(0).in_call = 55;
  region_.Write(0, RecordKind::kNote, 0, TestBytes("y"));
  EXPECT_THAT(TakeAll(reader), ElementsAre("2:y"));
  const std::vector<RegionReader::Thread> threads = reader.Threads();
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].name, "loader");
  EXPECT_EQ(threads[0].thread_id, 1000u);
  EXPECT_EQ(threads[0].in_call, 0u);
  EXPECT_EQ(threads[1].name, "worker");
  EXPECT_EQ(threads[1].in_call, 55u);
}

TEST_F(RegionReaderTest, OtherMemoryIsRefused) {
  Result<SharedMemory> small = SharedMemory::Create("small", 8192);
  EXPECT_EQ(RegionReader::Open(std::move(*small)).status().code(), StatusCode::kUnsupported);
  region_.header().version = kCaptureVersion + 1;
  EXPECT_EQ(RegionReader::Open(region_.Watched()).status().code(), StatusCode::kUnsupported);
  region_.header().magic = 1;
  EXPECT_EQ(RegionReader::Open(region_.Watched()).status().code(), StatusCode::kCorrupt);
}

TEST_F(RegionReaderTest, ThreadsWriteWhileItIsRead) {
  constexpr uint32_t kThreads = 4;
  constexpr uint64_t kEach = 5000;
  RegionReader reader = Open();
  std::vector<std::thread> writers;
  for (uint32_t i = 0; i < kThreads; ++i) {
    writers.emplace_back([this, i] {
      for (uint64_t n = 0; n < kEach; ++n) {
        while (region_.ring(i).head - region_.ring(i).tail > kCaptureRingBytes / 2) {
          std::this_thread::yield();
        }
        region_.Write(i, RecordKind::kNote, i, TestBytes(std::to_string(n)));
      }
    });
  }
  uint64_t expected = 1;
  std::vector<uint64_t> of_thread(kThreads);
  Record record;
  while (expected <= kThreads * kEach) {
    if (reader.Take(&record) != Found::kRecord) {
      reader.GiveBack();
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(record.number, expected++);
    ASSERT_LT(record.object, kThreads);
    ASSERT_EQ(Text(record), std::to_string(of_thread[record.object]++));
  }
  for (std::thread& writer : writers) writer.join();
}

}  // namespace
}  // namespace cairn
