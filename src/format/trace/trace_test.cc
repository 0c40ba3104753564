// SPDX-License-Identifier: Apache-2.0
// Checks that written records are read back, from whole files, cut ones and damaged ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "format/trace/record_chunk.h"
#include "format/trace/testing/sparse_trace.h"
#include "format/trace/testing/test_trace.h"
#include "format/trace/trace_tables.h"

namespace cairn {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<uint64_t> Numbers(const std::vector<KeptRecord>& records) {
  std::vector<uint64_t> numbers;
  for (const KeptRecord& kept : records) numbers.push_back(kept.record.number);
  return numbers;
}

std::vector<std::byte> Pattern(size_t size, int seed) {
  std::vector<std::byte> bytes(size);
  uint32_t state = static_cast<uint32_t>(seed) * 2654435761u + 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

// `frames` frames of a call with its result, a blob each second frame, and the end of the frame. Small
// chunks: several frames a chunk, several chunks a trace.
void AddFrames(TestTrace* test, int frames, bool flush_each = false) {
  for (int i = 0; i < frames; ++i) {
    test->thread = static_cast<uint32_t>(i % 3);
    const uint64_t call =
        test->Call(Method::ID3D12GraphicsCommandList_DrawInstanced, 7, Pattern(16, i));
    if (i % 2 == 0) test->Blob(Pattern(5000, i % 8));
    test->Return(call, Pattern(4, i));
    test->Frame();
    if (flush_each) test->Flush();
  }
}

TEST(TraceTest, EveryFieldComesBack) {
  TestTrace test;
  test.thread = 3;
  const auto arguments = Pattern(21, 1);
  const uint64_t call = test.Call(Method::ID3D12Device_CreateFence, 12, arguments);
  test.thread = 5;
  test.number = 100;  // numbers that were taken and never written
  test.Object(13, Chain::kID3D12Fence, 12, call);
  test.thread = 3;
  test.Return(call, Pattern(4, 2));
  test.Add(RecordKind::kMemory, 14, BodyBytes(MemoryBody{1, 0, 4096}, Pattern(30, 3)), 0,
           kRecordRestores);
  test.ObjectEnd(13);
  ASSERT_TRUE(test.status().ok()) << test.status().message();
  TraceReader trace = test.Open();
  EXPECT_TRUE(trace.losses().empty());
  EXPECT_TRUE(trace.finished());
  EXPECT_EQ(trace.facts().program, "/games/game");
  EXPECT_EQ(trace.facts().process_id, 4711u);
  EXPECT_EQ(trace.record_count(), 5u);
  const auto records = ReadAll(trace);
  ASSERT_THAT(Numbers(records), ElementsAre(1, 101, 102, 103, 104));
  EXPECT_EQ(records[0].record.kind, RecordKind::kCall);
  EXPECT_EQ(records[0].record.thread, 3u);
  EXPECT_EQ(records[0].record.object, 12u);
  EXPECT_EQ(records[0].body, arguments);
  EXPECT_EQ(trace.MethodOf(records[0].record), Method::ID3D12Device_CreateFence);
  EXPECT_EQ(trace.MethodName(records[0].record), "ID3D12Device::CreateFence");
  EXPECT_EQ(records[1].record.thread, 5u);
  ObjectBody object;
  std::memcpy(&object, records[1].body.data(), sizeof(object));
  EXPECT_EQ(object.creator, call);
  EXPECT_EQ(trace.ChainOf(object.chain), Chain::kID3D12Fence);
  EXPECT_EQ(records[2].body, BodyBytes(ResultBody{call}, Pattern(4, 2)));
  EXPECT_EQ(trace.MethodOf(records[2].record), Method::ID3D12Device_CreateFence);
  EXPECT_EQ(records[3].record.flags, kRecordRestores);
  EXPECT_EQ(records[3].body, BodyBytes(MemoryBody{1, 0, 4096}, Pattern(30, 3)));
  EXPECT_EQ(records[4].record.object, 13u);
  EXPECT_TRUE(records[4].body.empty());
}

// Reading ahead gives equal records also with seeks, blobs and an early stop.
TEST(TraceTest, ReadingAheadGivesTheSameRecords) {
  TestTrace test(Compression::kZstd, /*chunk_bytes=*/20'000);
  AddFrames(&test, 60, /*flush_each=*/true);
  TraceReader trace = test.Open();
  const std::vector<KeptRecord> expected = ReadAll(trace);
  TraceReader again = test.Open();
  TraceCursor cursor(again);
  cursor.ReadAhead();
  const std::vector<KeptRecord> records = ReadRest(again, cursor);
  ASSERT_EQ(Numbers(records), Numbers(expected));
  for (size_t i = 0; i < records.size(); ++i) EXPECT_EQ(records[i].body, expected[i].body) << i;
  for (const uint64_t frame : {40, 3, 58}) {
    ASSERT_TRUE(cursor.SeekFrame(frame).ok());
    Record record;
    ASSERT_TRUE(cursor.Next(&record));
    EXPECT_EQ(cursor.frame(), frame);
  }
}

TEST(TraceTest, EqualBlobsAreStoredOnceAndEachIsFound) {
  TestTrace test(Compression::kNone, /*chunk_bytes=*/20'000);
  std::vector<uint64_t> blobs;
  for (int i = 0; i < 40; ++i) blobs.push_back(test.Blob(Pattern(6000, i % 7)));
  TraceReader trace = test.Open();
  ASSERT_TRUE(trace.totals().has_value());
  EXPECT_EQ(trace.totals()->blobs, 40u);
  EXPECT_EQ(trace.totals()->blob_bytes, 40u * 6000);
  EXPECT_EQ(trace.totals()->stored_blob_bytes, 7u * 6000);
  // Any order: each is found by its number alone.
  for (size_t i = blobs.size(); i-- > 0;) {
    const auto bytes = trace.Blob(blobs[i]);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    const auto expected = Pattern(6000, static_cast<int>(i % 7));
    EXPECT_TRUE(std::equal(bytes->begin(), bytes->end(), expected.begin(), expected.end()));
  }
  EXPECT_EQ(trace.Blob(41).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(trace.Blob(0).status().code(), StatusCode::kNotFound);
}

TEST(TraceTest, SeeksToFramesAndNumbers) {
  TestTrace test(Compression::kZstd, /*chunk_bytes=*/300);
  test.frame = 500;  // the program counts from another number
  AddFrames(&test, 100);
  test.Call(Method::ID3D12GraphicsCommandList_Close, 7);
  TraceReader trace = test.Open();
  ASSERT_GT(trace.spans().size(), 5u);
  EXPECT_EQ(trace.frame_count(), 100u);
  EXPECT_EQ(trace.first_frame(), 500u);
  const auto all = ReadAll(trace);
  EXPECT_EQ(all.back().frame, 100u);
  for (uint64_t frame = 0; frame <= 100; ++frame) {
    TraceCursor cursor(trace);
    ASSERT_TRUE(cursor.SeekFrame(frame).ok()) << frame;
    Record record;
    ASSERT_TRUE(cursor.Next(&record));
    EXPECT_EQ(cursor.frame(), frame);
    EXPECT_EQ(record.kind, RecordKind::kCall);
    const auto first = std::find_if(all.begin(), all.end(),
                                    [&](const KeptRecord& kept) { return kept.frame == frame; });
    EXPECT_EQ(record.number, first->record.number);
  }
  for (const KeptRecord& kept : all) {
    TraceCursor cursor(trace);
    ASSERT_TRUE(cursor.SeekNumber(kept.record.number).ok());
    Record record;
    ASSERT_TRUE(cursor.Next(&record));
    EXPECT_EQ(record.number, kept.record.number);
    EXPECT_EQ(cursor.frame(), kept.frame);
  }
  TraceCursor cursor(trace);
  EXPECT_EQ(cursor.SeekFrame(101).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(cursor.SeekNumber(1'000'000).ok());
  Record record;
  EXPECT_FALSE(cursor.Next(&record));
}

TEST(TraceTest, RecordsThatContradictThemselvesAreRefusedAndTheWriterGoesOn) {
  TestTrace test;
  test.Frame();
  Record late;
  late.kind = RecordKind::kObjectEnd;
  late.number = 1;
  EXPECT_EQ(test.writer().Add(late).code(), StatusCode::kInvalidArgument);
  late.number = 9;
  late.kind = static_cast<RecordKind>(99);
  EXPECT_THAT(test.writer().Add(late).message(), HasSubstr("record 9"));
  late.kind = RecordKind::kResult;
  EXPECT_FALSE(test.writer().Add(late).ok());
  const auto later_call = BodyBytes(ResultBody{9});
  late.body = later_call;
  EXPECT_FALSE(test.writer().Add(late).ok());
  late.kind = RecordKind::kBlob;
  const auto liar = BodyBytes(BlobBody{5, 0});
  late.body = liar;
  EXPECT_FALSE(test.writer().Add(late).ok());
  test.Frame();
  TraceReader trace = test.Open();
  EXPECT_THAT(Numbers(ReadAll(trace)), ElementsAre(1, 2));
}

// A recording that is cut after any chunk has all records of the chunks before it.
TEST(TraceTest, ACutFileHasAllThatWasFlushed) {
  TestTrace test;
  AddFrames(&test, 10, /*flush_each=*/true);
  const std::vector<std::byte> whole = test.BytesSoFar();
  // Without the table of methods there is no trace.
  const size_t table_end = TestTrace().BytesSoFar().size();
  size_t last_count = 0;
  for (size_t size = table_end; size <= whole.size(); size += 97) {
    const std::span<const std::byte> cut(whole.data(), size);
    Result<TraceReader> trace = TraceReader::FromBytes(cut);
    ASSERT_TRUE(trace.ok()) << size << ": " << trace.status().message();
    EXPECT_FALSE(trace->finished());
    const auto records = ReadAll(*trace);
    EXPECT_EQ(records.size(), trace->record_count());
    EXPECT_GE(records.size(), last_count);
    last_count = records.size();
    for (const KeptRecord& kept : records) {
      if (kept.record.kind == RecordKind::kBlob) {
        EXPECT_EQ(kept.body.size(), sizeof(BlobBody) + 5000);
      }
    }
  }
  EXPECT_GE(last_count, 32u);
}

// Each chunk of the file damaged in turn: what is in the others is read, and what is lost is named.
TEST(TraceTest, ADamagedChunkCostsThatChunk) {
  TestTrace test;
  AddFrames(&test, 4, /*flush_each=*/true);
  const std::vector<std::byte> whole = test.Bytes();
  const Result<FileReader> layout = FileReader::FromBytes(whole);
  for (size_t i = 0; i < layout->chunks().size(); ++i) {
    const ChunkInfo& chunk = layout->chunks()[i];
    std::vector<std::byte> damaged = whole;
    damaged[chunk.payload_offset() + chunk.stored_bytes / 2] ^= std::byte{0x10};
    for (const Check check : {Check::kStructure, Check::kPayloads}) {
      Result<FileReader> file = FileReader::FromBytes(damaged, check);
      ASSERT_TRUE(file.ok());
      Result<TraceReader> trace = TraceReader::FromFile(std::move(file).value());
      ASSERT_TRUE(trace.ok()) << i << ": " << trace.status().message();
      TraceCursor cursor(*trace);
      const auto records = ReadRest(*trace, cursor);
      EXPECT_TRUE(cursor.status().ok());
      // A frame is a chunk of four records, or three without a blob.
      if (chunk.type == kTraceRecordChunk) {
        EXPECT_THAT(records.size(), AnyOf(10u, 11u));
        EXPECT_FALSE(cursor.losses().empty() && trace->losses().empty());
      } else {
        EXPECT_EQ(records.size(), 14u) << i;
      }
    }
  }
}

TEST(TraceTest, WhatIsNoTraceIsSaid) {
  MemoryFile file;
  Result<FileWriter> writer = FileWriter::CreateOn(std::make_unique<MemorySink>(file));
  ASSERT_TRUE(writer->Append(MakeChunkType("xMSG"), ToBytes("hello")).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const Result<TraceReader> none = TraceReader::FromBytes(file.bytes);
  EXPECT_EQ(none.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(none.status().message(), HasSubstr("holds no trace"));

  TraceTable table = MakeTraceTable({});
  std::vector<std::byte> newer = EncodeTraceTable(table);
  newer[0] = std::byte{kTraceFormatVersion + 1};
  EXPECT_EQ(DecodeTraceTable(newer).status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(DecodeTraceTable(newer).status().message(), HasSubstr("version 2"));
}

// A trace of another build: its numbers mean what its own table says.
TEST(TraceTest, MethodsAreFoundByNameAndLayout) {
  TraceTable table = MakeTraceTable({});
  std::swap(table.methods[0], table.methods[1]);
  table.methods[2].layout ^= 1;
  table.methods.push_back({"ID3D12Device99::Frobnicate", 1});
  table.chains[1] = "ID3D12Frobnicator";
  const TraceMeaning meaning = MeaningOf(table);
  EXPECT_EQ(meaning.methods[0], static_cast<Method>(1));
  EXPECT_EQ(meaning.methods[1], static_cast<Method>(0));
  EXPECT_EQ(meaning.methods[2], std::nullopt);
  EXPECT_EQ(meaning.methods.back(), std::nullopt);
  EXPECT_EQ(meaning.chains[1], Chain::kNone);
  EXPECT_EQ(meaning.chains[2], static_cast<Chain>(2));
  const Result<TraceTable> again = DecodeTraceTable(EncodeTraceTable(table));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->methods.back().name, "ID3D12Device99::Frobnicate");
}

TEST(TraceTest, ThreadsAndUnreturnedCallsComeBack) {
  TestTrace test;
  const uint64_t call = test.Call(Method::ID3D12CommandQueue_ExecuteCommandLists, 2);
  const TraceThread threads[] = {{0, 1234, "main", call}, {1, 1235, "worker", 0}};
  test.Finish(threads);
  TraceReader trace = test.Open();
  ASSERT_EQ(trace.threads().size(), 2u);
  EXPECT_EQ(trace.threads()[0].unreturned_call, call);
  EXPECT_EQ(trace.threads()[0].name, "main");
  EXPECT_EQ(trace.threads()[1].thread_id, 1235u);
}

// Encoders do not check, so they make what no writer would.
TEST(TraceTest, BodiesBeyondTheLimitAndRecordsOfNoKindAreDamage) {
  const auto decoded = [](RecordKind kind, size_t body_bytes) {
    const std::vector<std::byte> body(body_bytes);
    Record record;
    record.kind = kind;
    record.number = 7;
    record.body = body;
    RecordChunkEncoder encoder;
    encoder.Add(record, nullptr);
    const Result<DecodedRecords> records = DecodeRecordChunk(encoder.Take(0));
    return records.ok() ? Status() : records.status();
  };
  EXPECT_TRUE(decoded(RecordKind::kMemory, kMaxBodyBytes).ok());
  const Status too_long = decoded(RecordKind::kMemory, kMaxBodyBytes + 1);
  EXPECT_EQ(too_long.code(), StatusCode::kCorrupt);
  EXPECT_EQ(too_long.message(), "record 7: its body is too long");
  EXPECT_EQ(decoded(RecordKind::kResult, kMaxBodyBytes + 1).code(), StatusCode::kCorrupt);
  EXPECT_TRUE(decoded(static_cast<RecordKind>(100), 3).ok());
  EXPECT_EQ(decoded(RecordKind{}, 3).code(), StatusCode::kCorrupt);
}

// Bytes that the file system does not keep, and none of which are read: all of them are damaged.
TEST(Trace, OpeningAndSeekingReadNoBlobsOfALargeFile) {
  constexpr uint64_t kFrames = 12;
  constexpr size_t kHoleBytes = 8 << 20;
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("cairn-sparse-" + std::to_string(std::random_device()())))
                               .string();
  ASSERT_TRUE(WriteSparseTrace(path, kFrames, kHoleBytes).ok());
  uint64_t holes = 0;
  {
    const Result<FileReader> file = FileReader::Open(path, Check::kStructure);
    ASSERT_TRUE(file.ok());
    EXPECT_GT(file->size_bytes(), kFrames * kHoleBytes);
    std::fstream bytes(path, std::ios::binary | std::ios::in | std::ios::out);
    for (const ChunkInfo& chunk : file->chunks()) {
      if (chunk.type != kTraceBlobChunk) continue;
      bytes.seekp(static_cast<std::streamoff>(chunk.offset + kHoleBytes / 2)).put('x');
      ++holes;
    }
    ASSERT_TRUE(bytes.flush().good());
  }
  EXPECT_EQ(holes, kFrames);
  {
    Result<TraceReader> trace = TraceReader::Open(path);
    ASSERT_TRUE(trace.ok());
    for (const uint64_t frame : {kFrames - 1, uint64_t{0}, kFrames / 2}) {
      TraceCursor cursor(*trace);
      Record record;
      ASSERT_TRUE(cursor.SeekFrame(frame).ok());
      ASSERT_TRUE(cursor.Next(&record));
      EXPECT_EQ(record.number, frame * (kSparseTraceCalls + 1) + 1);
      uint32_t instances = 0;
      ASSERT_EQ(record.body.size(), 16u);
      std::memcpy(&instances, record.body.data() + 4, sizeof(instances));
      EXPECT_EQ(instances, frame + 1);
    }
    EXPECT_TRUE(trace->losses().empty());
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace cairn
