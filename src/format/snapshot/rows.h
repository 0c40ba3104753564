// SPDX-License-Identifier: Apache-2.0
//
// Describes the rows of each table of a snapshot, once. This description drives how files are
// written and read, reports that leave the machine are redacted, and tests check and print. A new
// fact is added here, to the struct (snapshot.h) and to docs/formats/cairn-file.md.
//
// A visitor has a method for each kind of field, and calls Visit for the rows that it has:
//   Number   an unsigned number or an enumerator       Fixed    the same, eight bytes in a file
//   Signed   a signed number                           Step     a number near that of the row before
//   Rise     a number not below that of the row before After    a number near another one of its row
//   Choice   one of these enumerators, or the row is malformed
//   Bits     an enumerator and a truth in one number   Flags    truths, in the bits of one number
//   Optional a number, or none
//   Index    a row of another table, or kNone
//   Name     text from the application                 Fact     text from us or from a driver
//   Path     text that may be a path of the machine    Payload  bytes from the application
//   Handle   of an object of the process               Address  in memory of the GPU
//   Rows     the rows of another table that belong to this one
//   Events   the events of a recording
// Row<T> of a visitor is T, or const T where it only looks. VisitLater is for what files of before lack: it
// stands behind all rows of the table.
#ifndef CAIRN_FORMAT_SNAPSHOT_ROWS_H_
#define CAIRN_FORMAT_SNAPSHOT_ROWS_H_

#include <bit>
#include <cstddef>
#include <cstdint>

#include "format/block/descriptor_sets.h"
#include "format/block/destructions.h"
#include "format/block/user_data.h"
#include "format/file/chunk.h"
#include "format/snapshot/snapshot.h"
#include "format/snapshot/snapshot_file.h"

