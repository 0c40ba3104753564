// SPDX-License-Identifier: Apache-2.0
// Traces of the format's first version are read by every later one, and their calls are understood.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "format/trace/testing/sample_trace.h"
#include "format/trace/testing/trace_fuzz_input.h"
#include "format/trace/verify.h"

namespace cairn {
namespace {

std::vector<std::byte> Golden(const std::string& name) {
  std::ifstream file(CAIRN_SOURCE_DIR "/tests/golden/" + name, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return ToBytes(text);
}

std::vector<std::string> Findings(TraceReader& trace) {
  std::vector<std::string> texts;
  const Result<VerifyReport> report = VerifyTrace(&trace, {});
  for (const Finding& finding : report->findings) texts.push_back(finding.text);
  return texts;
}

TEST(TraceGoldenTest, TheSampleOfThePage) {
  const std::vector<std::byte> bytes = Golden("trace-v1-small.cairn");
  Result<TraceReader> trace = TraceReader::FromBytes(bytes);
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  EXPECT_TRUE(trace->losses().empty());
  const auto records = ReadAll(*trace);
  ASSERT_EQ(records.size(), 7u);
  EXPECT_EQ(trace->MethodName(records[2].record), "ID3D12Device::CreateFence");
  // If this fails the tables describe a method that was published in another way than before: either
  // its records are read in a new way, or LayoutHash is to accept the old number as well.
  EXPECT_EQ(trace->MethodOf(records[2].record), Method::ID3D12Device_CreateFence);
  EXPECT_EQ(trace->MethodOf(records[6].record), Method::ID3D12CommandQueue_Signal);
  EXPECT_EQ(records[6].record.thread, 1u);
  EXPECT_EQ(records[6].frame, 1u);
  EXPECT_EQ(trace->threads()[1].unreturned_call, 7u);
  EXPECT_THAT(Findings(*trace),
              ::testing::ElementsAre("ID3D12CommandQueue::Signal never returned"));
}

TEST(TraceGoldenTest, EveryKindOfRecord) {
  SampleTrace sample(Compression::kNone);
  FillLargeSample(&sample);
  ASSERT_TRUE(sample.ok());
  Result<TraceReader> now = TraceReader::FromBytes(sample.Finish({}));
  const std::vector<std::byte> bytes = Golden("trace-v1.cairn");
  Result<TraceReader> then = TraceReader::FromBytes(bytes);
  ASSERT_TRUE(now.ok());
  ASSERT_TRUE(then.ok()) << then.status().message();
  EXPECT_EQ(then->first_frame(), 100u);
  const auto records = ReadAll(*then);
  const auto expected = ReadAll(*now);
  ASSERT_EQ(records.size(), expected.size());
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].record.kind, expected[i].record.kind) << i;
    EXPECT_EQ(records[i].record.flags, expected[i].record.flags) << i;
    EXPECT_EQ(records[i].record.object, expected[i].record.object) << i;
    EXPECT_EQ(records[i].body, expected[i].body) << i;
  }
  Record record;
  for (uint16_t i = 0; i < std::size(kSampleMethods); ++i) {
    record.method = i;
    EXPECT_EQ(then->MethodOf(record), kSampleMethods[i]) << then->MethodName(record);
  }
}

TEST(TraceGoldenTest, HashesOfResources) {
  const std::vector<std::byte> bytes = Golden("trace-v1-hashes.cairn");
  Result<TraceReader> trace = TraceReader::FromBytes(bytes);
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  const auto records = ReadAll(*trace);
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[2].record.kind, RecordKind::kResourceHash);
  EXPECT_EQ(records[2].record.object, 4u);
  std::span<const std::byte> rest = records[2].body;
  const Result<ResourceHashBody> body = DecodeBody<ResourceHashBody>(&rest);
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(body->subresource, 0u);
  EXPECT_EQ(body->total_bytes, 0x10000u);
  EXPECT_EQ(body->hash_low, 1u);
  EXPECT_EQ(body->hash_high, 2u);
  EXPECT_THAT(Findings(*trace), ::testing::IsEmpty());
}

TEST(TraceGoldenTest, ACutTrace) {
  const std::vector<std::byte> bytes = Golden("trace-v1-cut.cairn");
  Result<TraceReader> trace = TraceReader::FromBytes(bytes);
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  EXPECT_FALSE(trace->finished());
  EXPECT_EQ(trace->frame_count(), 2u);
  EXPECT_EQ(trace->first_frame(), 100u);
}

TEST(TraceGoldenTest, SeedsOfTheFuzzersAreWholeTraces) {
  const std::vector<std::byte> bytes = Golden("../../fuzz/corpus/trace_reader_fuzz/each-kind");
  const std::vector<std::byte> file = FileFromFuzzInput(bytes);
  Result<TraceReader> trace = TraceReader::FromBytes(file);
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  EXPECT_TRUE(trace->losses().empty());
  EXPECT_EQ(trace->totals()->stored_blob_bytes, 5000u);
}

}  // namespace
}  // namespace cairn
