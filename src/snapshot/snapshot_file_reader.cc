// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "base/text.h"
#include "snapshot/event_matching.h"
#include "snapshot/snapshot_file.h"
#include "snapshot/snapshot_from_block.h"
#include "snapshot/text_pool.h"

namespace cairn {
namespace {

constexpr size_t kLongestText = 1u << 16;

// Events of the file that follow one another, and where they are in the snapshot.
struct EventRun {
  uint64_t first_in_file;
  uint64_t count;
  uint64_t first;
};

class SnapshotFileReader {
 public:
  explicit SnapshotFileReader(const FileReader& file) : file_(file) {
    for (size_t i = 0; i < file.chunks().size(); ++i) {
      if (file.chunks()[i].type == kSnapshotStartChunk) first_chunk_ = i;
    }
  }

  Result<Snapshot> Read();

 private:
  using Decoder = bool (SnapshotFileReader::*)(ByteReader&);

  void ReadTexts();
  // Decodes the chunks of a type with `decode`, which returns false for a malformed payload.
  enum class Expected { kAnyNumber, kOne, kAtMostOne };
  void ReadChunks(ChunkType type, Decoder decode, Expected expected);
  void NoteLoss(const std::string& sentence) {
    snapshot_.losses.push_back(snapshot_.AddText(sentence));
  }

  bool DecodeProcess(ByteReader& reader);
  bool DecodeDevices(ByteReader& reader);
  bool DecodeQueues(ByteReader& reader);
  bool DecodePipelines(ByteReader& reader);
  bool DecodeRecordings(ByteReader& reader);
  bool DecodeEvents(ByteReader& reader);
  void DecodeEventDetails(std::span<Event> events, std::span<const uint8_t> bits,
                          ByteReader& reader);
  bool DecodeAnnotations(ByteReader& reader);
  bool DecodeObjects(ByteReader& reader);
  bool DecodeThreads(ByteReader& reader);
  bool DecodeReportedEventIds(ByteReader& reader);
  bool DecodeQueueMarkers(ByteReader& reader);
  bool DecodeSubmissions(ByteReader& reader);
  bool DecodeRawMarkers(ByteReader& reader);
  bool DecodeSyncs(ByteReader& reader);
  bool DecodeFaults(ByteReader& reader);
  bool DecodeFault(ByteReader& reader);
  bool DecodeVendorBinary(ByteReader& reader);
  bool DecodeCheckpoints(ByteReader& reader);
  bool DecodeShaders(ByteReader& reader);
  bool DecodeShaderCode(ByteReader& reader);
  // The next `size` bytes of a payload as a blob; empty if there are not so many, or too many in all.
  BlobRef ReadBlob(ByteReader& reader, uint64_t size);
  bool DecodeLosses(ByteReader& reader);

  bool ReadOwnText(ByteReader& reader, TextRef* text);
  TextRef ReadText(ByteReader& reader);
  // A one-based index below `limit`; 0, and what is out of range (counted), becomes kNone.
  uint32_t ReadIndex(ByteReader& reader, size_t limit);
  // Finds the recording's events; without them it keeps its words, which then prove nothing.
  void PlaceEvents(uint64_t first_in_file, Recording* recording);
  void CheckIncidents();

