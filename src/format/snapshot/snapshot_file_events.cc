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
    event.flags = static_cast<uint8_t>(bits >> 2 & (kEventWritesTop | kEventWritesBottom));
    event.flags |=
        event.kind == EventKind::kEnd ? bits & kEventDrains : bits >> 2 & kEventNameTruncated;
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

bool SnapshotFileReader::Accept(Recording& recording) {
  // Two recordings never share events, or a small file could stand for endless ones.
  if (first_event_in_file_ < next_event_) return false;
  next_event_ = first_event_in_file_ + recording.event_count;
  PlaceEvents(first_event_in_file_, &recording);
  if (snapshot_.recordings.empty()) return true;
  const Recording& before = snapshot_.recordings.back();
  return std::tie(before.device, before.frame, before.recording_id) <=
         std::tie(recording.device, recording.frame, recording.recording_id);
}

}  // namespace cairn
