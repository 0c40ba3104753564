// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "base/byte_writer.h"
#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/text_pool.h"

namespace cairn {
namespace {

// Of tables that can be larger than a chunk may be.
constexpr uint32_t kEventsPerPayload = 1u << 18;
constexpr uint32_t kRecordingsPerPayload = 1u << 18;
constexpr uint32_t kRawMarkersPerPayload = 1u << 20;
constexpr size_t kLongestText = 1u << 16;
// Shaders of one chunk, so that they compress together; one that is larger has a chunk of its own.
constexpr uint64_t kShaderBytesPerPayload = uint64_t{1} << 20;

// kNone becomes 0, and small indices stay small.
uint64_t OneBased(uint32_t index) {
  return index == kNone ? 0 : uint64_t{index} + 1;
}

void WriteProcessPayload(const Snapshot& snapshot, ByteWriter* out) {
  const Process& process = snapshot.process;
  out->WriteVarint(process.process_id);
  out->WriteU64(process.start_time_ns);
  out->WriteU64(process.snapshot_time_ns);
  out->WriteString(snapshot.Text(process.program), kLongestText);
  out->WriteString(snapshot.Text(process.command_line), kLongestText);
  out->WriteString(snapshot.Text(process.library_version), kLongestText);
  out->WriteVarint(snapshot.incidents.size());
  for (const Incident& incident : snapshot.incidents) {
    out->WriteVarint(static_cast<uint32_t>(incident.kind));
    out->WriteSignedVarint(incident.value);
    out->WriteU64(incident.time_ns);
    out->WriteVarint(OneBased(incident.queue));
    out->WriteU64(incident.address);
    out->WriteString(snapshot.Text(incident.detail), kLongestText);
  }
  out->WriteVarint(process.start_monotonic_ns);
}

// Makes the payloads that refer to texts by number; afterwards `texts` holds those texts.
class PayloadWriter {
 public:
  explicit PayloadWriter(const Snapshot& snapshot) : snapshot_(snapshot) {}

  void Devices(ByteWriter* out);
  void Queues(ByteWriter* out);
  void Pipelines(ByteWriter* out);
  void Recordings(uint32_t first, uint32_t count, ByteWriter* out);
  void Events(uint32_t first, uint32_t count, ByteWriter* out);
  void Annotations(ByteWriter* out);
  void Submissions(ByteWriter* out);
  void RawMarkers(uint32_t first, uint32_t count, ByteWriter* out);
  void Objects(ByteWriter* out);
  void Threads(ByteWriter* out);
  void ReportedEventIds(ByteWriter* out);
  void QueueMarkers(ByteWriter* out);
  void Syncs(ByteWriter* out);
  void Faults(ByteWriter* out);
  void Checkpoints(ByteWriter* out);
  void Shaders(ByteWriter* out);
  void Losses(ByteWriter* out);

  // A sentence behind the snapshot's own losses.
  void AddLoss(std::string loss) { more_losses_.push_back(std::move(loss)); }

  TextPoolWriter& texts() { return texts_; }

 private:
  void WriteText(TextRef text, ByteWriter* out) {
    out->WriteVarint(texts_.NumberOf(snapshot_.Text(text)));
  }

