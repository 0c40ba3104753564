// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/snapshot_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include "format/block/object_description.h"
#include "format/file/testing/test_container.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "format/snapshot/testing/snapshot_dump.h"

namespace cairn {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr uint64_t kSampleTime = 1'700'000'005'000'000'000;

Snapshot SampleSnapshot() {
  TestBlock block;
  FillSampleBlock(&block);
  return std::move(SnapshotFromBlock(block.bytes(), kSampleTime).value());
}

Result<Snapshot> ReadBytes(std::span<const std::byte> bytes) {
  const Result<FileReader> reader = FileReader::FromBytes(bytes);
  if (!reader.ok()) return reader.status();
  return ReadSnapshot(*reader);
}

std::vector<std::string> Losses(const Snapshot& snapshot) {
  std::vector<std::string> losses;
  for (TextRef loss : snapshot.losses) losses.emplace_back(snapshot.Text(loss));
  return losses;
}

Snapshot D3D12Snapshot() {
  TestBlock block;
  FillD3D12Block(&block);
  return std::move(SnapshotFromBlock(block.bytes(), kSampleTime).value());
}

Snapshot VulkanSnapshot() {
  TestBlock block;
  FillVulkanBlock(&block);
  return std::move(SnapshotFromBlock(block.bytes(), kSampleTime, Binaries::kKeep).value());
}

Snapshot MemorySnapshot() {
  TestBlock block;
  FillMemoryBlock(&block);
  return std::move(SnapshotFromBlock(block.bytes(), kSampleTime).value());
}

// The sample's file without the chunks of one type, sealed anew.
std::vector<std::byte> WithoutChunk(ChunkType type, const Snapshot& snapshot = SampleSnapshot()) {
  std::vector<std::byte> bytes = SnapshotFileBytes(snapshot, Compression::kNone);
  const Result<FileReader> reader = FileReader::FromBytes(bytes);
  for (const ChunkInfo& chunk : reader->chunks()) {
    // A damaged header is passed over by the scan that a damaged trailer causes.
    if (chunk.type == type) bytes[chunk.offset] ^= std::byte{1};
  }
  bytes.resize(bytes.size() - kTrailerBytes);
  return bytes;
}

TEST(SnapshotFile, RoundTripKeepsEverything) {
  for (const Snapshot& snapshot :
       {SampleSnapshot(), D3D12Snapshot(), VulkanSnapshot(), MemorySnapshot()}) {
    for (Compression compression : {Compression::kNone, Compression::kZstd}) {
      const Result<Snapshot> read = ReadBytes(SnapshotFileBytes(snapshot, compression));
      ASSERT_TRUE(read.ok()) << read.status().message();
      EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(snapshot));
      EXPECT_EQ(FindInconsistency(*read), "");
    }
  }
}

TEST(SnapshotFile, WhatDrainsIsKept) {
  Snapshot snapshot = VulkanSnapshot();
  uint32_t ends = 0;
  for (Event& event : snapshot.events) {
    if (event.kind == EventKind::kEnd) event.flags |= kEventDrainsOther * (++ends % 8);
  }
  const Result<Snapshot> read = ReadBytes(SnapshotFileBytes(snapshot, Compression::kNone));
  ASSERT_TRUE(read.ok());
  EXPECT_GT(ends, 2u);
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(snapshot));
}