  const FileReader& file_;
  size_t first_chunk_ = 0;
  Snapshot snapshot_;
  TextPoolReader texts_;
  uint64_t text_budget_bytes_ = kMaxFileTextBytes;
  std::vector<EventRun> event_runs_;
  std::vector<uint32_t> open_events_;
  std::vector<uint8_t> event_bits_;
  bool process_found_ = false;
  bool is_later_version_ = false;
  uint64_t bad_indices_ = 0;
  uint64_t bad_matches_ = 0;
  uint64_t events_missing_ = 0;
};

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
  ReadChunks(kRecordingChunk, &SnapshotFileReader::DecodeRecordings, Expected::kOne);
  ReadChunks(kSubmissionChunk, &SnapshotFileReader::DecodeSubmissions, Expected::kOne);
  ReadChunks(kRawMarkerChunk, &SnapshotFileReader::DecodeRawMarkers, Expected::kOne);
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
    if (file_.chunks()[i].type != type || (found && expected != Expected::kAnyNumber)) continue;
    found = true;
    const Result<std::vector<std::byte>> payload = file_.Read(i);
    bool good = payload.ok();
    if (good) {
      ByteReader reader(*payload);
      good = (this->*decode)(reader);
    }
    if (!good) NoteLoss(fmt::format("A chunk {} is damaged.", ChunkTypeName(type)));
  }
  if (!found && expected == Expected::kOne) {
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

TextRef SnapshotFileReader::ReadText(ByteReader& reader) {
  uint64_t number = 0;
  reader.ReadVarint(number);
  return texts_.Text(number);
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
      !ReadOwnText(reader, &process.library_version) || !reader.ReadCount(20, count)) {
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
  if (!reader.ReadCount(15, count)) return false;
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
    if (!reader.ReadCount(3, device.source_count)) return false;
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

bool SnapshotFileReader::DecodeQueues(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(6, count) || count > kMaxQueues) return false;
  for (uint32_t i = 0; i < count; ++i) {
    Queue queue;
    queue.device = ReadIndex(reader, snapshot_.devices.size());
    reader.ReadVarint32(queue.type);
    queue.name = ReadText(reader);
    reader.ReadVarint(queue.native_handle);
    reader.ReadVarint(queue.submission_count);
    reader.ReadVarint(queue.completed_submission);
    if (!reader.ok()) return false;
    snapshot_.queues.push_back(queue);
  }
  return true;
}

bool SnapshotFileReader::DecodePipelines(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(4 + kStageCount, count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    Pipeline pipeline;
    uint32_t flags = 0;
    pipeline.device = ReadIndex(reader, snapshot_.devices.size());
    reader.ReadVarint32(flags);
    pipeline.unregistered = (flags & 1) != 0;
    pipeline.name = ReadText(reader);
    for (TextRef& shader : pipeline.shader_names) shader = ReadText(reader);
    reader.ReadVarint(pipeline.native_handle);
    if (!reader.ok()) return false;
    snapshot_.pipelines.push_back(pipeline);
  }
  if (reader.remaining() == 0) return true;
  for (Pipeline& pipeline : snapshot_.pipelines) {
    for (uint64_t& hash : pipeline.shader_hashes) reader.ReadVarint(hash);
  }
  return reader.ok();
}

EventKind KindOf(uint8_t bits) {
  if ((bits & kEventBitBind) != 0) return EventKind::kBind;
  return (bits & kEventBitEnd) != 0 ? EventKind::kEnd : EventKind::kBegin;
}

// The columns behind those of version 1.0.
void SnapshotFileReader::DecodeEventDetails(std::span<Event> events, std::span<const uint8_t> bits,
                                            ByteReader& reader) {
  uint64_t annotation = ~uint64_t{0};
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind != EventKind::kBegin || (bits[i] & kEventBitAnnotation) == 0) continue;
    int64_t step = 0;
    reader.ReadSignedVarint(step);
    annotation += static_cast<uint64_t>(step);
    if (annotation < snapshot_.annotations.size()) {
      events[i].detail = static_cast<uint32_t>(annotation);
    } else {
      ++bad_indices_;
    }
  }
  const size_t first_bind = snapshot_.binds.size();
  for (Event& event : events) {
    if (event.kind != EventKind::kBind) continue;
    uint32_t point = 0;
    reader.ReadVarint32(point);
    event.type = static_cast<uint16_t>(std::min(point, 0xFFFFu));
    event.detail = static_cast<uint32_t>(snapshot_.binds.size());
    snapshot_.binds.emplace_back();
  }
  for (size_t i = first_bind; i < snapshot_.binds.size(); ++i) {
    reader.ReadVarint32(snapshot_.binds[i].slot);
  }
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind != EventKind::kBind) continue;
    Bind& bind = snapshot_.binds[events[i].detail];
    bind.is_address = (bits[i] & kEventBitAddress) != 0;
    if (bind.is_address) {
      reader.ReadVarint(bind.value);
    } else {
      bind.value = ReadIndex(reader, snapshot_.objects.size());
    }
  }
  if (reader.remaining() == 0) return;
  uint64_t call = 0;
  for (Event& event : events) {
    if (event.kind != EventKind::kBegin) continue;
    int64_t step = 0;
    reader.ReadSignedVarint(step);
    call += static_cast<uint64_t>(step);
    event.call = static_cast<uint32_t>(call);
  }
}

