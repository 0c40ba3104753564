// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/snapshot_file_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace cairn {

namespace {

constexpr size_t kLongestText = 1u << 16;

}  // namespace

Result<Snapshot> SnapshotFileReader::Read() {
  ReadChunks(kProcessChunk, &SnapshotFileReader::DecodeProcess, Expected::kAnyNumber);
  if (!process_found_) {
    return Status(StatusCode::kNotFound,
                  "the file holds no snapshot: no readable chunk PROC is in it");
  }
  // Files of version 1.0 lack these.
  const Expected later = is_later_version_ ? Expected::kOne : Expected::kAtMostOne;
  ReadTexts();
  ReadChunks(kDeviceChunk, &SnapshotFileReader::DecodeDevices, Expected::kOne);
  ReadChunks(kQueueChunk, &SnapshotFileReader::DecodeQueues, Expected::kOne);
  ReadChunks(kPipelineChunk, &SnapshotFileReader::DecodePipelines, Expected::kOne);
  ReadChunks(kAnnotationChunk, &SnapshotFileReader::DecodeAnnotations, later);
  ReadChunks(kObjectChunk, &SnapshotFileReader::DecodeObjects, later);
  ReadChunks(kEventChunk, &SnapshotFileReader::DecodeEvents, Expected::kAnyNumber);
  ReadChunks(kRecordingChunk, &SnapshotFileReader::DecodeRecordings, Expected::kOneOrMore);
  ReadChunks(kSubmissionChunk, &SnapshotFileReader::DecodeSubmissions, Expected::kOne);
  ReadChunks(kRawMarkerChunk, &SnapshotFileReader::DecodeRawMarkers, Expected::kOneOrMore);
  ReadChunks(kThreadChunk, &SnapshotFileReader::DecodeThreads, later);
  ReadChunks(kReportedEventIdChunk, &SnapshotFileReader::DecodeReportedEventIds, later);
  ReadChunks(kQueueMarkerChunk, &SnapshotFileReader::DecodeQueueMarkers, later);
  ReadChunks(kSyncChunk, &SnapshotFileReader::DecodeSyncs, Expected::kAtMostOne);
  ReadChunks(kFaultChunk, &SnapshotFileReader::DecodeFaults, Expected::kAtMostOne);
  ReadChunks(kCheckpointChunk, &SnapshotFileReader::DecodeCheckpoints, Expected::kAtMostOne);
  ReadChunks(kShaderChunk, &SnapshotFileReader::DecodeShaders, Expected::kAtMostOne);
  ReadChunks(kVendorBinaryChunk, &SnapshotFileReader::DecodeVendorBinary, Expected::kAnyNumber);
  ReadChunks(kShaderCodeChunk, &SnapshotFileReader::DecodeShaderCode, Expected::kAnyNumber);
  ReadChunks(kLossChunk, &SnapshotFileReader::DecodeLosses, Expected::kOne);
  CheckIncidents();
  const auto note_count = [this](uint64_t count, const char* what) {
    if (count != 0) NoteLoss(fmt::format("{} {}", count, what));
  };
  note_count(events_missing_, "markers are missing from the file.");
  note_count(bad_matches_, "markers contradict their neighbours and are ignored.");
  note_count(bad_indices_, "references lead nowhere and are ignored.");
  note_count(texts_.unknown_count(), "names are missing from the file.");
  note_count(events_left_out_, "events would cost more than a file of this size may: left out.");
  note_count(long_names_, "references to names of more than 4,096 bytes are cut there.");
  for (const Loss& loss : file_.losses()) {
    NoteLoss(fmt::format("The file is damaged at byte {}: {}.", loss.offset, loss.reason));
  }
  return std::move(snapshot_);
}

void SnapshotFileReader::ReadTexts() {
  for (size_t i = first_chunk_; i < file_.chunks().size(); ++i) {
    if (file_.chunks()[i].type != kTextChunk) continue;
    const Result<std::vector<std::byte>> payload = file_.Read(i);
    if (!payload.ok() || !texts_.AddPayload(*payload, &text_budget_bytes_, &snapshot_)) {
      NoteLoss("A part of the names is damaged.");
    }
  }
}

void SnapshotFileReader::ReadChunks(ChunkType type, Decoder decode, Expected expected) {
  bool found = false;
  for (size_t i = first_chunk_; i < file_.chunks().size(); ++i) {
    if (file_.chunks()[i].type != type) continue;
    if (found && (expected == Expected::kOne || expected == Expected::kAtMostOne)) continue;
    found = true;
    const Result<std::vector<std::byte>> payload = file_.Read(i);
    bool good = payload.ok();
    if (good) {
      ByteReader reader(*payload);
      good = (this->*decode)(reader);
    }
    if (!good) NoteLoss(fmt::format("A chunk {} is damaged.", ChunkTypeName(type)));
  }
  if (!found && (expected == Expected::kOne || expected == Expected::kOneOrMore)) {
    NoteLoss(fmt::format("The chunk {} is missing from the file.", ChunkTypeName(type)));
  }
}

bool SnapshotFileReader::ReadOwnText(ByteReader& reader, TextRef* text) {
  std::string_view value;
  if (!reader.ReadString(kLongestText, value) || value.size() > text_budget_bytes_) return false;
  text_budget_bytes_ -= value.size();
  *text = snapshot_.AddText(value);
  return true;
}

TextRef SnapshotFileReader::ReadBytes(ByteReader& reader) {
  uint64_t number = 0;
  reader.ReadVarint(number);
  return texts_.Text(number);
}

