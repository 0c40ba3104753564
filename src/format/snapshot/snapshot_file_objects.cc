// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "format/snapshot/snapshot_file_reader.h"

namespace cairn {

bool SnapshotFileReader::DecodeAnnotations(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(6, count)) return false;
  const uint32_t kept = Afford(count, 2, "annotations");
  uint64_t event_id = 0;
  for (uint32_t i = 0; i < kept; ++i) {
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
    annotation.payload = ReadBytes(reader);
    if (!reader.ok()) return false;
    snapshot_.annotations.push_back(annotation);
  }
  return true;
}

bool SnapshotFileReader::DecodeObjects(ByteReader& reader) {
  uint32_t count = 0;
  // A free entry takes one byte of the file and a hundred of memory.
  if (!reader.ReadCount(1, count) || count > kMaxFileObjects) return false;
  const uint32_t kept = Afford(count, 2, "objects");
  uint64_t serial = 0;
  uint64_t created = 0;
  for (uint32_t i = 0; i < kept; ++i) {
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
  const uint32_t kept = Afford(count, 4, "threads");
  for (uint32_t i = 0; i < kept; ++i) {
    Thread thread;
    uint32_t flags = 0, call_count = 0;
    reader.ReadVarint32(thread.thread_id);
    reader.ReadVarint32(flags);
    thread.ended = (flags & 1) != 0;
    thread.name = ReadText(reader);
    reader.ReadVarint(thread.ended_ns);
    thread.first_call = static_cast<uint32_t>(snapshot_.calls.size());
    if (!reader.ReadCount(4, call_count)) return false;
    if (Afford(call_count, 1, "calls") != call_count) return true;
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
  const uint32_t kept = Afford(count, 2, "EventIDs");
  for (uint32_t i = 0; i < kept; ++i) {
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
  const uint32_t kept = Afford(count, 2, "markers of queues");
  for (uint32_t i = 0; i < kept; ++i) {
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

}  // namespace cairn