bool SnapshotFileReader::DecodeAnnotations(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(6, count)) return false;
  uint64_t event_id = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Annotation annotation;
    int64_t step = 0;
    uint64_t colour = 0;
    reader.ReadSignedVarint(step);
    annotation.event_id = event_id += static_cast<uint64_t>(step);
    reader.ReadVarint32(annotation.metadata);
    reader.ReadVarint32(annotation.size_bytes);
    reader.ReadVarint(colour);
    annotation.has_colour = colour != 0;
    annotation.colour = colour == 0 ? 0 : static_cast<uint32_t>(colour - 1);
    annotation.name = ReadText(reader);
    annotation.payload = ReadText(reader);
    if (!reader.ok()) return false;
    snapshot_.annotations.push_back(annotation);
  }
  return true;
}

bool SnapshotFileReader::DecodeObjects(ByteReader& reader) {
  uint32_t count = 0;
  // A free entry takes one byte of the file and a hundred of memory.
  if (!reader.ReadCount(1, count) || count > kMaxFileObjects) return false;
  uint64_t serial = 0;
  uint64_t created = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Object object;
    uint32_t flags = 0;
    int64_t serial_step = 0, created_step = 0, lifetime = 0;
    reader.ReadVarint32(flags);
    object.state = static_cast<ObjectState>(std::min(flags & 3, 2u));
    if (object.state != ObjectState::kFree) {
      object.name_cut = (flags & 4) != 0;
      reader.ReadVarint32(object.kind);
      object.device = ReadIndex(reader, snapshot_.devices.size());
      object.name = ReadText(reader);
      reader.ReadVarint(object.native_handle);
      reader.ReadSignedVarint(serial_step);
      reader.ReadSignedVarint(created_step);
      object.serial = serial += static_cast<uint64_t>(serial_step);
      object.created_ns = created += static_cast<uint64_t>(created_step);
      if (object.state == ObjectState::kDestroyed) {
        reader.ReadSignedVarint(lifetime);
        object.destroyed_ns = created + static_cast<uint64_t>(lifetime);
      }
      reader.ReadVarint(object.gpu_address);
      reader.ReadVarint(object.size_bytes);
      reader.ReadVarint(object.signalled);
      reader.ReadVarint(object.waited);
      reader.ReadVarint(object.completed);
    }
    if (!reader.ok()) return false;
    snapshot_.objects.push_back(object);
  }
  return true;
}

bool SnapshotFileReader::DecodeThreads(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(5, count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    Thread thread;
    uint32_t flags = 0, call_count = 0;
    reader.ReadVarint32(thread.thread_id);
    reader.ReadVarint32(flags);
    thread.ended = (flags & 1) != 0;
    thread.name = ReadText(reader);
    reader.ReadVarint(thread.ended_ns);
    thread.first_call = static_cast<uint32_t>(snapshot_.calls.size());
    if (!reader.ReadCount(4, call_count)) return false;
    uint64_t number = 0;
    for (uint32_t c = 0; c < call_count; ++c) {
      Call call;
      uint64_t step = 0;
      reader.ReadVarint(step);
      reader.ReadVarint32(flags);
      call.number = number += step;
      call.returned = (flags & 1) != 0;
      reader.ReadVarint(call.object);
      call.function = ReadText(reader);
      if (!reader.ok() || step > number) return false;
      snapshot_.calls.push_back(call);
      ++thread.call_count;
    }
    snapshot_.threads.push_back(thread);
  }
  return true;
}

bool SnapshotFileReader::DecodeReportedEventIds(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(4, count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    ReportedEventId reported;
    uint32_t state = 0;
    reported.device = ReadIndex(reader, snapshot_.devices.size());
    reader.ReadVarint(reported.event_id);
    reader.ReadVarint32(state);
    reported.annotation = ReadIndex(reader, snapshot_.annotations.size());
    if (!reader.ok()) return false;
    if (state == static_cast<uint32_t>(EventIdState::kExpired)) {
      reported.state = EventIdState::kExpired;
    } else if (reported.annotation != kNone) {
      reported.state = EventIdState::kResolved;
    }
    if (reported.state != EventIdState::kResolved) reported.annotation = kNone;
    snapshot_.reported_event_ids.push_back(reported);
  }
  return true;
}

bool SnapshotFileReader::DecodeQueueMarkers(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(5, count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    QueueMarker marker;
    uint32_t kind = 0;
    marker.queue = ReadIndex(reader, snapshot_.queues.size());
    reader.ReadVarint(marker.native_handle);
    reader.ReadVarint32(kind);
    reader.ReadVarint32(marker.submission);
    marker.annotation = ReadIndex(reader, snapshot_.annotations.size());
    if (!reader.ok() || kind < static_cast<uint32_t>(QueueMarkerKind::kBegin) ||
        kind > static_cast<uint32_t>(QueueMarkerKind::kEnd)) {
      return false;
    }
    marker.kind = static_cast<QueueMarkerKind>(kind);
    snapshot_.queue_markers.push_back(marker);
  }
  return true;
}

