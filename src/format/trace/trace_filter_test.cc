// SPDX-License-Identifier: Apache-2.0
#include "format/trace/trace_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unordered_set>

#include "format/trace/blob_references.h"
#include "format/trace/testing/test_trace.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;

std::vector<std::byte> InBlobs(std::vector<uint64_t> numbers, uint64_t size) {
  ByteWriter writer;
  writer.WriteU32(kBytesInBlobs);
  writer.WriteU64(size);
  writer.WriteU32(static_cast<uint32_t>(numbers.size()));
  for (const uint64_t number : numbers) writer.WriteU64(number);
  return writer.Take();
}

std::vector<std::byte> Bytes(size_t size, int value) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

class Without final : public RecordFilter {
 public:
  explicit Without(std::unordered_set<uint64_t> numbers) : numbers_(std::move(numbers)) {}
  void Start() override { ++rounds; }
  bool Keep(Record* record, uint64_t) override { return !numbers_.contains(record->number); }
  int rounds = 0;

 private:
  std::unordered_set<uint64_t> numbers_;
};

Result<CopiedTrace> CopyInto(TraceReader* trace, RecordFilter* filter, const CopyOptions& options,
                             MemoryFile* file) {
  Result<FileWriter> writer = FileWriter::CreateOn(std::make_unique<MemorySink>(*file));
  Result<CopiedTrace> copied = CopyTrace(trace, filter, options, &*writer);
  EXPECT_TRUE(writer->Finish().ok());
  return copied;
}

// A call with a blob, another with a blob of other bytes, and a frame.
void FillTwoCalls(TestTrace* test) {
  const uint64_t first = test->Blob(Bytes(6000, 1));
  test->Call(Method::ID3D12Device_CreateRootSignature, 1, InBlobs({first}, 6000));
  const uint64_t second = test->Blob(Bytes(7000, 2));
  test->Call(Method::ID3D12Device_CreateRootSignature, 1, InBlobs({second}, 7000));
  test->Frame();
}

TEST(TraceFilterTest, BlobsFollowTheRecordsThatNeedThem) {
  TestTrace test;
  FillTwoCalls(&test);
  TraceReader trace = test.Open();
  Without filter({2});
  MemoryFile file;
  const Result<CopiedTrace> copied = CopyInto(&trace, &filter, {}, &file);
  ASSERT_TRUE(copied.ok()) << copied.status().message();
  EXPECT_EQ(filter.rounds, 2);
  Result<TraceReader> copy = TraceReader::FromBytes(file.bytes);
  ASSERT_TRUE(copy.ok());
  EXPECT_TRUE(copy->facts().trimmed);
  EXPECT_EQ(copy->facts().program, "/games/game");
  const auto records = ReadAll(*copy);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].record.number, 3u);
  EXPECT_EQ(records[0].body, BodyBytes(BlobBody{7000, 0}, Bytes(7000, 2)));
  EXPECT_EQ(records[1].record.number, 4u);
  EXPECT_EQ(records[2].record.kind, RecordKind::kFrame);
  EXPECT_EQ(copied->totals.blobs, 1u);
}

TEST(TraceFilterTest, AFilterMayChangeBodies) {
  class Shorten final : public RecordFilter {
   public:
    bool Keep(Record* record, uint64_t) override {
      record->body = record->body.first(1);
      return true;
    }
  };
  TestTrace test;
  test.Call(Method::ID3D12GraphicsCommandList_Close, 3, Bytes(9, 5));
  TraceReader trace = test.Open();
  Shorten filter;
  MemoryFile file;
  ASSERT_TRUE(CopyInto(&trace, &filter, {}, &file).ok());
  Result<TraceReader> copy = TraceReader::FromBytes(file.bytes);
  EXPECT_EQ(ReadAll(*copy).at(0).body, Bytes(1, 5));
}