TEST(SnapshotFile, CallsOfATraceAreKept) {
  Snapshot snapshot = D3D12Snapshot();
  std::vector<uint64_t> calls;
  uint64_t number = 0xFFFF'FF00;  // goes beyond 32 bits
  for (Event& event : snapshot.events) {
    if (event.kind == EventKind::kBegin) calls.push_back(event.call = number += 0x80);
  }
  const Result<Snapshot> read = ReadBytes(SnapshotFileBytes(snapshot, Compression::kZstd));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(snapshot));
  std::vector<uint64_t> calls_read;
  for (const Event& event : read->events) {
    if (event.kind == EventKind::kBegin) calls_read.push_back(event.call);
  }
  EXPECT_GT(calls.size(), 2u);
  EXPECT_GT(calls.back(), uint64_t{0xFFFF'FFFF});
  EXPECT_EQ(calls_read, calls);
}

// Numbers of each length, and more events than the columns' counts of eight at once cover.
TEST(SnapshotFile, NumbersOfEachLengthAreKeptInTheColumnsOfEvents) {
  Snapshot snapshot = D3D12Snapshot();
  Recording& recording = snapshot.recordings.back();
  snapshot.pipelines.resize(20'000);
  recording.first_event = static_cast<uint32_t>(snapshot.events.size());
  recording.event_count = 0;
  const auto add = [&](const Event& event) {
    snapshot.events.push_back(event);
    ++recording.event_count;
  };
  for (uint32_t bits = 0; bits < 64; ++bits) {
    Event begin;
    begin.type = static_cast<uint16_t>((uint64_t{1} << bits % 16) - 1);
    begin.pipeline = (1u << bits % 15) - 1;
    begin.name = snapshot.AddText(std::string(bits, 'a') + std::to_string(bits));
    begin.call = (uint64_t{1} << bits) + bits;
    Event bind;
    bind.kind = EventKind::kBind;
    bind.detail = static_cast<uint32_t>(snapshot.binds.size());
    snapshot.binds.push_back({(1u << bits % 32) - 1, true, ~uint64_t{0} >> (63 - bits)});
    add(begin);
    add(bind);
    add(bind);
    snapshot.events.back().detail = static_cast<uint32_t>(snapshot.binds.size());
    snapshot.binds.push_back({bits, true, uint64_t{1} << bits});
  }
  const Result<Snapshot> read = ReadBytes(SnapshotFileBytes(snapshot, Compression::kNone));
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(Losses(*read).empty());
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(snapshot));
  ASSERT_EQ(read->recordings.back().event_count, 192u);
  const Event* const events = read->events.data() + read->recordings.back().first_event;
  for (uint32_t bits = 0; bits < 64; ++bits) {
    EXPECT_EQ(events[3 * bits].call, (uint64_t{1} << bits) + bits);
    EXPECT_EQ(read->Text(events[3 * bits].name), std::string(bits, 'a') + std::to_string(bits));
    EXPECT_EQ(read->binds[events[3 * bits + 1].detail].value, ~uint64_t{0} >> (63 - bits));
    EXPECT_EQ(read->binds[events[3 * bits + 2].detail].value, uint64_t{1} << bits);
  }
}

TEST(SnapshotFile, WhatTheKernelSaysIsKept) {
  Snapshot snapshot = SampleSnapshot();
  snapshot.kernel_lines = {{.time_ns = 5'000'000'000, .text = snapshot.AddText("GPU reset begin!")},
                           {.time_ns = 6'000'000'000,
                            .names_process = true,
                            .text = snapshot.AddText("NVRM: Xid 31, pid=7204")}};
  snapshot.kernel_logs = {{.first_line = 0, .line_count = 2}};
  const Result<Snapshot> read = ReadBytes(SnapshotFileBytes(snapshot, Compression::kNone));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(snapshot));
  ASSERT_EQ(read->kernel_lines.size(), 2u);
  EXPECT_EQ(read->Text(read->kernel_lines[1].text), "NVRM: Xid 31, pid=7204");
  EXPECT_TRUE(read->kernel_lines[1].names_process);
  EXPECT_EQ(read->kernel_lines[0].time_ns, 5'000'000'000u);
  EXPECT_EQ(FindInconsistency(*read), "");
}

TEST(SnapshotFile, WhoCrashedInWhichCallIsKept) {
  Snapshot snapshot = D3D12Snapshot();
  ASSERT_GE(snapshot.threads.size(), 2u);
  snapshot.call_arguments = {
      {.call = 3, .kind = ArgumentKind::kUnsigned, .name = snapshot.AddText("X"), .value = 64},
      {.call = 3,
       .kind = ArgumentKind::kGpuDescriptor,
       .name = snapshot.AddText("BaseDescriptor"),
       .value = 0xffff'ffff'ffff'feb0},
      {.call = 4, .kind = ArgumentKind::kPointer, .name = snapshot.AddText("p"), .value = 0x7f00}};
  for (size_t i = 0; i < snapshot.threads.size(); ++i) {
    snapshot.threads[i].first_argument = i == 0 ? 0 : 1;
    snapshot.threads[i].argument_count = i == 0 ? 1 : i == 1 ? 2 : 0;
    if (i > 1) snapshot.threads[i].first_argument = 3;
  }
  snapshot.threads[1].crashed = true;
  snapshot.devices[0].tells_submissions = true;
  const Result<Snapshot> read = ReadBytes(SnapshotFileBytes(snapshot, Compression::kZstd));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(snapshot));
  EXPECT_TRUE(read->devices[0].tells_submissions);
  EXPECT_FALSE(read->threads[0].crashed);
  EXPECT_TRUE(read->threads[1].crashed);
  ASSERT_EQ(read->call_arguments.size(), 3u);
  EXPECT_EQ(read->call_arguments[1].value, 0xffff'ffff'ffff'feb0u);
  EXPECT_EQ(read->Text(read->call_arguments[1].name), "BaseDescriptor");
  EXPECT_EQ(read->call_arguments[2].kind, ArgumentKind::kPointer);
  EXPECT_EQ(FindInconsistency(*read), "");
}

TEST(SnapshotFile, OfSeveralSnapshotsTheLastCounts) {
  MemoryFile file;
  Result<FileWriter> writer = FileWriter::CreateOn(std::make_unique<MemorySink>(file));
  ASSERT_TRUE(writer.ok());
  for (const Snapshot& snapshot : {D3D12Snapshot(), VulkanSnapshot(), SampleSnapshot()}) {
    ASSERT_TRUE(writer->Append(kSnapshotStartChunk, {}).ok());
    ASSERT_TRUE(WriteSnapshot(snapshot, &*writer).ok());
  }
  ASSERT_TRUE(writer->Finish().ok());
  const Result<Snapshot> read = ReadBytes(file.bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(SampleSnapshot()));
}

TEST(SnapshotFile, AnEmptySnapshotRoundTrips) {
  const Result<Snapshot> read = ReadBytes(SnapshotFileBytes(Snapshot()));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(Snapshot()));
}

TEST(SnapshotFile, IncidentsAndCommandLineAreKept) {
  Snapshot snapshot = SampleSnapshot();
  snapshot.process.command_line = snapshot.AddText("./demo --fast");
  Incident hang;
  hang.kind = IncidentKind::kHang;
  hang.value = 2000;
  hang.time_ns = 5;
  hang.queue = 1;
  NoteIncident(hang, "", &snapshot);
  const Result<Snapshot> read = ReadBytes(SnapshotFileBytes(snapshot));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->incidents.size(), 2u);
  EXPECT_EQ(read->incidents[1].queue, 1u);
  EXPECT_EQ(read->Text(read->process.command_line), "./demo --fast");
}

TEST(SnapshotFile, TheHeadAloneIsASnapshot) {
  const std::vector<std::byte> whole = SnapshotFileBytes(SampleSnapshot(), Compression::kNone);
  const Result<FileReader> reader = FileReader::FromBytes(whole);
  const uint64_t head_end = reader->chunks()[0].end_offset();
  EXPECT_LT(head_end, 512u);
  const Result<Snapshot> read = ReadBytes(std::span(whole).first(head_end));
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->incidents.size(), 1u);
  EXPECT_EQ(read->incidents[0].kind, IncidentKind::kDeviceLost);
  EXPECT_EQ(read->Text(read->process.program), "/games/demo");
  EXPECT_THAT(Losses(*read), Contains(HasSubstr("The chunk EVNT")).Times(0));
  EXPECT_THAT(Losses(*read), Contains("The chunk RECS is missing from the file."));
}

