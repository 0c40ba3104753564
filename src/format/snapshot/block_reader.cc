// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/block_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "format/block/destructions.h"

namespace cairn {
namespace {

constexpr uint32_t kMaxRecordings = 65536;     // CairnContextDesc::max_command_lists
constexpr uint32_t kMaxRawMarkers = 1u << 20;  // CairnContextDesc::raw_marker_count
// Rounded up, because blocks are copied eight bytes at a time.
constexpr uint64_t kFunctionTableBytes = (sizeof(FunctionTable) + 7) / 8 * 8;

struct Range {
  uint64_t begin;
  uint64_t end;
};

bool Overlap(Range a, Range b) {
  return a.begin < b.end && b.begin < a.end;
}

std::array<Range, 3> RangesOf(const ContextTables& tables) {
  const uint64_t recordings_end =
      tables.recordings_offset + uint64_t{tables.recording_capacity} * sizeof(RecordingSlot);
  const uint64_t progress_end =
      tables.progress_offset + uint64_t{tables.recording_capacity} * sizeof(ProgressWords);
  const uint64_t raw_end = tables.raw_markers_offset + uint64_t{tables.raw_marker_count} * 8;
  return {Range{tables.recordings_offset, recordings_end},
          Range{tables.progress_offset, progress_end}, Range{tables.raw_markers_offset, raw_end}};
}

}  // namespace

Result<BlockReader> BlockReader::Open(std::span<const std::byte> block) {
  if (reinterpret_cast<uintptr_t>(block.data()) % 16 != 0) {
    return Status(StatusCode::kInvalidArgument, "the block is not aligned to 16 bytes");
  }
  if (block.size() < kPageBytes) {
    return Status(
        StatusCode::kCorrupt,
        fmt::format("a block has at least {} bytes; only {} are mapped", kPageBytes, block.size()));
  }
  BlockReader reader(block.first(block.size() / 8 * 8));
  const uint64_t magic = reader.Load64(offsetof(BlockHeader, magic));
  if (magic == 0) {
    return Status(StatusCode::kNotFound,
                  "the block was never laid out: the program has created no Cairn context");
  }
  if (magic != kBlockMagic) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("not a Cairn block: it starts with {:#018x}", magic));
  }
  BlockHeader header;
  reader.Copy(0, &header);
  if (header.version != kBlockVersion) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("the block has version {}, this program reads version {}; use the "
                              "cairn that came with the program's libcairn",
                              header.version, kBlockVersion));
  }
  if (header.header_bytes < sizeof(BlockHeader)) {
    return Status(StatusCode::kCorrupt, fmt::format("the block's header has {} bytes instead of {}",
                                                    header.header_bytes, sizeof(BlockHeader)));
  }
  reader.is_cut_ = header.block_bytes > block.size();

  struct Table {
    const char* name;
    uint64_t offset;
    uint64_t bytes;
    bool may_be_absent = false;
  };
  const Table tables[] = {
      {"contexts", header.contexts_offset, kMaxContexts * sizeof(ContextRecord)},
      {"queues", header.queues_offset, kMaxQueues * sizeof(QueueRecord)},
      {"pipelines", header.pipelines_offset, kMaxPipelines * sizeof(PipelineRecord)},
      {"submissions", header.submissions_offset, kSubmissionRing * sizeof(SubmissionRecord)},
      {"objects", header.objects_offset, kMaxObjects * sizeof(ObjectRecord), true},
      {"threads", header.threads_offset, kMaxThreads * sizeof(ThreadRecord), true},
      {"functions", header.functions_offset, kFunctionTableBytes, true},
      {"marker arenas", header.arenas_offset, kMaxArenas * sizeof(ArenaRecord), true},
      {"driver reports", header.driver_reports_offset, kMaxContexts * sizeof(DriverReport), true},
      {"synchronisation", header.syncs_offset, kSyncRing * sizeof(SyncRecord), true},
      {"faults", header.faults_offset, kMaxContexts * sizeof(FaultRecord), true},
      {"checkpoints", header.checkpoints_offset, kMaxContexts * sizeof(CheckpointTable), true},
      {"shaders", header.shaders_offset, kMaxShaders * sizeof(ShaderRecord), true},
      {"destructions", header.destructions_offset, kDestructionTableBytes, true},
      {"memory", header.memory_offset, kMaxContexts * sizeof(MemoryRecord), true},
  };
  reader.pages_offset_ = kPageBytes;
  for (const Table& table : tables) {
    if (table.offset == 0 && table.may_be_absent) continue;
    if (table.offset % 64 != 0 || table.offset < sizeof(BlockHeader) ||
        !reader.Contains(table.offset, table.bytes)) {
      return Status(StatusCode::kCorrupt,
                    fmt::format("the block's table of {} at offset {} does not lie inside its {} "
                                "bytes",
                                table.name, table.offset, block.size()));
    }
    reader.pages_offset_ = std::max(reader.pages_offset_, table.offset + table.bytes);
  }
  reader.contexts_offset_ = header.contexts_offset;
  reader.queues_offset_ = header.queues_offset;
  reader.pipelines_offset_ = header.pipelines_offset;
  reader.submissions_offset_ = header.submissions_offset;
  reader.objects_offset_ = header.objects_offset;
  reader.threads_offset_ = header.threads_offset;
  reader.functions_offset_ = header.functions_offset;
  reader.arenas_offset_ = header.arenas_offset;
  reader.driver_reports_offset_ = header.driver_reports_offset;
  reader.syncs_offset_ = header.syncs_offset;
  reader.faults_offset_ = header.faults_offset;
  reader.checkpoints_offset_ = header.checkpoints_offset;
  reader.shaders_offset_ = header.shaders_offset;
  reader.destructions_offset_ = header.destructions_offset;
  reader.memory_offset_ = header.memory_offset;
  return reader;
}