TextRef SnapshotFileReader::Shortened(TextRef text) {
  static_assert(kMaxFileNameBytes == 4096, "the sentence about long names says so");
  if (text.length <= kMaxFileNameBytes) return text;
  ++long_names_;
  const std::string_view kept = Utf8Prefix(snapshot_.Text(text), kMaxFileNameBytes);
  return {text.offset, static_cast<uint32_t>(kept.size())};
}

uint32_t SnapshotFileReader::Afford(uint32_t count, uint32_t weight, const char* what) {
  const auto kept = static_cast<uint32_t>(std::min<uint64_t>(count, row_budget_ / weight));
  row_budget_ -= uint64_t{kept} * weight;
  if (kept != count) {
    NoteLoss(
        fmt::format("{} of {} {} are left out: they would cost more than a file of {} bytes may.",
                    GroupedDigits(count - kept), GroupedDigits(count), what,
                    GroupedDigits(file_.size_bytes())));
  }
  return kept;
}

uint32_t SnapshotFileReader::ReadIndex(ByteReader& reader, size_t limit) {
  uint64_t value = 0;
  reader.ReadVarint(value);
  if (value == 0) return kNone;
  if (value > limit) {
    ++bad_indices_;
    return kNone;
  }
  return static_cast<uint32_t>(value - 1);
}

bool SnapshotFileReader::DecodeProcess(ByteReader& reader) {
  Process process;
  reader.ReadVarint(process.process_id);
  reader.ReadU64(process.start_time_ns);
  reader.ReadU64(process.snapshot_time_ns);
  uint32_t count = 0;
  if (!ReadOwnText(reader, &process.program) || !ReadOwnText(reader, &process.command_line) ||
      !ReadOwnText(reader, &process.library_version) || !reader.ReadCount(20, count) ||
      count > kMaxFileIncidents) {
    return false;
  }
  std::vector<Incident> incidents(count);
  for (Incident& incident : incidents) {
    uint32_t kind = 0;
    reader.ReadVarint32(kind);
    incident.kind = static_cast<IncidentKind>(kind);
    reader.ReadSignedVarint(incident.value);
    reader.ReadU64(incident.time_ns);
    // Checked in the end: queues are read later.
    incident.queue = ReadIndex(reader, kNone - 1);
    reader.ReadU64(incident.address);
    if (!ReadOwnText(reader, &incident.detail)) return false;
  }
  if (reader.remaining() != 0) {
    is_later_version_ = true;
    reader.ReadVarint(process.start_monotonic_ns);
  }
  snapshot_.process = process;
  snapshot_.incidents = std::move(incidents);
  process_found_ = true;
  return true;
}

bool SnapshotFileReader::DecodeDevices(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(15, count) || count > kMaxContexts) return false;
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    Device device;
    uint32_t api = 0, mode = 0, method = 0, memory = 0, flags = 0;
    int64_t lost_code = 0;
    reader.ReadVarint32(api);
    reader.ReadVarint32(mode);
    reader.ReadVarint32(method);
    reader.ReadVarint32(memory);
    device.api = static_cast<Api>(api);
    device.mode = static_cast<MarkerMode>(mode);
    device.method = static_cast<WriteMethod>(method);
    device.memory = static_cast<WordMemory>(memory);
    reader.ReadVarint32(device.mirror_period_us);
    reader.ReadVarint(device.frame);
    reader.ReadVarint(device.lists_dropped);
    reader.ReadVarint32(flags);
    device.destroyed = (flags & 1) != 0;
    device.device_lost = (flags & 2) != 0;
    reader.ReadSignedVarint(lost_code);
    device.device_lost_code = static_cast<int32_t>(lost_code);
    device.name = ReadText(reader);
    device.driver = ReadText(reader);
    device.notes = ReadText(reader);
    reader.ReadVarint32(device.vendor_id);
    reader.ReadVarint32(device.device_id);
    device.first_source = static_cast<uint32_t>(snapshot_.sources.size());
    if (!reader.ReadCount(3, device.source_count) || device.source_count > kMaxSources) {
      return false;
    }
    for (uint32_t s = 0; s < device.source_count; ++s) {
      Source source;
      uint32_t state = 0;
      source.name = ReadText(reader);
      reader.ReadVarint32(state);
      source.state = static_cast<SourceState>(state);
      source.reason = ReadText(reader);
      snapshot_.sources.push_back(source);
    }
    if (reader.ok()) snapshot_.devices.push_back(device);
  }
  if (reader.remaining() == 0) return reader.ok();
  for (Device& device : snapshot_.devices) {
    uint32_t flags = 0;
    device.annotation_driver = ReadText(reader);
    reader.ReadVarint32(flags);
    device.annotations_forced = (flags & 1) != 0;
    device.application = ReadText(reader);
  }
  return reader.ok();
}

bool SnapshotFileReader::DecodeLosses(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(1, count)) return false;
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    if (snapshot_.losses.size() == kMaxFileLosses) return true;
    snapshot_.losses.push_back(ReadText(reader));
  }
  return reader.ok();
}

void SnapshotFileReader::CheckIncidents() {
  for (Incident& incident : snapshot_.incidents) {
    if (incident.queue == kNone || incident.queue < snapshot_.queues.size()) continue;
    incident.queue = kNone;
    ++bad_indices_;
  }
}

Result<Snapshot> ReadSnapshot(const FileReader& reader) {
  return SnapshotFileReader(reader).Read();
}

}  // namespace cairn
