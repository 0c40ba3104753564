// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "format/snapshot/event_matching.h"
#include "format/snapshot/snapshot_file_reader.h"
#include "format/snapshot/snapshot_from_block.h"

namespace cairn {

namespace {

EventKind KindOf(uint8_t bits) {
  if ((bits & kEventBitBind) != 0) return EventKind::kBind;
  return (bits & kEventBitEnd) != 0 ? EventKind::kEnd : EventKind::kBegin;
}

}  // namespace

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
  const uint32_t kept = Afford(count, 4, "pipelines");
  for (uint32_t i = 0; i < kept; ++i) {
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
  // The column behind them begins where the last one ends.
  if (reader.remaining() == 0 || kept != count) return true;
  for (Pipeline& pipeline : snapshot_.pipelines) {
    for (uint64_t& hash : pipeline.shader_hashes) reader.ReadVarint(hash);
  }
  return reader.ok();
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
    event.call = call;
  }
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
  // Columns: all of them or none.
  if (row_budget_ < count) {
    events_left_out_ += count;
    return true;
  }
  row_budget_ -= count;
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
    event.name = Shortened(texts_.Text(number));
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
  const uint32_t kept = Afford(count, 3, "command lists");
  uint64_t recording_id = 0;
  uint64_t frame = 0;
  if (count >
      kMaxFileRecordings - std::min<size_t>(kMaxFileRecordings, snapshot_.recordings.size())) {
    return false;
  }
  for (uint32_t i = 0; i < kept; ++i) {
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
    const uint64_t first_event = expected_event_ + static_cast<uint64_t>(event_step);
    // Two recordings never share events, or a small file could stand for endless ones.
    if (!reader.ok() || first_event < expected_event_) return false;
    expected_event_ = first_event + recording.event_count;
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
  const uint32_t kept = Afford(count, 4, "submissions");
  Submission submission;
  for (uint32_t i = 0; i < kept; ++i) {
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
    if (submission.recording != kNone) {
      submission.frame = snapshot_.recordings[submission.recording].frame;
    }
    snapshot_.submissions.push_back(submission);
  }
  // The column behind them begins where the last one ends.
  if (reader.remaining() == 0 || kept != count) return true;
  uint64_t frame = 0;
  for (Submission& told : snapshot_.submissions) {
    int64_t step = 0;
    reader.ReadSignedVarint(step);
    told.frame = frame += static_cast<uint64_t>(step);
  }
  return reader.ok();
}

bool SnapshotFileReader::DecodeRawMarkers(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(10, count) ||
      count >
          kMaxFileRawMarkers - std::min<size_t>(kMaxFileRawMarkers, snapshot_.raw_markers.size())) {
    return false;
  }
  const uint32_t kept = Afford(count, 1, "raw markers");
  for (uint32_t i = 0; i < kept; ++i) {
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

}  // namespace cairn