TEST(SnapshotFile, LargeSnapshotsStaySmallOnDisk) {
  TestBlock block(64 << 20);
  FillLargeBlock(&block, 100'000);
  const Snapshot snapshot = std::move(SnapshotFromBlock(block.bytes(), kSampleTime).value());
  ASSERT_EQ(snapshot.events.size(), 200'000u);
  const std::vector<std::byte> bytes = SnapshotFileBytes(snapshot);
  EXPECT_LT(bytes.size(), 1u << 20);
  const Result<Snapshot> read = ReadBytes(bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(snapshot));
}

TEST(SnapshotFile, AFileWithoutProcessHoldsNoSnapshot) {
  EXPECT_EQ(ReadBytes(WithoutChunk(kProcessChunk)).status().code(), StatusCode::kNotFound);
}

TEST(SnapshotFile, EveryLostChunkIsNamedAndTheRestIsRead) {
  const Snapshot whole = SampleSnapshot();
  for (ChunkType type : {kTextChunk, kDeviceChunk, kQueueChunk, kPipelineChunk, kRecordingChunk,
                         kEventChunk, kSubmissionChunk, kRawMarkerChunk}) {
    const Result<Snapshot> read = ReadBytes(WithoutChunk(type));
    ASSERT_TRUE(read.ok()) << ChunkTypeName(type);
    EXPECT_EQ(FindInconsistency(*read), "") << ChunkTypeName(type);
    EXPECT_FALSE(read->losses.empty()) << ChunkTypeName(type);
    EXPECT_EQ(read->recordings.size(), type == kRecordingChunk ? 0 : whole.recordings.size());
    EXPECT_EQ(read->devices.size(), type == kDeviceChunk ? 0 : whole.devices.size());
  }
}

TEST(SnapshotFile, WithoutItsEventsARecordingKeepsItsWords) {
  const Result<Snapshot> read = ReadBytes(WithoutChunk(kEventChunk));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->recordings[1].event_count, 0u);
  EXPECT_EQ(read->recordings[1].reached, 8u);
  EXPECT_THAT(Losses(*read), Contains(HasSubstr("markers are missing from the file")));
}

// Every byte flipped: the content is equal, or the damage is reported.
void ExpectThatNoFlippedByteGoesUnnoticed(const Snapshot& snapshot) {
  const std::string expected = DumpSnapshot(snapshot);
  std::vector<std::byte> bytes = SnapshotFileBytes(snapshot, Compression::kNone);
  for (std::byte& byte : bytes) {
    byte ^= std::byte{0x5A};
    const Result<Snapshot> read = ReadBytes(bytes);
    byte ^= std::byte{0x5A};
    if (!read.ok() || DumpSnapshot(*read) == expected) continue;
    EXPECT_FALSE(read->losses.empty());
    EXPECT_EQ(FindInconsistency(*read), "");
  }
}

TEST(SnapshotFile, NoFlippedByteGoesUnnoticed) {
  ExpectThatNoFlippedByteGoesUnnoticed(SampleSnapshot());
}

// Truncated anywhere behind its head, the file tells what happened and what is missing.
TEST(SnapshotFile, TruncatedFilesKeepWhatIsComplete) {
  const Snapshot snapshot = SampleSnapshot();
  const std::vector<std::byte> bytes = SnapshotFileBytes(snapshot, Compression::kNone);
  const Result<FileReader> whole = FileReader::FromBytes(bytes);
  const ChunkInfo head = whole->chunks()[0];
  for (uint64_t size = head.payload_offset() + head.stored_bytes; size < bytes.size(); ++size) {
    const Result<Snapshot> read = ReadBytes(std::span(bytes).first(size));
    ASSERT_TRUE(read.ok()) << size;
    EXPECT_EQ(read->incidents.size(), 1u) << size;
    EXPECT_FALSE(read->losses.empty()) << size;
    size_t recordings = 0;
    for (const ChunkInfo& chunk : whole->chunks()) {
      const bool complete = chunk.payload_offset() + chunk.stored_bytes <= size;
      if (chunk.type == kRecordingChunk && complete) recordings = snapshot.recordings.size();
    }
    EXPECT_EQ(read->recordings.size(), recordings) << size;
  }
}

Result<Snapshot> ReadGolden(const char* name, std::string* bytes) {
  std::ifstream file(std::string(CAIRN_SOURCE_DIR "/tests/golden/") + name, std::ios::binary);
  EXPECT_TRUE(file.good());
  bytes->assign(std::istreambuf_iterator<char>(file), {});
  return ReadBytes(std::as_bytes(std::span(*bytes)));
}

// This file is older than annotations, objects and calls in the format.
TEST(SnapshotFile, ReadsTheFirstGoldenFile) {
  std::string bytes;
  const Result<Snapshot> read = ReadGolden("snapshot-v1.cairn", &bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  Snapshot sample = SampleSnapshot();
  sample.process.start_monotonic_ns = 0;
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(sample));
  EXPECT_TRUE(read->losses.empty());
}

TEST(SnapshotFile, ReadsAndWritesTheGoldenFileOfDirect3D) {
  std::string bytes;
  const Result<Snapshot> read = ReadGolden("snapshot-d3d12-v1.cairn", &bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Snapshot sample = D3D12Snapshot();
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(sample));
  EXPECT_TRUE(std::ranges::equal(SnapshotFileBytes(sample, Compression::kNone),
                                 std::as_bytes(std::span(bytes))))
      << "the writer's bytes have changed: is a new chunk type due?";
}

TEST(SnapshotFile, ReadsAndWritesTheGoldenFileOfVulkan) {
  std::string bytes;
  const Result<Snapshot> read = ReadGolden("snapshot-vulkan-v1.cairn", &bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Snapshot sample = VulkanSnapshot();
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(sample));
  EXPECT_TRUE(std::ranges::equal(SnapshotFileBytes(sample, Compression::kNone),
                                 std::as_bytes(std::span(bytes))))
      << "the writer's bytes have changed: is a new chunk type due?";
}

TEST(SnapshotFile, ReadsAndWritesTheGoldenFileOfArguments) {
  std::string bytes;
  const Result<Snapshot> read = ReadGolden("snapshot-arguments-v1.cairn", &bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  TestBlock block;
  FillArgumentsBlock(&block);
  const Snapshot sample = std::move(
      SnapshotFromBlock(block.bytes(), 1'700'000'005'000'000'000, Binaries::kKeep).value());
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(sample));
  ASSERT_EQ(sample.shaders.size(), 2u);
  EXPECT_EQ(read->shaders[0].traits, kShaderRead);
  EXPECT_EQ(read->shaders[1].traits, kShaderRead | kShaderLoops);
  EXPECT_TRUE(std::ranges::equal(SnapshotFileBytes(sample, Compression::kNone),
                                 std::as_bytes(std::span(bytes))))
      << "the writer's bytes have changed: is a new chunk type due?";
}

TEST(SnapshotFile, ReadsAndWritesTheGoldenFileOfDurations) {
  std::string bytes;
  const Result<Snapshot> read = ReadGolden("snapshot-durations-v1.cairn", &bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  TestBlock block;
  FillDurationsBlock(&block);
  const Snapshot sample = std::move(
      SnapshotFromBlock(block.bytes(), 1'700'000'005'000'000'000, Binaries::kKeep).value());
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(sample));
  ASSERT_EQ(read->submission_ends.size(), 2u);
  EXPECT_EQ(read->submission_ends[0].ended_ns, read->submissions[0].time_ns + 200'000);
  EXPECT_EQ(read->submission_ends[1].ended_ns, 0u);
  EXPECT_EQ(read->submission_ends[1].pipelines, 2u);
  ASSERT_EQ(read->objects.size(), 2u);
  EXPECT_EQ(UnpackDescription(read->objects[1].description).width, 1920u);
  ASSERT_EQ(read->memory.size(), 1u);
  EXPECT_EQ(read->memory[0].result, -2);
  EXPECT_EQ(read->Text(read->memory[0].function), "vkAllocateMemory");
  ASSERT_EQ(read->memory_heaps.size(), 2u);
  EXPECT_EQ(read->memory_heaps[0].used_bytes, uint64_t{15} << 29);
  EXPECT_FALSE(read->memory_heaps[1].tells_use);
  EXPECT_TRUE(std::ranges::equal(SnapshotFileBytes(sample, Compression::kNone),
                                 std::as_bytes(std::span(bytes))))
      << "the writer's bytes have changed: is a new chunk type due?";
}

// Files of before durations and memory are read.
TEST(SnapshotFile, DurationsAndMemoryMayBeMissing) {
  TestBlock block;
  FillDurationsBlock(&block);
  const Snapshot sample =
      std::move(SnapshotFromBlock(block.bytes(), kSampleTime, Binaries::kKeep).value());
  for (const ChunkType type : {kSubmissionEndChunk, kMemoryChunk}) {
    const Result<Snapshot> read = ReadBytes(WithoutChunk(type, sample));
    ASSERT_TRUE(read.ok()) << ChunkTypeName(type);
    EXPECT_EQ(read->submission_ends.empty(), type == kSubmissionEndChunk);
    EXPECT_EQ(read->memory.empty(), type == kMemoryChunk);
    EXPECT_EQ(read->submissions.size(), 2u);
  }
}

TEST(SnapshotFile, KeepsTheTargetsOfPipelines) {
  TestBlock block;
  FillDurationsBlock(&block);
  EXPECT_THAT(std::move(SnapshotFromBlock(block.bytes(), kSampleTime).value()).described_pipelines,
              testing::IsEmpty());
  block.pipeline(0).description = 0x1234567;
  const Snapshot sample = std::move(SnapshotFromBlock(block.bytes(), kSampleTime).value());
  const Result<Snapshot> read = ReadBytes(SnapshotFileBytes(sample, Compression::kNone));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(sample));
  ASSERT_EQ(read->described_pipelines.size(), 1u);
  EXPECT_EQ(read->described_pipelines[0].pipeline, 0u);
  EXPECT_EQ(read->described_pipelines[0].description, 0x1234567u);
}

// The golden files have no frames of submissions; there they are those of the recordings.
TEST(SnapshotFile, KeepsTheFramesOfSubmissions) {
  Snapshot sample = SampleSnapshot();
  ASSERT_GE(sample.submissions.size(), 2u);
  sample.submissions[0].frame = 5000;
  sample.submissions[1].frame = 4;
  const std::vector<std::byte> bytes = SnapshotFileBytes(sample, Compression::kNone);
  const Result<Snapshot> read = ReadBytes(bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(sample));
  EXPECT_EQ(read->submissions[0].frame, 5000u);
}

// Files say nothing of what a program has not: the container tells of what was lost.
TEST(SnapshotFile, EachChunkOfVulkanMayBeMissing) {
  for (ChunkType type : {kSyncChunk, kFaultChunk, kVendorBinaryChunk, kCheckpointChunk,
                         kShaderChunk, kShaderCodeChunk}) {
    const Result<Snapshot> read = ReadBytes(WithoutChunk(type, VulkanSnapshot()));
    ASSERT_TRUE(read.ok()) << ChunkTypeName(type);
    EXPECT_EQ(FindInconsistency(*read), "") << ChunkTypeName(type);
    EXPECT_FALSE(read->losses.empty());
    EXPECT_EQ(read->syncs.empty(), type == kSyncChunk);
    EXPECT_EQ(read->faults.empty(), type == kFaultChunk);
    EXPECT_EQ(read->checkpoints.empty(), type == kCheckpointChunk);
    EXPECT_EQ(read->shaders.empty(), type == kShaderChunk);
    EXPECT_EQ(read->recordings.size(), VulkanSnapshot().recordings.size());
  }
}

TEST(SnapshotFile, ShadersOfSeveralChunks) {
  TestBlock block(uint64_t{64} << 20);
  block.AddContext();
  for (uint64_t i = 1; i <= 5; ++i) {
    block.AddShader(ShaderCode::kSpirV, i, std::string(700'000, static_cast<char>('a' + i)));
  }
  const Snapshot snapshot =
      std::move(SnapshotFromBlock(block.bytes(), kSampleTime, Binaries::kKeep).value());
  const std::vector<std::byte> bytes = SnapshotFileBytes(snapshot);
  const Result<FileReader> reader = FileReader::FromBytes(bytes);
  EXPECT_EQ(std::ranges::count(reader->chunks(), kShaderCodeChunk, &ChunkInfo::type), 5);
  const Result<Snapshot> read = ReadBytes(bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(DumpSnapshot(*read), DumpSnapshot(snapshot));
}

// Larger counts come from no program of ours, and would cost a reader too much.
TEST(SnapshotFile, CountsBeyondWhatABlockHoldsAreDamage) {
  struct Case {
    ChunkType type;
    uint64_t most;
    void (*grow)(Snapshot*, size_t);
    size_t (*count)(const Snapshot&);
  };
  const Case cases[] = {
      {kQueueChunk, kMaxQueues, [](Snapshot* s, size_t n) { s->queues.resize(n); },
       [](const Snapshot& s) { return s.queues.size(); }},
      {kSyncChunk, kSyncRing,
       [](Snapshot* s, size_t n) {
         Sync sync;
         sync.kind = SyncKind::kWait;
         s->syncs.resize(n, sync);
       },
       [](const Snapshot& s) { return s.syncs.size(); }},
      {kFaultChunk, kMaxContexts, [](Snapshot* s, size_t n) { s->faults.resize(n); },
       [](const Snapshot& s) { return s.faults.size(); }},
      {kMemoryChunk, kMaxContexts, [](Snapshot* s, size_t n) { s->memory.resize(n); },
       [](const Snapshot& s) { return s.memory.size(); }},
      {kMemoryChunk, kMaxMemoryHeaps,
       [](Snapshot* s, size_t n) {
         s->memory_heaps.resize(n);
         s->memory.resize(1);
         s->memory[0].heap_count = static_cast<uint32_t>(n);
       },
       [](const Snapshot& s) -> size_t { return s.memory.empty() ? 0 : s.memory[0].heap_count; }},
      {kFaultChunk, kMaxFaultAddresses,
       [](Snapshot* s, size_t n) {
         s->fault_addresses.resize(n);
         s->faults.resize(1);
         s->faults[0].address_count = static_cast<uint32_t>(n);
       },
       [](const Snapshot& s) -> size_t {
         return s.faults.empty() ? 0 : s.faults[0].address_count;
       }},
      {kFaultChunk, kMaxFaultVendorInfos,
       [](Snapshot* s, size_t n) {
         s->vendor_infos.resize(n);
         s->faults.resize(1);
         s->faults[0].vendor_info_count = static_cast<uint32_t>(n);
       },
       [](const Snapshot& s) -> size_t {
         return s.faults.empty() ? 0 : s.faults[0].vendor_info_count;
       }},
      {kCheckpointChunk, kMaxContexts * kMaxCheckpoints,
       [](Snapshot* s, size_t n) { s->checkpoints.resize(n); },
       [](const Snapshot& s) { return s.checkpoints.size(); }},
  };
  for (const Case& limit : cases) {
    Snapshot snapshot;
    limit.grow(&snapshot, limit.most);
    Result<Snapshot> read = ReadBytes(SnapshotFileBytes(snapshot));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(limit.count(*read), limit.most) << ChunkTypeName(limit.type);
    EXPECT_TRUE(read->losses.empty());
    limit.grow(&snapshot, limit.most + 1);
    read = ReadBytes(SnapshotFileBytes(snapshot));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(limit.count(*read), 0u) << ChunkTypeName(limit.type);
    EXPECT_THAT(Losses(*read), Contains("A chunk " + ChunkTypeName(limit.type) + " is damaged."));
  }
}

// The sample of Direct3D 12 without one of its chunks: the rest is read, and the loss is named.
TEST(SnapshotFile, EachLaterChunkMayBeMissing) {
  for (ChunkType type :
       {kAnnotationChunk, kObjectChunk, kThreadChunk, kReportedEventIdChunk, kQueueMarkerChunk}) {
    const Result<Snapshot> read = ReadBytes(WithoutChunk(type, D3D12Snapshot()));
    ASSERT_TRUE(read.ok()) << ChunkTypeName(type);
    EXPECT_EQ(FindInconsistency(*read), "") << ChunkTypeName(type);
    EXPECT_THAT(Losses(*read),
                Contains("The chunk " + ChunkTypeName(type) + " is missing from the file."));
    EXPECT_EQ(read->events.size(), D3D12Snapshot().events.size());
    EXPECT_EQ(read->objects.empty(), type == kObjectChunk);
    EXPECT_EQ(read->threads.empty(), type == kThreadChunk);
  }
}

TEST(SnapshotFile, NoFlippedByteOfTheVulkanSampleGoesUnnoticed) {
  ExpectThatNoFlippedByteGoesUnnoticed(VulkanSnapshot());
}

TEST(SnapshotFile, NoFlippedByteOfTheDirect3DSampleGoesUnnoticed) {
  ExpectThatNoFlippedByteGoesUnnoticed(D3D12Snapshot());
}

// A file whose chunks are sound and whose payloads lie.
void ExpectThatLiesAreHarmless(const Snapshot& snapshot) {
  const std::vector<std::byte> whole = SnapshotFileBytes(snapshot, Compression::kNone);
  const Result<FileReader> reader = FileReader::FromBytes(whole);
  ASSERT_TRUE(reader.ok());
  for (size_t lying = 0; lying < reader->chunks().size(); ++lying) {
    const size_t size = reader->Read(lying)->size();
    for (size_t at = 0; at < size; ++at) {
      MemoryFile file;
      Result<FileWriter> writer =
          FileWriter::CreateOn(std::make_unique<MemorySink>(file), Compression::kNone);
      for (size_t i = 0; i < reader->chunks().size(); ++i) {
        std::vector<std::byte> payload = *reader->Read(i);
        if (i == lying) payload[at] ^= std::byte{0xFF};
        ASSERT_TRUE(writer->Append(reader->chunks()[i].type, payload).ok());
      }
      ASSERT_TRUE(writer->Finish().ok());
      const Result<Snapshot> read = ReadBytes(file.bytes);
      if (read.ok()) {
        EXPECT_EQ(FindInconsistency(*read), "") << lying << " " << at;
      }
    }
  }
}

TEST(SnapshotFile, LyingPayloadsLeaveAConsistentSnapshot) {
  ExpectThatLiesAreHarmless(D3D12Snapshot());
  ExpectThatLiesAreHarmless(VulkanSnapshot());
}

// 6 million raw markers take more than one chunk may have.
TEST(SnapshotFile, ATableThatIsLargerThanAChunkIsSplit) {
  constexpr uint32_t kMarkers = 6'000'000;
  Snapshot snapshot = SampleSnapshot();
  snapshot.raw_markers.clear();
  for (uint32_t i = 0; i < kMarkers; ++i) snapshot.raw_markers.push_back({0, i, i * 3ull});
  const std::vector<std::byte> bytes = SnapshotFileBytes(snapshot, Compression::kZstd);
  const Result<FileReader> file = FileReader::FromBytes(bytes);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(std::count_if(file->chunks().begin(), file->chunks().end(),
                          [](const ChunkInfo& chunk) { return chunk.type == kRawMarkerChunk; }),
            6);
  const Result<Snapshot> read = ReadSnapshot(*file);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(Losses(*read), Losses(snapshot));
  ASSERT_EQ(read->raw_markers.size(), kMarkers);
  for (const uint32_t i : {0u, 1u << 20, kMarkers - 1}) {
    EXPECT_EQ(read->raw_markers[i].index, i);
    EXPECT_EQ(read->raw_markers[i].value, i * 3ull);
  }
}

TEST(SnapshotFile, RecordingsInSeveralChunksKeepTheirEvents) {
  const Snapshot sample = SampleSnapshot();
  Snapshot snapshot = sample;
  // Behind the sample's, in their order.
  Recording empty = snapshot.recordings.back();
  empty.event_count = 0;
  empty.first_event = 0;
  for (uint32_t i = 0; i < 300'000; ++i) {
    ++empty.recording_id;
    snapshot.recordings.insert(snapshot.recordings.end(), empty);
  }
  const Result<Snapshot> read = ReadBytes(SnapshotFileBytes(snapshot, Compression::kZstd));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(Losses(*read), Losses(snapshot));
  ASSERT_EQ(read->recordings.size(), snapshot.recordings.size());
  EXPECT_EQ(read->recordings.back().recording_id, empty.recording_id);
  EXPECT_EQ(FindInconsistency(*read), "");
}

// A table that is too large costs only its own rows.
TEST(SnapshotFile, ATableThatIsTooLargeDoesNotCostTheReport) {
  Snapshot snapshot = SampleSnapshot();
  const Annotation annotation = {};
  snapshot.annotations.assign(14'000'000, annotation);  // 5 bytes each
  const Result<Snapshot> read = ReadBytes(SnapshotFileBytes(snapshot, Compression::kZstd));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->recordings.size(), snapshot.recordings.size());
  EXPECT_THAT(Losses(*read), Contains(HasSubstr("The table ANNO takes ")));
}

}  // namespace
}  // namespace cairn
