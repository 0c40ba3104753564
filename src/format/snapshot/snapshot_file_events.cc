// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
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

// Bit 7 of each byte that has it, as a count.
uint32_t CountHighBits(uint64_t eight) {
  return static_cast<uint32_t>((eight >> 7 & 0x0101'0101'0101'0101) * 0x0101'0101'0101'0101 >> 56);
}

uint64_t LoadEight(const std::byte* at) {
  uint64_t eight = 0;
  std::memcpy(&eight, at, sizeof(eight));
  return eight;
}

// The values of a column, of which there are as many as are asked for: so no read looks for an end.
class VarintColumn {
 public:
  // Takes the next `count` varints of `rest`, however they are malformed: whoever reads them notices. False: there are
  // not so many.
  bool Take(size_t count, std::span<const std::byte>* rest) {
    at_ = rest->data();
    size_t size = 0;
    // Each ends with its only byte below 0x80.
    while (count >= 8 && rest->size() - size >= 8) {
      count -= CountHighBits(~LoadEight(at_ + size));
      size += 8;
    }
    for (; count != 0 && size < rest->size(); ++size) {
      count -= (*rest)[size] < std::byte{0x80} ? 1 : 0;
    }
    *rest = rest->subspan(size);
    return count == 0;
  }

  // As ByteReader reads them: a malformed value is 0, and makes `*ok` false.
  uint64_t Next(bool* ok) {
    uint64_t value = static_cast<uint64_t>(*at_++);
    if (value >= 0x80) at_ = ReadLong(at_, &value, ok);
    return value;
  }
  uint32_t Next32(bool* ok) {
    const uint64_t value = Next(ok);
    if (value <= std::numeric_limits<uint32_t>::max()) return static_cast<uint32_t>(value);
    *ok = false;
    return 0;
  }
  void AddStep(uint64_t* value, bool* ok) {
    const uint64_t bits = Next(ok);
    *value += bits >> 1 ^ (0 - (bits & 1));
  }

 private:
  // Reads what follows the first byte, `*value`.
  static const std::byte* ReadLong(const std::byte* at, uint64_t* value, bool* ok) {
    uint64_t bits = *value & 0x7F;
    for (uint32_t shift = 7; shift < 64; shift += 7) {
      const auto byte = static_cast<uint64_t>(*at++);
      // The tenth byte holds bit 63 and nothing else.
      if (shift == 63 && byte > 1) break;
      bits |= (byte & 0x7F) << shift;
      if (byte < 0x80) {
        *value = bits;
        return at;
      }
    }
    *ok = false;
    *value = 0;
    return at;
  }

  const std::byte* at_ = nullptr;
};

}  // namespace

// The columns of a payload, each with a place of its own: so each event is written once, and no column is walked for
// each event before it.
struct SnapshotFileReader::EventColumns {
  // `rest` stands behind the first column, `bits`. False: they are not all there.
  bool Find(std::span<const std::byte> bits, std::span<const std::byte> rest) {
    size_t begins = 0;
    size_t binds = 0;
    size_t annotated = 0;
    const auto add = [&](uint64_t eight, uint64_t places) {
      static_assert(kEventBitEnd == 1 && kEventBitBind == 128 && kEventBitAnnotation == 32);
      const uint64_t others = eight | eight << 7;  // bit 7: an end, a bind, or both
      begins += CountHighBits(~others & places);
      annotated += CountHighBits(~others & eight << 2 & places);
      binds += CountHighBits(eight & places);
    };
    size_t at = 0;
    for (; bits.size() - at >= 8; at += 8) add(LoadEight(bits.data() + at), ~uint64_t{0});
    for (; at < bits.size(); ++at) add(static_cast<uint64_t>(bits[at]), 0xFF);
    if (!types.Take(begins, &rest) || !pipelines.Take(begins, &rest) ||
        !names.Take(begins, &rest) || !annotations.Take(annotated, &rest) ||
        !points.Take(binds, &rest) || !slots.Take(binds, &rest) || !values.Take(binds, &rest)) {
      return false;
    }
    has_calls = !rest.empty();
    return !has_calls || calls.Take(begins, &rest);
  }
  VarintColumn types;  // of begins, as the next two
  VarintColumn pipelines;
  VarintColumn names;
  VarintColumn annotations;  // of begins that have one
  VarintColumn points;       // of binds, as the next two
  VarintColumn slots;
  VarintColumn values;
  VarintColumn calls;  // of begins
  bool has_calls = false;
  bool ok = true;  // no value so far was malformed
  // The values before, of those columns that hold steps.
  uint64_t name = 0;
  uint64_t annotation = ~uint64_t{0};
  uint64_t call = 0;
};

inline void SnapshotFileReader::DecodeBegin(uint8_t bits, EventColumns& columns, Event* event) {
  event->type = static_cast<uint16_t>(std::min(columns.types.Next32(&columns.ok), 0xFFFFu));
  event->pipeline = IndexOf(columns.pipelines.Next(&columns.ok), snapshot_.pipelines.size());
  columns.names.AddStep(&columns.name, &columns.ok);
  event->name = texts_.Text(columns.name);
  if (event->name.length > kShortNameBytes) event->name = Shortened(event->name);
  if ((bits & kEventBitAnnotation) != 0) {
    columns.annotations.AddStep(&columns.annotation, &columns.ok);
    if (columns.annotation < snapshot_.annotations.size()) {
      event->detail = static_cast<uint32_t>(columns.annotation);
    } else {
      ++bad_indices_;
    }
  }
  if (!columns.has_calls) return;
  columns.calls.AddStep(&columns.call, &columns.ok);
  event->call = columns.call;
}

void SnapshotFileReader::DecodeBind(uint8_t bits, EventColumns& columns, Event* event) {
  event->type = static_cast<uint16_t>(std::min(columns.points.Next32(&columns.ok), 0xFFFFu));
  event->detail = static_cast<uint32_t>(snapshot_.binds.size());
  Bind& bind = snapshot_.binds.emplace_back();
  bind.slot = columns.slots.Next32(&columns.ok);
  bind.is_address = (bits & kEventBitAddress) != 0;
  bind.value = columns.values.Next(&columns.ok);
  if (!bind.is_address) bind.value = IndexOf(bind.value, snapshot_.objects.size());
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
  std::span<const std::byte> rest;
  EventColumns found;
  if (!reader.ReadBytes(count, all_bits) || !reader.ReadBytes(reader.remaining(), rest) ||
      !found.Find(all_bits, rest)) {
    return false;
  }
  EventColumns columns = found;  // nothing else knows its address: the loop keeps it in registers
  std::vector<Event>& events = snapshot_.events;
  const size_t begin = events.size();
  const size_t first_bind = snapshot_.binds.size();
  if (events.capacity() < begin + count) {
    events.reserve(std::max(begin + count, 2 * events.capacity()));
  }
  for (const std::byte byte : all_bits) {
    const auto bits = static_cast<uint8_t>(byte);
    Event event;
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
    events.push_back(event);
    if (!columns.ok) break;
  }
  if (!columns.ok) {
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