bool SnapshotFileReader::DecodeEvents(ByteReader& reader) {
  uint64_t first = 0;
  uint32_t count = 0;
  reader.ReadVarint(first);
  const uint64_t end_before =
      event_runs_.empty() ? 0 : event_runs_.back().first_in_file + event_runs_.back().count;
  if (!reader.ReadCount(1, count) || first < end_before ||
      snapshot_.events.size() + count > kMaxSnapshotEvents || first > kMaxSnapshotEvents) {
    return false;
  }
  const size_t begin = snapshot_.events.size();
  const size_t first_bind = snapshot_.binds.size();
  snapshot_.events.resize(begin + count);
  const std::span<Event> events = std::span(snapshot_.events).subspan(begin);
  event_bits_.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    Event& event = events[i];
    uint8_t& bits = event_bits_[i];
    reader.ReadU8(bits);
    event.kind = KindOf(bits);
    event.match =
        event.kind == EventKind::kEnd && (bits & kEventBitMatched) != 0 ? kMatchInnermost : 0;
    event.flags = static_cast<uint8_t>(
        bits >> 2 & (kEventWritesTop | kEventWritesBottom | kEventNameTruncated));
  }
  for (Event& event : events) {
    uint32_t type = 0;
    if (event.kind == EventKind::kBegin) reader.ReadVarint32(type);
    event.type = static_cast<uint16_t>(std::min(type, 0xFFFFu));
  }
  for (Event& event : events) {
    if (event.kind == EventKind::kBegin) {
      event.pipeline = ReadIndex(reader, snapshot_.pipelines.size());
    }
  }
  uint64_t number = 0;
  for (Event& event : events) {
    if (event.kind != EventKind::kBegin) continue;
    int64_t step = 0;
    reader.ReadSignedVarint(step);
    number += static_cast<uint64_t>(step);
    event.name = texts_.Text(number);
  }
  DecodeEventDetails(events, event_bits_, reader);
  if (!reader.ok()) {
    snapshot_.events.resize(begin);
    snapshot_.binds.resize(first_bind);
    return false;
  }
  if (!event_runs_.empty() && first == end_before) {
    event_runs_.back().count += count;
  } else {
    event_runs_.push_back({first, count, begin});
  }
  return true;
}

void SnapshotFileReader::PlaceEvents(uint64_t first_in_file, Recording* recording) {
  const auto after = std::upper_bound(
      event_runs_.begin(), event_runs_.end(), first_in_file,
      [](uint64_t wanted, const EventRun& run) { return wanted < run.first_in_file; });
  if (recording->event_count != 0 && after != event_runs_.begin()) {
    const EventRun& run = *std::prev(after);
    const uint64_t skip = first_in_file - run.first_in_file;
    if (skip <= run.count && recording->event_count <= run.count - skip) {
      recording->first_event = static_cast<uint32_t>(run.first + skip);
      bad_matches_ += MatchEvents(
          std::span(snapshot_.events).subspan(recording->first_event, recording->event_count),
          open_events_);
      return;
    }
  }
  events_missing_ += recording->event_count;
  recording->first_event = 0;
  recording->event_count = 0;
}