namespace cairn {

// kPrivate: the field identifies the machine or its user and has no use elsewhere; redaction sets
// it to 0.
enum class Privacy { kPublic, kPrivate };

// Tables that others refer to.
enum class Table {
  kDevices,
  kQueues,
  kPipelines,
  kAnnotations,
  kObjects,
  kRecordings,
  kDestructions
};
inline size_t RowCount(const Snapshot& snapshot, Table table) {
  switch (table) {
    case Table::kDevices: return snapshot.devices.size();
    case Table::kQueues: return snapshot.queues.size();
    case Table::kPipelines: return snapshot.pipelines.size();
    case Table::kAnnotations: return snapshot.annotations.size();
    case Table::kObjects: return snapshot.objects.size();
    case Table::kRecordings: return snapshot.recordings.size();
    case Table::kDestructions: return snapshot.destructions.size();
  }
  return 0;
}

// Steps and rises of one row at most.
inline constexpr size_t kMostSteps = 4;
// The bit behind those that enumerators up to `last` take.
template <typename E>
constexpr uint64_t FlagBehind(E last) {
  return std::bit_ceil(static_cast<uint64_t>(last) + 1);
}

// The properties of a row type, for rows in a chunk and rows inside another row.
struct RowFacts {
  const char* name;        // "command lists"
  uint32_t least_bytes;    // that a row can take in a file
  uint32_t most_rows = 0;  // 0: as many as the file can pay for
  uint32_t cost = 0;       // in rows of the file's budget; 0: most_rows is bound enough
};

enum class Presence {
  kAlways,
  kLater,  // in every file but those of version 1.0
  kIfAny,  // where there are rows
};
struct TableFacts {
  ChunkType chunk;
  Presence presence;
  RowFacts rows;
  uint32_t rows_in_chunk = 0;  // 0: one chunk has them all
};

template <typename F>
void Visit(F& f, typename F::template Row<Process>& process) {
  f.Number("process_id", process.process_id);
  f.Fixed("start_time_ns", process.start_time_ns);
  f.Fixed("snapshot_time_ns", process.snapshot_time_ns);
  f.Name("program", process.program);
  f.Name("command_line", process.command_line);
  f.Fact("library_version", process.library_version);
}
template <typename F>
void VisitLater(F& f, typename F::template Row<Process>& process) {
  f.Number("start_monotonic_ns", process.start_monotonic_ns);
}

template <typename F>
void Visit(F& f, typename F::template Row<Incident>& incident) {
  f.Number("kind", incident.kind);
  f.Signed("value", incident.value);
  f.Fixed("time_ns", incident.time_ns);
  f.Index("queue", incident.queue, Table::kQueues);
  f.Fixed("address", incident.address, Privacy::kPrivate);
  f.Name("detail", incident.detail);
}

template <typename F>
void Visit(F& f, typename F::template Row<Source>& source) {
  f.Fact("name", source.name);
  f.Number("state", source.state);
  f.Fact("reason", source.reason);
}

template <typename F>
void Visit(F& f, typename F::template Row<Device>& device) {
  f.Number("api", device.api);
  f.Number("mode", device.mode);
  f.Number("method", device.method);
  f.Number("memory", device.memory);
  f.Number("mirror_period_us", device.mirror_period_us);
  f.Number("frame", device.frame);
  f.Number("lists_dropped", device.lists_dropped);
  f.Flags("destroyed, device_lost", device.destroyed, device.device_lost);
  f.Signed("device_lost_code", device.device_lost_code);
  f.Fact("name", device.name);
  f.Fact("driver", device.driver);
  f.Fact("notes", device.notes);
  f.Number("vendor_id", device.vendor_id);
  f.Number("device_id", device.device_id);
  f.Rows({.name = "sources", .least_bytes = 3, .most_rows = kMaxSources}, &Snapshot::sources,
         device.first_source, device.source_count);
}
template <typename F>
void VisitLater(F& f, typename F::template Row<Device>& device) {
  f.Path("annotation_driver", device.annotation_driver);
  f.Flags("annotations_forced, tells_submissions", device.annotations_forced,
          device.tells_submissions);
  f.Name("application", device.application);
}

template <typename F>
void Visit(F& f, typename F::template Row<Queue>& queue) {
  f.Index("device", queue.device, Table::kDevices);
  f.Number("type", queue.type);
  f.Name("name", queue.name);
  f.Handle("native_handle", queue.native_handle);
  f.Number("submission_count", queue.submission_count);
  f.Number("completed_submission", queue.completed_submission);
}
template <typename F>
void VisitLater(F& f, typename F::template Row<Queue>& queue) {
  f.Number("still_since_ns", queue.still_since_ns);
}

template <typename F>
void Visit(F& f, typename F::template Row<Pipeline>& pipeline) {
  f.Index("device", pipeline.device, Table::kDevices);
  f.Flags("unregistered", pipeline.unregistered);
  f.Name("name", pipeline.name);
  for (auto& name : pipeline.shader_names) f.Name("shader_name", name);
  f.Handle("native_handle", pipeline.native_handle);
}
template <typename F>
void VisitLater(F& f, typename F::template Row<Pipeline>& pipeline) {
  for (auto& hash : pipeline.shader_hashes) f.Number("shader_hash", hash);
}

template <typename F>
void Visit(F& f, typename F::template Row<Annotation>& annotation) {
  f.Step("event_id", annotation.event_id);
  f.Number("metadata", annotation.metadata);
  f.Number("size_bytes", annotation.size_bytes);
  f.Optional("colour", annotation.has_colour, annotation.colour);
  f.Name("name", annotation.name);
  f.Payload("payload", annotation.payload);
}

template <typename F>
void Visit(F& f, typename F::template Row<Object>& object) {
  f.Bits("state, name_cut", object.state, ObjectState::kDestroyed, object.name_cut);
  if (object.state == ObjectState::kFree) return;
  f.Number("kind", object.kind);
  f.Index("device", object.device, Table::kDevices);
  f.Name("name", object.name);
  f.Handle("native_handle", object.native_handle);
  f.Step("serial", object.serial);
  f.Step("created_ns", object.created_ns);
  if (object.state == ObjectState::kDestroyed) {
    f.After("destroyed_ns", object.destroyed_ns, object.created_ns);
  }
  f.Address("gpu_address", object.gpu_address);
  f.Number("size_bytes", object.size_bytes);
  f.Number("signalled", object.signalled);
  f.Number("waited", object.waited);
  f.Number("completed", object.completed);
}

template <typename F>
void VisitLater(F& f, typename F::template Row<Object>& object) {
  f.Number("description", object.description);
}

template <typename F>
void Visit(F& f, typename F::template Row<Recording>& recording) {
  f.Index("device", recording.device, Table::kDevices);
  f.Index("queue", recording.queue, Table::kQueues);
  f.Step("recording_id", recording.recording_id);
  f.Step("frame", recording.frame);
  f.Number("submission_index", recording.submission_index);
  f.Handle("native_handle", recording.native_handle);
  f.Name("name", recording.name);
  f.Flags("open, reusable, secondary", recording.open, recording.reusable, recording.secondary);
  f.Events(recording.first_event, recording.event_count);
  f.Number("dropped_count", recording.dropped_count);
  f.Number("reached", recording.reached);
  f.Number("passed", recording.passed);
  f.Number("runs", recording.runs);
  f.Number("submit_count", recording.submit_count);
  f.Number("finished_runs", recording.finished_runs);
}

template <typename F>
void Visit(F& f, typename F::template Row<Submission>& submission) {
  f.Rise("serial", submission.serial);
  f.Index("queue", submission.queue, Table::kQueues);
  f.Index("recording", submission.recording, Table::kRecordings);
  f.Number("run", submission.run);
  f.Step("number", submission.number);
  f.Step("time_ns", submission.time_ns);
}
template <typename F>
void VisitLater(F& f, typename F::template Row<Submission>& submission) {
  f.Step("frame", submission.frame);
}

template <typename F>
void Visit(F& f, typename F::template Row<SubmissionEnd>& end) {
  f.Rise("serial", end.serial);
  f.Step("ended_ns", end.ended_ns);
  f.Number("pipelines", end.pipelines);
}

template <typename F>
void Visit(F& f, typename F::template Row<RawMarker>& marker) {
  f.Index("device", marker.device, Table::kDevices);
  f.Number("index", marker.index);
  f.Fixed("value", marker.value);
}

template <typename F>
void Visit(F& f, typename F::template Row<Call>& call) {
  f.Rise("number", call.number);
  f.Flags("returned", call.returned);
  f.Handle("object", call.object);
  f.Fact("function", call.function);
}

template <typename F>
void Visit(F& f, typename F::template Row<Thread>& thread) {
  f.Number("thread_id", thread.thread_id);
  f.Flags("ended", thread.ended);
  f.Name("name", thread.name);
  f.Number("ended_ns", thread.ended_ns);
  f.Rows({.name = "calls", .least_bytes = 4, .cost = 1}, &Snapshot::calls, thread.first_call,
         thread.call_count);
}
template <typename F>
void Visit(F& f, typename F::template Row<CallArgument>& argument) {
  f.Number("call", argument.call);
  f.Number("kind", argument.kind);
  f.Fact("name", argument.name);
  switch (argument.kind) {
    case ArgumentKind::kPointer: return f.Handle("value", argument.value);
    case ArgumentKind::kGpuAddress:
    case ArgumentKind::kGpuDescriptor: return f.Address("value", argument.value);
    default: return f.Number("value", argument.value);
  }
}
template <typename F>
void VisitLater(F& f, typename F::template Row<Thread>& thread) {
  f.Flags("crashed", thread.crashed);
  f.Rows({.name = "arguments", .least_bytes = 4, .cost = 1}, &Snapshot::call_arguments,
         thread.first_argument, thread.argument_count);
}

template <typename F>
void Visit(F& f, typename F::template Row<ReportedEventId>& reported) {
  f.Index("device", reported.device, Table::kDevices);
  f.Number("event_id", reported.event_id);
  f.Number("state", reported.state);
  f.Index("annotation", reported.annotation, Table::kAnnotations);
}

template <typename F>
void Visit(F& f, typename F::template Row<QueueMarker>& marker) {
  f.Index("queue", marker.queue, Table::kQueues);
  f.Handle("native_handle", marker.native_handle);
  f.Choice("kind", marker.kind, QueueMarkerKind::kBegin, QueueMarkerKind::kEnd);
  f.Number("submission", marker.submission);
  f.Index("annotation", marker.annotation, Table::kAnnotations);
}

template <typename F>
void Visit(F& f, typename F::template Row<Sync>& sync) {
  f.Rise("serial", sync.serial);
  f.Choice("kind", sync.kind, SyncKind::kWait, SyncKind::kSignal);
  f.Number("flags", sync.flags);
  f.Index("device", sync.device, Table::kDevices);
  f.Index("queue", sync.queue, Table::kQueues);
  f.Step("submission_number", sync.submission_number);
  f.Handle("native_handle", sync.native_handle);
  f.Index("object", sync.object, Table::kObjects);
  f.Number("value", sync.value);
  f.Step("time_ns", sync.time_ns);
}

template <typename F>
void Visit(F& f, typename F::template Row<FaultAddress>& address) {
  f.Number("type", address.type);
  f.Address("address", address.address);
  f.Number("precision", address.precision);
}

template <typename F>
void Visit(F& f, typename F::template Row<VendorInfo>& info) {
  f.Fact("description", info.description);
  f.Number("code", info.code);
  f.Number("data", info.data, Privacy::kPrivate);
}

template <typename F>
void Visit(F& f, typename F::template Row<Fault>& fault) {
  f.Index("device", fault.device, Table::kDevices);
  f.Signed("result", fault.result);
  f.Number("time_ns", fault.time_ns);
  f.Fact("source", fault.source);
  f.Fact("description", fault.description);
  f.Rows({.name = "addresses", .least_bytes = 3, .most_rows = kMaxFaultAddresses},
         &Snapshot::fault_addresses, fault.first_address, fault.address_count);
  f.Rows({.name = "vendor infos", .least_bytes = 3, .most_rows = kMaxFaultVendorInfos},
         &Snapshot::vendor_infos, fault.first_vendor_info, fault.vendor_info_count);
  f.Number("vendor_binary_bytes", fault.vendor_binary_bytes);
}

template <typename F>
void Visit(F& f, typename F::template Row<MemoryHeap>& heap) {
  f.Flags("device_local, tells_use", heap.device_local, heap.tells_use);
  f.Number("size_bytes", heap.size_bytes);
  f.Number("used_bytes", heap.used_bytes);
  f.Number("budget_bytes", heap.budget_bytes);
}

template <typename F>
void Visit(F& f, typename F::template Row<DeviceMemory>& memory) {
  f.Index("device", memory.device, Table::kDevices);
  f.Signed("result", memory.result);
  f.Fact("function", memory.function);
  f.Number("failed_ns", memory.failed_ns);
  f.Number("failed_count", memory.failed_count);
  f.Number("wanted_bytes", memory.wanted_bytes);
  f.Number("asked_ns", memory.asked_ns);
  f.Rows({.name = "heaps", .least_bytes = 4, .most_rows = kMaxMemoryHeaps}, &Snapshot::memory_heaps,
         memory.first_heap, memory.heap_count);
}

template <typename F>
void Visit(F& f, typename F::template Row<Checkpoint>& checkpoint) {
  f.Index("device", checkpoint.device, Table::kDevices);
  f.Index("queue", checkpoint.queue, Table::kQueues);
  f.Number("stage", checkpoint.stage);
  f.Index("recording", checkpoint.recording, Table::kRecordings);
  f.Number("sequence", checkpoint.sequence);
}

template <typename F>
void Visit(F& f, typename F::template Row<Shader>& shader) {
  f.Fixed("hash", shader.hash);
  f.Number("code", shader.code);
  f.Number("size_bytes", shader.size_bytes);
}
template <typename F>
void VisitLater(F& f, typename F::template Row<Shader>& shader) {
  f.Number("traits", shader.traits);
}

template <typename F>
void Visit(F& f, typename F::template Row<KernelLine>& line) {
  f.Number("time_ns", line.time_ns);
  f.Flags("names_process, tells_fault", line.names_process, line.tells_fault);
  f.Name("text", line.text);
}
template <typename F>
void Visit(F& f, typename F::template Row<KernelLog>& log) {
  f.Fact("why_not", log.why_not);
  f.Rows({.name = "lines of the kernel's log",
          .least_bytes = 3,
          .most_rows = kMaxFileKernelLines,
          .cost = 1},
         &Snapshot::kernel_lines, log.first_line, log.line_count);
}

template <typename F>
void Visit(F& f, typename F::template Row<Destruction>& destruction) {
  f.Rise("serial", destruction.serial);
  f.Index("device", destruction.device, Table::kDevices);
  f.Number("kind", destruction.kind);
  f.Handle("native_handle", destruction.native_handle);
  f.Index("object", destruction.object, Table::kObjects);
  f.Number("cause_kind", destruction.cause_kind);
  f.Handle("cause_handle", destruction.cause_handle);
  f.Index("cause_object", destruction.cause_object, Table::kObjects);
  f.Number("owner_kind", destruction.owner_kind);
  f.Handle("owner_handle", destruction.owner_handle);
  f.Index("owner_object", destruction.owner_object, Table::kObjects);
  f.Number("thread_id", destruction.thread_id);
  f.Name("thread_name", destruction.thread_name);
  f.Step("time_ns", destruction.time_ns);
  f.Step("frame", destruction.frame);
  f.Step("submission_serial", destruction.submission_serial);
}

template <typename F>
void Visit(F& f, typename F::template Row<Descriptor>& descriptor) {
  f.Number("binding", descriptor.binding);
  f.Number("element", descriptor.element);
  f.Number("kind", descriptor.kind);
  f.Handle("native_handle", descriptor.native_handle);
  f.Index("destruction", descriptor.destruction, Table::kDestructions);
}

template <typename F>
void Visit(F& f, typename F::template Row<DescriptorSet>& set) {
  f.Index("device", set.device, Table::kDevices);
  f.Handle("native_handle", set.native_handle);
  f.Flags("in_buffers, pushed", set.in_buffers, set.pushed);
  f.Number("unseen_count", set.unseen_count);
  f.Rows({.name = "descriptors", .least_bytes = 5, .most_rows = kMaxSetDescriptors, .cost = 1},
         &Snapshot::descriptors, set.first_descriptor, set.descriptor_count);
}

template <typename F>
void Visit(F& f, typename F::template Row<ShaderDescriptor>& descriptor) {
  f.Number("set", descriptor.set);
  f.Number("binding", descriptor.binding);
}

template <typename F>
void Visit(F& f, typename F::template Row<PipelineDescriptors>& descriptors) {
  f.Index("pipeline", descriptors.pipeline, Table::kPipelines);
  f.Rows({.name = "descriptors of shaders",
          .least_bytes = 2,
          .most_rows = kMaxShaderDescriptors,
          .cost = 1},
         &Snapshot::shader_descriptors, descriptors.first_descriptor, descriptors.descriptor_count);
}

template <typename F>
void Visit(F& f, typename F::template Row<DescribedPipeline>& described) {
  f.Index("pipeline", described.pipeline, Table::kPipelines);
  f.Number("description", described.description);
}

template <typename F>
void Visit(F& f, typename F::template Row<UserData>& data) {
  f.Name("key", data.key);
  f.Number("size_bytes", data.size_bytes);
}

// All tables, in the order of a file. Events are not rows but columns, which compress better: each visitor has
// its own way with them.
template <typename F, typename S>
void VisitTables(F& f, S& s) {
  f.Table({kDeviceChunk, Presence::kAlways, {"devices", 15, kMaxContexts}}, s.devices);
  f.Table({kQueueChunk, Presence::kAlways, {"queues", 6, kMaxQueues}}, s.queues);
  f.Table({kPipelineChunk, Presence::kAlways, {"pipelines", 4 + kStageCount, 0, 4}}, s.pipelines);
  f.Table(
      {kRecordingChunk, Presence::kAlways, {"command lists", 16, kMaxFileRecordings, 3}, 1u << 18},
      s.recordings);
  f.EventColumns(s.events);
  f.Table({kSubmissionChunk, Presence::kAlways, {"submissions", 6, 0, 4}}, s.submissions);
  f.Table({kSubmissionEndChunk, Presence::kIfAny, {"ends of submissions", 3, 0, 1}},
          s.submission_ends);
  f.Table(
      {kRawMarkerChunk, Presence::kAlways, {"raw markers", 10, kMaxFileRawMarkers, 1}, 1u << 20},
      s.raw_markers);
  f.Table({kAnnotationChunk, Presence::kLater, {"annotations", 6, 0, 2}}, s.annotations);
  // A free entry takes one byte of the file and a hundred of memory.
  f.Table({kObjectChunk, Presence::kLater, {"objects", 1, kMaxFileObjects, 2}}, s.objects);
  f.Table({kThreadChunk, Presence::kLater, {"threads", 5, 0, 4}}, s.threads);
  f.Table({kReportedEventIdChunk, Presence::kLater, {"EventIDs", 4, 0, 2}}, s.reported_event_ids);
  f.Table({kQueueMarkerChunk, Presence::kLater, {"markers of queues", 5, 0, 2}}, s.queue_markers);
  f.Table({kSyncChunk, Presence::kIfAny, {"waits and signals", 10, kSyncRing}}, s.syncs);
  f.Table({kFaultChunk, Presence::kIfAny, {"faults", 8, kMaxContexts}}, s.faults);
  f.Table({kMemoryChunk, Presence::kIfAny, {"devices' memory", 8, kMaxContexts}}, s.memory);
  f.Table({kCheckpointChunk, Presence::kIfAny, {"checkpoints", 5, kMaxContexts * kMaxCheckpoints}},
          s.checkpoints);
  f.Table({kShaderChunk, Presence::kIfAny, {"shaders", 10, kMaxShaders, 2}}, s.shaders);
  f.Table({kKernelLogChunk, Presence::kIfAny, {"kernel logs", 2, 1}}, s.kernel_logs);
  f.Table({kDestructionChunk, Presence::kIfAny, {"destructions", 16, kDestructionRing}},
          s.destructions);
  f.Table({kDescriptorSetChunk, Presence::kIfAny, {"descriptor sets", 5, kMaxDescriptorSets}},
          s.descriptor_sets);
  f.Table(
      {kPipelineDescriptorChunk, Presence::kIfAny, {"pipelines' descriptors", 2, kMaxPipelines}},
      s.pipeline_descriptors);
  f.Table({kDescribedPipelineChunk, Presence::kIfAny, {"pipelines' targets", 2, kMaxPipelines}},
          s.described_pipelines);
  f.Table({kUserDataChunk, Presence::kIfAny, {"user data", 2, kMaxUserData}}, s.user_data);
}

template <typename F, typename T>
concept HasLater = requires(F& f, typename F::template Row<T>& row) {
  VisitLater(f, row);
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_ROWS_H_