TEST(TraceFilterTest, EverythingMeansEverything) {
  TestTrace test;
  FillTwoCalls(&test);
  test.Blob(Bytes(8000, 3));  // that nothing refers to
  const TraceThread threads[] = {{0, 77, "main", 4}};
  ASSERT_TRUE(test.file().Append(MakeChunkType("xOTH"), ToBytes("other")).ok());
  test.Finish(threads);
  TraceReader trace = test.Open();
  MemoryFile file;
  CopyOptions options;
  options.trimmed = false;
  options.other_chunks = true;
  ASSERT_TRUE(CopyInto(&trace, nullptr, options, &file).ok());
  Result<TraceReader> copy = TraceReader::FromBytes(file.bytes);
  ASSERT_TRUE(copy.ok());
  EXPECT_FALSE(copy->facts().trimmed);
  EXPECT_EQ(copy->threads()[0].unreturned_call, 4u);
  const auto before = ReadAll(trace);
  const auto after = ReadAll(*copy);
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i].body, before[i].body);
  size_t others = 0;
  for (const ChunkInfo& chunk : copy->file().chunks()) {
    others += chunk.type == MakeChunkType("xOTH");
  }
  EXPECT_EQ(others, 1u);
}

TEST(TraceFilterTest, KindsOfLaterVersionsAreCopiedWithTheirBlobs) {
  TestTrace test;
  const uint64_t blob = test.Blob(Bytes(6000, 1));
  const std::vector<std::byte> body = InBlobs({blob}, 6000);
  Record later;
  later.kind = static_cast<RecordKind>(100);
  later.number = ++test.number;
  later.object = 9;
  later.body = body;
  ASSERT_TRUE(test.writer().Add(later, RecordKinds::kAll).ok());
  test.Frame();
  TraceReader trace = test.Open();
  EXPECT_EQ(ReadAll(trace).size(), 2u);  // who does not ask for it does not see it
  Without nothing({});
  for (RecordFilter* filter :
       {static_cast<RecordFilter*>(nullptr), static_cast<RecordFilter*>(&nothing)}) {
    MemoryFile file;
    CopyOptions options;
    options.trimmed = false;
    const Result<CopiedTrace> copied = CopyInto(&trace, filter, options, &file);
    ASSERT_TRUE(copied.ok()) << copied.status().message();
    EXPECT_EQ(copied->totals.records, trace.record_count());
    Result<TraceReader> copy = TraceReader::FromBytes(file.bytes);
    ASSERT_TRUE(copy.ok());
    TraceCursor cursor(*copy, RecordKinds::kAll);
    const auto records = ReadRest(*copy, cursor);
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[0].body, BodyBytes(BlobBody{6000, 0}, Bytes(6000, 1)));
    EXPECT_EQ(static_cast<int>(records[1].record.kind), 100);
    EXPECT_EQ(records[1].record.object, 9u);
    EXPECT_EQ(records[1].body, body);
    EXPECT_EQ(records[2].record.kind, RecordKind::kFrame);
  }
}

TEST(TraceFilterTest, CanBeInterrupted) {
  TestTrace test;
  FillTwoCalls(&test);
  TraceReader trace = test.Open();
  MemoryFile file;
  CopyOptions options;
  options.progress = [](uint64_t, uint64_t total) {
    EXPECT_EQ(total, 5u);
    return false;
  };
  const Result<CopiedTrace> copied = CopyInto(&trace, nullptr, options, &file);
  ASSERT_TRUE(copied.ok());
  EXPECT_TRUE(copied->interrupted);
}

TEST(BlobReferencesTest, AreFoundAnywhereAndNothingOutsideIsRead) {
  std::vector<std::byte> body = Bytes(3, 0xFE);
  const auto reference = InBlobs({7, 9}, 2'000'000);
  body.insert(body.end(), reference.begin(), reference.end());
  std::vector<uint64_t> found;
  const auto collect = [&](uint64_t number) { found.push_back(number); };
  ForEachBlobReference(body, collect);
  EXPECT_THAT(found, ElementsAre(7, 9));
  found.clear();
  body.pop_back();  // one part too many for what follows
  ForEachBlobReference(body, collect);
  ForEachBlobReference({}, collect);
  ForEachBlobReference(Bytes(15, 0xFE), collect);
  EXPECT_TRUE(found.empty());
}

}  // namespace
}  // namespace cairn