bool SnapshotFileReader::DecodeRecordings(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(16, count)) return false;
  uint64_t recording_id = 0;
  uint64_t frame = 0;
  uint64_t expected_event = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Recording recording;
    int64_t id_step = 0, frame_step = 0, event_step = 0;
    uint32_t flags = 0;
    recording.device = ReadIndex(reader, snapshot_.devices.size());
    recording.queue = ReadIndex(reader, snapshot_.queues.size());
    reader.ReadSignedVarint(id_step);
    reader.ReadSignedVarint(frame_step);
    recording.recording_id = recording_id += static_cast<uint64_t>(id_step);
    recording.frame = frame += static_cast<uint64_t>(frame_step);
    reader.ReadVarint(recording.submission_index);
    reader.ReadVarint(recording.native_handle);
    recording.name = ReadText(reader);
    reader.ReadVarint32(flags);
    recording.open = (flags & 1) != 0;
    recording.reusable = (flags & 2) != 0;
    recording.secondary = (flags & 4) != 0;
    reader.ReadSignedVarint(event_step);
    reader.ReadVarint32(recording.event_count);
    reader.ReadVarint32(recording.dropped_count);
    reader.ReadVarint32(recording.reached);
    reader.ReadVarint32(recording.passed);
    reader.ReadVarint32(recording.runs);
    reader.ReadVarint32(recording.submit_count);
    reader.ReadVarint32(recording.finished_runs);
    const uint64_t first_event = expected_event + static_cast<uint64_t>(event_step);
    // Two recordings never share events, or a small file could stand for endless ones.
    if (!reader.ok() || first_event < expected_event) return false;
    expected_event = first_event + recording.event_count;
    PlaceEvents(first_event, &recording);
    if (!snapshot_.recordings.empty()) {
      const Recording& before = snapshot_.recordings.back();
      if (std::tie(recording.device, recording.frame, recording.recording_id) <
          std::tie(before.device, before.frame, before.recording_id)) {
        return false;
      }
    }
    snapshot_.recordings.push_back(recording);
  }
  return true;
}

bool SnapshotFileReader::DecodeSubmissions(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(6, count)) return false;
  Submission submission;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t serial_step = 0;
    int64_t number_step = 0, time_step = 0;
    reader.ReadVarint(serial_step);
    submission.queue = ReadIndex(reader, snapshot_.queues.size());
    submission.recording = ReadIndex(reader, snapshot_.recordings.size());
    reader.ReadVarint32(submission.run);
    reader.ReadSignedVarint(number_step);
    reader.ReadSignedVarint(time_step);
    const uint64_t serial = submission.serial + serial_step;
    if (!reader.ok() || serial < submission.serial) return false;
    submission.serial = serial;
    submission.number += static_cast<uint64_t>(number_step);
    submission.time_ns += static_cast<uint64_t>(time_step);
    snapshot_.submissions.push_back(submission);
  }
  return true;
}

bool SnapshotFileReader::DecodeRawMarkers(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(10, count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    RawMarker marker;
    marker.device = ReadIndex(reader, snapshot_.devices.size());
    reader.ReadVarint32(marker.index);
    reader.ReadU64(marker.value);
    if (!reader.ok()) return false;
    snapshot_.raw_markers.push_back(marker);
  }
  return true;
}

bool SnapshotFileReader::DecodeSyncs(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(10, count) || count > kSyncRing) return false;
  Sync sync;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t serial_step = 0;
    uint32_t kind = 0;
    int64_t number_step = 0, time_step = 0;
    reader.ReadVarint(serial_step);
    reader.ReadVarint32(kind);
    reader.ReadVarint32(sync.flags);
    sync.device = ReadIndex(reader, snapshot_.devices.size());
    sync.queue = ReadIndex(reader, snapshot_.queues.size());
    reader.ReadSignedVarint(number_step);
    reader.ReadVarint(sync.native_handle);
    sync.object = ReadIndex(reader, snapshot_.objects.size());
    reader.ReadVarint(sync.value);
    reader.ReadSignedVarint(time_step);
    sync.kind = static_cast<SyncKind>(kind);
    const uint64_t serial = sync.serial + serial_step;
    if (!reader.ok() || serial < sync.serial ||
        (sync.kind != SyncKind::kWait && sync.kind != SyncKind::kSignal)) {
      return false;
    }
    sync.serial = serial;
    sync.submission_number += static_cast<uint64_t>(number_step);
    sync.time_ns += static_cast<uint64_t>(time_step);
    snapshot_.syncs.push_back(sync);
  }
  return true;
}

bool SnapshotFileReader::DecodeFaults(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(8, count) || count > kMaxContexts) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!DecodeFault(reader)) return false;
  }
  return true;
}

