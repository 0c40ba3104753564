// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
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

// Skips this many varints, however they are malformed: whoever reads them notices.
bool SkipVarints(ByteReader& reader, size_t count) {
  std::span<const std::byte> rest;
  ByteReader(reader).ReadBytes(reader.remaining(), rest);
  size_t at = 0;
  // Each ends with its only byte below 0x80.
  while (count >= 8 && rest.size() - at >= 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, rest.data() + at, 8);
    count -= static_cast<size_t>(std::popcount(~eight & 0x8080'8080'8080'8080));
    at += 8;
  }
  for (; count != 0 && at < rest.size(); ++at) count -= rest[at] < std::byte{0x80} ? 1 : 0;
  return count == 0 && reader.Skip(at);
}

void AddStep(ByteReader& column, uint64_t* value) {
  int64_t step = 0;
  column.ReadSignedVarint(step);
  *value += static_cast<uint64_t>(step);
}

}  // namespace

// The columns of a payload, each with a reader of its own: so each event is written once, and no column is walked for
// each event before it.
struct SnapshotFileReader::EventColumns {
  // `reader` stands behind the first column, `bits`. False: they are not all there.
  bool Find(std::span<const std::byte> bits, ByteReader reader) {
    size_t begins = 0;
    size_t binds = 0;
    size_t annotated = 0;
    for (const std::byte byte : bits) {
      const auto value = static_cast<unsigned>(byte);
      const bool is_begin = (value & (kEventBitEnd | kEventBitBind)) == 0;
      begins += is_begin ? 1 : 0;
      annotated += is_begin && (value & kEventBitAnnotation) != 0 ? 1 : 0;
      binds += (value & kEventBitBind) != 0 ? 1 : 0;
    }
    const auto find = [&reader](ByteReader& column, size_t count) {
      column = reader;
      return SkipVarints(reader, count);
    };
    if (!find(types, begins) || !find(pipelines, begins) || !find(names, begins) ||
        !find(annotations, annotated) || !find(points, binds) || !find(slots, binds) ||
        !find(values, binds)) {
      return false;
    }
    has_calls = reader.remaining() != 0;
    return !has_calls || find(calls, begins);
  }
  // False: some value was malformed.
  bool ok() const {
    return types.ok() && pipelines.ok() && names.ok() && annotations.ok() && points.ok() &&
           slots.ok() && values.ok() && calls.ok();
  }

  ByteReader types{{}};  // of begins, as the next two
  ByteReader pipelines{{}};
  ByteReader names{{}};
  ByteReader annotations{{}};  // of begins that have one
  ByteReader points{{}};       // of binds, as the next two
  ByteReader slots{{}};
  ByteReader values{{}};
  ByteReader calls{{}};  // of begins
  bool has_calls = false;
  // The values before, of those columns that hold steps.
  uint64_t name = 0;
  uint64_t annotation = ~uint64_t{0};
  uint64_t call = 0;
};

void SnapshotFileReader::DecodeBegin(uint8_t bits, EventColumns& columns, Event* event) {
  uint32_t type = 0;
  columns.types.ReadVarint32(type);
  event->type = static_cast<uint16_t>(std::min(type, 0xFFFFu));
  event->pipeline = ReadIndex(columns.pipelines, snapshot_.pipelines.size());
  AddStep(columns.names, &columns.name);
  event->name = Shortened(texts_.Text(columns.name));
  if ((bits & kEventBitAnnotation) != 0) {
    AddStep(columns.annotations, &columns.annotation);
    if (columns.annotation < snapshot_.annotations.size()) {
      event->detail = static_cast<uint32_t>(columns.annotation);
    } else {
      ++bad_indices_;
    }
  }
  if (!columns.has_calls) return;
  AddStep(columns.calls, &columns.call);
  event->call = columns.call;
}

void SnapshotFileReader::DecodeBind(uint8_t bits, EventColumns& columns, Event* event) {
  uint32_t point = 0;
  columns.points.ReadVarint32(point);
  event->type = static_cast<uint16_t>(std::min(point, 0xFFFFu));
  event->detail = static_cast<uint32_t>(snapshot_.binds.size());
  Bind& bind = snapshot_.binds.emplace_back();
  columns.slots.ReadVarint32(bind.slot);
  bind.is_address = (bits & kEventBitAddress) != 0;
  if (bind.is_address) {
    columns.values.ReadVarint(bind.value);
  } else {
    bind.value = ReadIndex(columns.values, snapshot_.objects.size());
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
  std::span<const std::byte> all_bits;
  EventColumns columns;
  if (!reader.ReadBytes(count, all_bits) || !columns.Find(all_bits, reader)) return false;
  std::vector<Event>& events = snapshot_.events;
  const size_t begin = events.size();
  const size_t first_bind = snapshot_.binds.size();
  if (events.capacity() < begin + count) {
    events.reserve(std::max(begin + count, 2 * events.capacity()));
  }
  for (const std::byte byte : all_bits) {
    const auto bits = static_cast<uint8_t>(byte);
    Event& event = events.emplace_back();
    event.kind = KindOf(bits);
    event.flags = static_cast<uint8_t>(bits >> 2 & (kEventWritesTop | kEventWritesBottom));
    if (event.kind == EventKind::kEnd) {
      event.flags |= bits & kEventDrains;
      if ((bits & kEventBitMatched) != 0) event.match = kMatchInnermost;
    } else {
      event.flags |= bits >> 2 & kEventNameTruncated;
      if (event.kind == EventKind::kBegin) {
        DecodeBegin(bits, columns, &event);
      } else {
        DecodeBind(bits, columns, &event);
      }
    }
    if (!columns.ok()) break;
  }
  if (!columns.ok()) {
    events.resize(begin);
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