uint32_t BlockReader::ContextCount() const {
  return std::min(Load32(offsetof(BlockHeader, context_count)), kMaxContexts);
}
uint32_t BlockReader::QueueCount() const {
  return std::min(Load32(offsetof(BlockHeader, queue_count)), kMaxQueues);
}
uint32_t BlockReader::PipelineCount() const {
  return std::min(Load32(offsetof(BlockHeader, pipeline_count)), kMaxPipelines);
}
uint32_t BlockReader::ObjectCount() const {
  if (objects_offset_ == 0) return 0;
  return std::min(Load32(offsetof(BlockHeader, object_count)), kMaxObjects);
}
uint32_t BlockReader::ThreadCount() const {
  if (threads_offset_ == 0) return 0;
  return std::min(Load32(offsetof(BlockHeader, thread_count)), kMaxThreads);
}
uint32_t BlockReader::FunctionCount() const {
  if (functions_offset_ == 0) return 0;
  return std::min(Load32(functions_offset_ + offsetof(FunctionTable, count)), kMaxFunctions);
}
uint32_t BlockReader::ArenaCount() const {
  if (arenas_offset_ == 0) return 0;
  return std::min(Load32(offsetof(BlockHeader, arena_count)), kMaxArenas);
}
uint32_t BlockReader::ShaderCount() const {
  if (shaders_offset_ == 0) return 0;
  return std::min(Load32(offsetof(BlockHeader, shader_count)), kMaxShaders);
}

ContextTables BlockReader::TablesOf(const ContextRecord& record,
                                    std::span<const ContextTables> accepted) const {
  ContextTables tables;
  tables.recordings_offset = record.recordings_offset;
  tables.progress_offset = record.progress_offset;
  tables.raw_markers_offset = record.raw_marker_count == 0 ? 0 : record.raw_markers_offset;
  tables.recording_capacity = record.recording_capacity;
  tables.raw_marker_count = record.raw_marker_count;
  if (tables.recording_capacity > kMaxRecordings || tables.raw_marker_count > kMaxRawMarkers) {
    return ContextTables{};
  }
  const std::array<uint64_t, 3> sizes = {
      uint64_t{tables.recording_capacity} * sizeof(RecordingSlot),
      uint64_t{tables.recording_capacity} * sizeof(ProgressWords),
      uint64_t{tables.raw_marker_count} * 8};
  const std::array<uint64_t, 3> offsets = {tables.recordings_offset, tables.progress_offset,
                                           tables.raw_markers_offset};
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) continue;
    if (offsets[i] % 16 != 0 || offsets[i] < pages_offset_ || !Contains(offsets[i], sizes[i])) {
      return ContextTables{};
    }
  }
  const std::array<Range, 3> ranges = RangesOf(tables);
  if (Overlap(ranges[0], ranges[1]) || Overlap(ranges[0], ranges[2]) ||
      Overlap(ranges[1], ranges[2])) {
    return ContextTables{};
  }
  for (const ContextTables& other : accepted) {
    if (!other.usable) continue;
    for (const Range& theirs : RangesOf(other)) {
      for (const Range& ours : ranges) {
        if (Overlap(ours, theirs)) return ContextTables{};
      }
    }
  }
  tables.usable = true;
  return tables;
}

}  // namespace cairn