bool SnapshotFileReader::DecodeFault(ByteReader& reader) {
  Fault fault;
  int64_t result = 0;
  fault.device = ReadIndex(reader, snapshot_.devices.size());
  reader.ReadSignedVarint(result);
  fault.result = static_cast<int32_t>(result);
  reader.ReadVarint(fault.time_ns);
  fault.source = ReadText(reader);
  fault.description = ReadText(reader);
  fault.first_address = static_cast<uint32_t>(snapshot_.fault_addresses.size());
  fault.first_vendor_info = static_cast<uint32_t>(snapshot_.vendor_infos.size());
  uint32_t count = 0;
  if (!reader.ReadCount(3, count) || count > kMaxFaultAddresses) return false;
  for (uint32_t i = 0; i < count; ++i) {
    FaultAddress address = {};
    uint32_t type = 0;
    reader.ReadVarint32(type);
    address.type = static_cast<FaultAddressType>(type);
    reader.ReadVarint(address.address);
    reader.ReadVarint(address.precision);
    snapshot_.fault_addresses.push_back(address);
  }
  fault.address_count = count;
  if (!reader.ReadCount(3, count) || count > kMaxFaultVendorInfos) return false;
  for (uint32_t i = 0; i < count; ++i) {
    VendorInfo info;
    info.description = ReadText(reader);
    reader.ReadVarint(info.code);
    reader.ReadVarint(info.data);
    snapshot_.vendor_infos.push_back(info);
  }
  fault.vendor_info_count = count;
  reader.ReadVarint(fault.vendor_binary_bytes);
  if (!reader.ok()) return false;
  snapshot_.faults.push_back(fault);
  return true;
}

BlobRef SnapshotFileReader::ReadBlob(ByteReader& reader, uint64_t size) {
  std::span<const std::byte> bytes;
  if (size > kMaxFileBlobBytes - snapshot_.blobs.size() || size > reader.remaining() ||
      !reader.ReadBytes(static_cast<size_t>(size), bytes)) {
    return {};
  }
  const BlobRef blob{snapshot_.blobs.size(), size};
  snapshot_.blobs.insert(snapshot_.blobs.end(), bytes.begin(), bytes.end());
  return blob;
}

// Bytes of which some are missing are of no use to those who can read them.
bool SnapshotFileReader::DecodeVendorBinary(ByteReader& reader) {
  const uint32_t index = ReadIndex(reader, snapshot_.faults.size());
  if (!reader.ok() || index == kNone) return false;
  Fault& fault = snapshot_.faults[index];
  if (!fault.vendor_binary.empty() || fault.vendor_binary_bytes != reader.remaining()) return false;
  fault.vendor_binary = ReadBlob(reader, fault.vendor_binary_bytes);
  return !fault.vendor_binary.empty();
}

bool SnapshotFileReader::DecodeCheckpoints(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(5, count) || count > kMaxContexts * kMaxCheckpoints) return false;
  for (uint32_t i = 0; i < count; ++i) {
    Checkpoint checkpoint;
    uint32_t stage = 0;
    checkpoint.device = ReadIndex(reader, snapshot_.devices.size());
    checkpoint.queue = ReadIndex(reader, snapshot_.queues.size());
    reader.ReadVarint32(stage);
    checkpoint.recording = ReadIndex(reader, snapshot_.recordings.size());
    reader.ReadVarint32(checkpoint.sequence);
    if (!reader.ok()) return false;
    if (stage == static_cast<uint32_t>(PipeStage::kTop)) checkpoint.stage = PipeStage::kTop;
    if (stage == static_cast<uint32_t>(PipeStage::kBottom)) checkpoint.stage = PipeStage::kBottom;
    snapshot_.checkpoints.push_back(checkpoint);
  }
  return true;
}

bool SnapshotFileReader::DecodeShaders(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(10, count)) return false;
  std::unordered_set<uint64_t> known;
  for (uint32_t i = 0; i < count; ++i) {
    Shader shader;
    uint32_t code = 0;
    reader.ReadU64(shader.hash);
    reader.ReadVarint32(code);
    shader.code = static_cast<ShaderCode>(code);
    reader.ReadVarint(shader.size_bytes);
    if (!reader.ok() || !known.insert(shader.hash).second) return false;
    snapshot_.shaders.push_back(shader);
  }
  return true;
}

bool SnapshotFileReader::DecodeShaderCode(ByteReader& reader) {
  while (reader.remaining() != 0) {
    uint64_t size = 0;
    const uint32_t index = ReadIndex(reader, snapshot_.shaders.size());
    reader.ReadVarint(size);
    if (!reader.ok() || index == kNone) return false;
    Shader& shader = snapshot_.shaders[index];
    if (!shader.bytes.empty() || shader.size_bytes != size) return false;
    shader.bytes = ReadBlob(reader, size);
    if (shader.bytes.empty()) return false;
  }
  return reader.ok();
}

bool SnapshotFileReader::DecodeLosses(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(1, count)) return false;
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
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

}  // namespace

Result<Snapshot> ReadSnapshot(const FileReader& reader) {
  return SnapshotFileReader(reader).Read();
}

}  // namespace cairn