  const Snapshot& snapshot_;
  TextPoolWriter texts_;
  std::deque<std::string> more_losses_;
  uint64_t expected_event_ = 0;  // of the next recording
};

void PayloadWriter::Devices(ByteWriter* out) {
  out->WriteVarint(snapshot_.devices.size());
  for (const Device& device : snapshot_.devices) {
    out->WriteVarint(static_cast<uint32_t>(device.api));
    out->WriteVarint(static_cast<uint32_t>(device.mode));
    out->WriteVarint(static_cast<uint32_t>(device.method));
    out->WriteVarint(static_cast<uint32_t>(device.memory));
    out->WriteVarint(device.mirror_period_us);
    out->WriteVarint(device.frame);
    out->WriteVarint(device.lists_dropped);
    out->WriteVarint((device.destroyed ? 1u : 0u) | (device.device_lost ? 2u : 0u));
    out->WriteSignedVarint(device.device_lost_code);
    WriteText(device.name, out);
    WriteText(device.driver, out);
    WriteText(device.notes, out);
    out->WriteVarint(device.vendor_id);
    out->WriteVarint(device.device_id);
    out->WriteVarint(device.source_count);
    for (uint32_t i = 0; i < device.source_count; ++i) {
      const Source& source = snapshot_.sources[device.first_source + i];
      WriteText(source.name, out);
      out->WriteVarint(static_cast<uint32_t>(source.state));
      WriteText(source.reason, out);
    }
  }
  for (const Device& device : snapshot_.devices) {
    WriteText(device.annotation_driver, out);
    out->WriteVarint(device.annotations_forced ? 1 : 0);
    WriteText(device.application, out);
  }
}

void PayloadWriter::Queues(ByteWriter* out) {
  out->WriteVarint(snapshot_.queues.size());
  for (const Queue& queue : snapshot_.queues) {
    out->WriteVarint(OneBased(queue.device));
    out->WriteVarint(queue.type);
    WriteText(queue.name, out);
    out->WriteVarint(queue.native_handle);
    out->WriteVarint(queue.submission_count);
    out->WriteVarint(queue.completed_submission);
  }
}

void PayloadWriter::Pipelines(ByteWriter* out) {
  out->WriteVarint(snapshot_.pipelines.size());
  for (const Pipeline& pipeline : snapshot_.pipelines) {
    out->WriteVarint(OneBased(pipeline.device));
    out->WriteVarint(pipeline.unregistered ? 1 : 0);
    WriteText(pipeline.name, out);
    for (const TextRef& shader : pipeline.shader_names) WriteText(shader, out);
    out->WriteVarint(pipeline.native_handle);
  }
  const bool any_hash = std::any_of(
      snapshot_.pipelines.begin(), snapshot_.pipelines.end(),
      [](const Pipeline& pipeline) { return pipeline.shader_hashes != Pipeline().shader_hashes; });
  if (!any_hash) return;
  for (const Pipeline& pipeline : snapshot_.pipelines) {
    for (const uint64_t hash : pipeline.shader_hashes) out->WriteVarint(hash);
  }
}

void PayloadWriter::Recordings(uint32_t first, uint32_t count, ByteWriter* out) {
  out->WriteVarint(count);
  uint64_t id_before = 0;
  uint64_t frame_before = 0;
  for (const Recording& recording : std::span(snapshot_.recordings).subspan(first, count)) {
    out->WriteVarint(OneBased(recording.device));
    out->WriteVarint(OneBased(recording.queue));
    out->WriteSignedVarint(static_cast<int64_t>(recording.recording_id - id_before));
    out->WriteSignedVarint(static_cast<int64_t>(recording.frame - frame_before));
    out->WriteVarint(recording.submission_index);
    out->WriteVarint(recording.native_handle);
    WriteText(recording.name, out);
    out->WriteVarint((recording.open ? 1u : 0u) | (recording.reusable ? 2u : 0u) |
                     (recording.secondary ? 4u : 0u));
    // Where no events stand says nothing.
    const uint64_t first_event =
        recording.event_count == 0 ? expected_event_ : recording.first_event;
    out->WriteSignedVarint(static_cast<int64_t>(first_event - expected_event_));
    out->WriteVarint(recording.event_count);
    out->WriteVarint(recording.dropped_count);
    out->WriteVarint(recording.reached);
    out->WriteVarint(recording.passed);
    out->WriteVarint(recording.runs);
    out->WriteVarint(recording.submit_count);
    out->WriteVarint(recording.finished_runs);
    id_before = recording.recording_id;
    frame_before = recording.frame;
    expected_event_ = first_event + recording.event_count;
  }
}

// What a file of version 1.0 says of an event stands in the lowest bits; to it a bind is an end that
// ends nothing.
uint8_t EventBits(const Snapshot& snapshot, const Event& event) {
  unsigned bits = (event.flags & (kEventWritesTop | kEventWritesBottom | kEventNameTruncated)) << 2;
  switch (event.kind) {
    case EventKind::kBegin:
      if (event.detail != kNone) bits |= kEventBitAnnotation;
      break;
    case EventKind::kEnd:
      bits |= event.match != 0 ? kEventBitEnd | kEventBitMatched : kEventBitEnd;
      break;
    case EventKind::kBind:
      bits |= kEventBitEnd | kEventBitBind;
      if (snapshot.binds[event.detail].is_address) bits |= kEventBitAddress;
      break;
  }
  return static_cast<uint8_t>(bits);
}

// Columns compress better than records: in most of them one value repeats or rises evenly.
void PayloadWriter::Events(uint32_t first, uint32_t count, ByteWriter* out) {
  const std::span<const Event> events = std::span(snapshot_.events).subspan(first, count);
  out->WriteVarint(first);
  out->WriteVarint(count);
  for (const Event& event : events) out->WriteU8(EventBits(snapshot_, event));
  for (const Event& event : events) {
    if (event.kind == EventKind::kBegin) out->WriteVarint(event.type);
  }
  for (const Event& event : events) {
    if (event.kind == EventKind::kBegin) out->WriteVarint(OneBased(event.pipeline));
  }
  int64_t before = 0;
  for (const Event& event : events) {
    if (event.kind != EventKind::kBegin) continue;
    const int64_t number = static_cast<int64_t>(texts_.NumberOf(snapshot_.Text(event.name)));
    out->WriteSignedVarint(number - before);
    before = number;
  }
  int64_t annotation_before = -1;
  for (const Event& event : events) {
    if (event.kind != EventKind::kBegin || event.detail == kNone) continue;
    out->WriteSignedVarint(event.detail - annotation_before);
    annotation_before = event.detail;
  }
  for (const Event& event : events) {
    if (event.kind == EventKind::kBind) out->WriteVarint(event.type);
  }
  for (const Event& event : events) {
    if (event.kind == EventKind::kBind) out->WriteVarint(snapshot_.binds[event.detail].slot);
  }
  for (const Event& event : events) {
    if (event.kind != EventKind::kBind) continue;
    const Bind& bind = snapshot_.binds[event.detail];
    out->WriteVarint(bind.is_address ? bind.value : OneBased(static_cast<uint32_t>(bind.value)));
  }
  if (std::none_of(events.begin(), events.end(),
                   [](const Event& event) { return event.call != 0; }))
    return;
  uint64_t call_before = 0;
  for (const Event& event : events) {
    if (event.kind != EventKind::kBegin) continue;
    out->WriteSignedVarint(static_cast<int64_t>(event.call - call_before));
    call_before = event.call;
  }
}

void PayloadWriter::Annotations(ByteWriter* out) {
  out->WriteVarint(snapshot_.annotations.size());
  uint64_t id_before = 0;
  for (const Annotation& annotation : snapshot_.annotations) {
    out->WriteSignedVarint(static_cast<int64_t>(annotation.event_id - id_before));
    id_before = annotation.event_id;
    out->WriteVarint(annotation.metadata);
    out->WriteVarint(annotation.size_bytes);
    out->WriteVarint(annotation.has_colour ? uint64_t{annotation.colour} + 1 : 0);
    WriteText(annotation.name, out);
    WriteText(annotation.payload, out);
  }
}

void PayloadWriter::Submissions(ByteWriter* out) {
  out->WriteVarint(snapshot_.submissions.size());
  Submission before;
  for (const Submission& submission : snapshot_.submissions) {
    out->WriteVarint(submission.serial - before.serial);
    out->WriteVarint(OneBased(submission.queue));
    out->WriteVarint(OneBased(submission.recording));
    out->WriteVarint(submission.run);
    out->WriteSignedVarint(static_cast<int64_t>(submission.number - before.number));
    out->WriteSignedVarint(static_cast<int64_t>(submission.time_ns - before.time_ns));
    before = submission;
  }
  const auto frame_is_known = [this](const Submission& submission) {
    return submission.frame ==
           (submission.recording == kNone ? 0 : snapshot_.recordings[submission.recording].frame);
  };
  if (std::all_of(snapshot_.submissions.begin(), snapshot_.submissions.end(), frame_is_known)) {
    return;
  }
  uint64_t frame = 0;
  for (const Submission& submission : snapshot_.submissions) {
    out->WriteSignedVarint(static_cast<int64_t>(submission.frame - frame));
    frame = submission.frame;
  }
}

void PayloadWriter::RawMarkers(uint32_t first, uint32_t count, ByteWriter* out) {
  out->WriteVarint(count);
  for (const RawMarker& marker : std::span(snapshot_.raw_markers).subspan(first, count)) {
    out->WriteVarint(OneBased(marker.device));
    out->WriteVarint(marker.index);
    out->WriteU64(marker.value);
  }
}

void PayloadWriter::Objects(ByteWriter* out) {
  out->WriteVarint(snapshot_.objects.size());
  uint64_t serial_before = 0;
  uint64_t created_before = 0;
  for (const Object& object : snapshot_.objects) {
    out->WriteVarint(static_cast<uint32_t>(object.state) | (object.name_cut ? 4u : 0u));
    if (object.state == ObjectState::kFree) continue;
    out->WriteVarint(object.kind);
    out->WriteVarint(OneBased(object.device));
    WriteText(object.name, out);
    out->WriteVarint(object.native_handle);
    out->WriteSignedVarint(static_cast<int64_t>(object.serial - serial_before));
    out->WriteSignedVarint(static_cast<int64_t>(object.created_ns - created_before));
    if (object.state == ObjectState::kDestroyed) {
      out->WriteSignedVarint(static_cast<int64_t>(object.destroyed_ns - object.created_ns));
    }
    out->WriteVarint(object.gpu_address);
    out->WriteVarint(object.size_bytes);
    out->WriteVarint(object.signalled);
    out->WriteVarint(object.waited);
    out->WriteVarint(object.completed);
    serial_before = object.serial;
    created_before = object.created_ns;
  }
}

void PayloadWriter::Threads(ByteWriter* out) {
  out->WriteVarint(snapshot_.threads.size());
  for (const Thread& thread : snapshot_.threads) {
    out->WriteVarint(thread.thread_id);
    out->WriteVarint(thread.ended ? 1 : 0);
    WriteText(thread.name, out);
    out->WriteVarint(thread.ended_ns);
    out->WriteVarint(thread.call_count);
    uint64_t number_before = 0;
    for (uint32_t i = 0; i < thread.call_count; ++i) {
      const Call& call = snapshot_.calls[thread.first_call + i];
      out->WriteVarint(call.number - number_before);
      out->WriteVarint(call.returned ? 1 : 0);
      out->WriteVarint(call.object);
      WriteText(call.function, out);
      number_before = call.number;
    }
  }
}

void PayloadWriter::ReportedEventIds(ByteWriter* out) {
  out->WriteVarint(snapshot_.reported_event_ids.size());
  for (const ReportedEventId& reported : snapshot_.reported_event_ids) {
    out->WriteVarint(OneBased(reported.device));
    out->WriteVarint(reported.event_id);
    out->WriteVarint(static_cast<uint32_t>(reported.state));
    out->WriteVarint(OneBased(reported.annotation));
  }
}

void PayloadWriter::QueueMarkers(ByteWriter* out) {
  out->WriteVarint(snapshot_.queue_markers.size());
  for (const QueueMarker& marker : snapshot_.queue_markers) {
    out->WriteVarint(OneBased(marker.queue));
    out->WriteVarint(marker.native_handle);
    out->WriteVarint(static_cast<uint32_t>(marker.kind));
    out->WriteVarint(marker.submission);
    out->WriteVarint(OneBased(marker.annotation));
  }
}

void PayloadWriter::Syncs(ByteWriter* out) {
  out->WriteVarint(snapshot_.syncs.size());
  Sync before;
  for (const Sync& sync : snapshot_.syncs) {
    out->WriteVarint(sync.serial - before.serial);
    out->WriteVarint(static_cast<uint32_t>(sync.kind));
    out->WriteVarint(sync.flags);
    out->WriteVarint(OneBased(sync.device));
    out->WriteVarint(OneBased(sync.queue));
    out->WriteSignedVarint(static_cast<int64_t>(sync.submission_number - before.submission_number));
    out->WriteVarint(sync.native_handle);
    out->WriteVarint(OneBased(sync.object));
    out->WriteVarint(sync.value);
    out->WriteSignedVarint(static_cast<int64_t>(sync.time_ns - before.time_ns));
    before = sync;
  }
}

void PayloadWriter::Faults(ByteWriter* out) {
  out->WriteVarint(snapshot_.faults.size());
  for (const Fault& fault : snapshot_.faults) {
    out->WriteVarint(OneBased(fault.device));
    out->WriteSignedVarint(fault.result);
    out->WriteVarint(fault.time_ns);
    WriteText(fault.source, out);
    WriteText(fault.description, out);
    out->WriteVarint(fault.address_count);
    for (uint32_t i = 0; i < fault.address_count; ++i) {
      const FaultAddress& address = snapshot_.fault_addresses[fault.first_address + i];
      out->WriteVarint(static_cast<uint32_t>(address.type));
      out->WriteVarint(address.address);
      out->WriteVarint(address.precision);
    }
    out->WriteVarint(fault.vendor_info_count);
    for (uint32_t i = 0; i < fault.vendor_info_count; ++i) {
      const VendorInfo& info = snapshot_.vendor_infos[fault.first_vendor_info + i];
      WriteText(info.description, out);
      out->WriteVarint(info.code);
      out->WriteVarint(info.data);
    }
    out->WriteVarint(fault.vendor_binary_bytes);
  }
}

void PayloadWriter::Checkpoints(ByteWriter* out) {
  out->WriteVarint(snapshot_.checkpoints.size());
  for (const Checkpoint& checkpoint : snapshot_.checkpoints) {
    out->WriteVarint(OneBased(checkpoint.device));
    out->WriteVarint(OneBased(checkpoint.queue));
    out->WriteVarint(static_cast<uint32_t>(checkpoint.stage));
    out->WriteVarint(OneBased(checkpoint.recording));
    out->WriteVarint(checkpoint.sequence);
  }
}

void PayloadWriter::Shaders(ByteWriter* out) {
  out->WriteVarint(snapshot_.shaders.size());
  for (const Shader& shader : snapshot_.shaders) {
    out->WriteU64(shader.hash);
    out->WriteVarint(static_cast<uint32_t>(shader.code));
    out->WriteVarint(shader.size_bytes);
  }
}

// What is large is written straight from the snapshot, one chunk at a time.
Status WriteBlobs(const Snapshot& snapshot, FileWriter* writer) {
  ByteWriter out;
  for (uint32_t i = 0; i < snapshot.faults.size(); ++i) {
    const BlobRef binary = snapshot.faults[i].vendor_binary;
    if (binary.empty()) continue;
    out.Clear();
    out.WriteVarint(OneBased(i));
    out.WriteBytes(snapshot.Blob(binary));
    CAIRN_RETURN_IF_ERROR(writer->Append(kVendorBinaryChunk, out.bytes()));
  }
  out.Clear();
  for (uint32_t i = 0; i < snapshot.shaders.size(); ++i) {
    const BlobRef code = snapshot.shaders[i].bytes;
    if (code.empty()) continue;
    if (out.bytes().size() != 0 && out.bytes().size() + code.length > kShaderBytesPerPayload) {
      CAIRN_RETURN_IF_ERROR(writer->Append(kShaderCodeChunk, out.bytes()));
      out.Clear();
    }
    out.WriteVarint(OneBased(i));
    out.WriteVarint(code.length);
    out.WriteBytes(snapshot.Blob(code));
  }
  if (out.bytes().empty()) return Status();
  return writer->Append(kShaderCodeChunk, out.bytes());
}

void PayloadWriter::Losses(ByteWriter* out) {
  out->WriteVarint(snapshot_.losses.size() + more_losses_.size());
  for (const TextRef& loss : snapshot_.losses) WriteText(loss, out);
  for (const std::string& loss : more_losses_) out->WriteVarint(texts_.NumberOf(loss));
}

struct PendingChunk {
  ChunkType type;
  std::vector<std::byte> payload;
};

}  // namespace

Status WriteSnapshotHead(const Snapshot& snapshot, FileWriter* writer) {
  ByteWriter payload;
  WriteProcessPayload(snapshot, &payload);
  CAIRN_RETURN_IF_ERROR(writer->Append(kProcessChunk, payload.bytes()));
  return writer->Sync();
}

Status WriteSnapshotBody(const Snapshot& snapshot, FileWriter* writer) {
  PayloadWriter payloads(snapshot);
  std::vector<PendingChunk> chunks;
  ByteWriter out;
  const auto keep = [&](ChunkType type) {
    // One table that is too large does not cost the report.
    if (out.bytes().size() > kMaxChunkBytes) {
      payloads.AddLoss(fmt::format("The table {} takes {} bytes and is left out: a chunk has {}.",
                                   ChunkTypeName(type), out.bytes().size(), kMaxChunkBytes));
      out.Clear();
      return;
    }
    chunks.push_back({type, out.Take()});
  };
  const auto add = [&](ChunkType type, void (PayloadWriter::*write)(ByteWriter*)) {
    (payloads.*write)(&out);
    keep(type);
  };
  // A table in as many chunks as it takes; one that is empty has one.
  const auto add_parts = [&](ChunkType type, size_t size, uint32_t most,
                             void (PayloadWriter::*write)(uint32_t, uint32_t, ByteWriter*)) {
    uint32_t first = 0;
    do {
      const uint32_t count = std::min(most, static_cast<uint32_t>(size) - first);
      (payloads.*write)(first, count, &out);
      keep(type);
      first += count;
    } while (first < size);
  };
  WriteProcessPayload(snapshot, &out);
  chunks.push_back({kProcessChunk, out.Take()});
  add(kDeviceChunk, &PayloadWriter::Devices);
  add(kQueueChunk, &PayloadWriter::Queues);
  add(kPipelineChunk, &PayloadWriter::Pipelines);
  add_parts(kRecordingChunk, snapshot.recordings.size(), kRecordingsPerPayload,
            &PayloadWriter::Recordings);
  if (!snapshot.events.empty()) {
    add_parts(kEventChunk, snapshot.events.size(), kEventsPerPayload, &PayloadWriter::Events);
  }
  add(kSubmissionChunk, &PayloadWriter::Submissions);
  add_parts(kRawMarkerChunk, snapshot.raw_markers.size(), kRawMarkersPerPayload,
            &PayloadWriter::RawMarkers);
  add(kAnnotationChunk, &PayloadWriter::Annotations);
  add(kObjectChunk, &PayloadWriter::Objects);
  add(kThreadChunk, &PayloadWriter::Threads);
  add(kReportedEventIdChunk, &PayloadWriter::ReportedEventIds);
  add(kQueueMarkerChunk, &PayloadWriter::QueueMarkers);
  // Of programs that have no such thing the file says nothing.
  if (!snapshot.syncs.empty()) add(kSyncChunk, &PayloadWriter::Syncs);
  if (!snapshot.faults.empty()) add(kFaultChunk, &PayloadWriter::Faults);
  if (!snapshot.checkpoints.empty()) add(kCheckpointChunk, &PayloadWriter::Checkpoints);
  if (!snapshot.shaders.empty()) add(kShaderChunk, &PayloadWriter::Shaders);
  add(kLossChunk, &PayloadWriter::Losses);
  // Names first: a file that is cut then still says what the rest of it speaks of.
  while (payloads.texts().NextPayload(&out)) {
    CAIRN_RETURN_IF_ERROR(writer->Append(kTextChunk, out.bytes()));
  }
  for (const PendingChunk& chunk : chunks) {
    CAIRN_RETURN_IF_ERROR(writer->Append(chunk.type, chunk.payload));
  }
  return WriteBlobs(snapshot, writer);
}

Status WriteSnapshot(const Snapshot& snapshot, FileWriter* writer) {
  CAIRN_RETURN_IF_ERROR(WriteSnapshotHead(snapshot, writer));
  return WriteSnapshotBody(snapshot, writer);
}

}  // namespace cairn
