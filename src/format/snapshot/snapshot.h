// SPDX-License-Identifier: Apache-2.0
//
// The state at one moment, as plain data: the input of the analysis and of every report. It is
// taken from a live or dead process's block (snapshot_from_block.h) or read from a .cairn file
// (snapshot_file.h), and both check every index, so a Snapshot is always consistent: each index is
// in range or kNone, each TextRef lies inside `text`.
//
// Flat on purpose: a few large vectors, no vector per list and no string per name, so that taking
// and printing a snapshot of 100,000 markers costs a handful of allocations.
#ifndef CAIRN_FORMAT_SNAPSHOT_SNAPSHOT_H_
#define CAIRN_FORMAT_SNAPSHOT_SNAPSHOT_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/block.h"

namespace cairn {

inline constexpr uint32_t kNone = 0xFFFFFFFF;

// UTF-8 text inside Snapshot::text. Untrusted: may hold control characters, never a bad offset.
struct TextRef {
  uint32_t offset = 0;
  uint32_t length = 0;
  bool empty() const { return length == 0; }
};

// Bytes inside Snapshot::blobs.
struct BlobRef {
  uint64_t offset = 0;
  uint64_t length = 0;
  bool empty() const { return length == 0; }
};

// The reason for taking the snapshot. Several may be noticed, one after the other.
enum class IncidentKind : uint32_t {
  kNone = 0,
  kRequested = 1,  // somebody asked: dump on exit, cairnPrintStatus
  kExited = 2,     // normal exit; value = exit code
  kSignal = 3,  // died; value as in base/signal_name.h: of a signal, an exception, TerminateProcess
  kDeviceLost = 4,  // reported by the application; value = HRESULT or VkResult
  kHang = 5,        // the watchdog: submitted work did not finish; value = timeout in ms
};
struct Incident {
  IncidentKind kind = IncidentKind::kNone;
  int64_t value = 0;
  uint64_t time_ns = 0;    // CLOCK_REALTIME
  uint32_t queue = kNone;  // kHang: the queue that stood still
  uint64_t address = 0;    // kSignal: faulting address where our handler saw it
  TextRef detail;  // kDeviceLost: where it was noticed; kSignal: the moment told, if not the end
};

struct Process {
  uint64_t process_id = 0;
  uint64_t start_time_ns = 0;  // CLOCK_REALTIME
  uint64_t snapshot_time_ns = 0;
  // CLOCK_MONOTONIC at start_time_ns, which places the times of submissions, objects and threads; 0 if
  // the file does not say.
  uint64_t start_monotonic_ns = 0;
  TextRef program;
  TextRef command_line;  // as `cairn run` started it; empty if it did not
  TextRef library_version;
};

struct Source {
  TextRef name;
  SourceState state = SourceState::kAbsent;
  TextRef reason;
};

// One device with its breadcrumbs (a context of the library).
struct Device {
  Api api = Api::kNone;
  MarkerMode mode = MarkerMode::kFull;
  WriteMethod method = WriteMethod::kNone;
  WordMemory memory = WordMemory::kNone;
  uint32_t mirror_period_us = 0;
  uint64_t frame = 0;
  uint64_t lists_dropped = 0;
  bool destroyed = false;
  bool device_lost = false;
  int32_t device_lost_code = 0;
  TextRef name;
  TextRef driver;
  TextRef notes;
  uint32_t vendor_id = 0;
  uint32_t device_id = 0;
  bool tells_submissions = false;   // of every list: what was never submitted has not run
  TextRef annotation_driver;        // "breadcrumb", "logging", "none", the path of a library
  bool annotations_forced = false;  // ForceDriverRetailAnnotations was in effect at creation
  TextRef application;              // as the application names itself and its engine to the API
  uint32_t first_source = 0;        // into Snapshot::sources
  uint32_t source_count = 0;
};

struct Queue {
  uint32_t device = kNone;
  uint32_t type = 0;  // CairnQueueType
  TextRef name;
  uint64_t native_handle = 0;
  uint64_t submission_count = 0;
  uint64_t completed_submission = 0;
  // Since when the watcher has seen nothing move on it, with work unfinished: CLOCK_MONOTONIC, up to one of its looks
  // late. 0: it did not look, or saw nothing unfinished.
  uint64_t still_since_ns = 0;
};

struct Pipeline {
  uint32_t device = kNone;
  bool unregistered = false;
  TextRef name;
  std::array<TextRef, kStageCount> shader_names;
  std::array<uint64_t, kStageCount> shader_hashes{};  // 0 unknown; leads to a Shader
  uint64_t native_handle = 0;
};

// The targets of a pipeline that a layer noted.
struct DescribedPipeline {
  uint32_t pipeline = kNone;
  uint64_t description = 0;  // format/block/pipeline_description.h
};

// The arguments of BeginEvent or SetMarker. The bytes are kept unchanged: a newer decoder may read
// more from them than the name.
struct Annotation {
  uint64_t event_id = 0;  // 0: none was given out
  uint32_t metadata = 0;
  uint32_t size_bytes = 0;  // as passed; `payload` may be cut
  bool has_colour = false;
  uint32_t colour = 0;  // 0xAARRGGBB
  TextRef name;         // decoded text
  TextRef payload;      // bytes, not text
};

// A binding that a kBind event records, at a BindPoint (Event::type) and slot.
struct Bind {
  uint32_t slot = 0;
  bool is_address = false;
  // GPU virtual address, or an index into Snapshot::objects; kNone for nothing. kDescriptorSet: 1 + an index
  // into Snapshot::descriptor_sets, as an address; 0 for nothing, and for sets that are not kept.
  uint64_t value = 0;
};

struct Event {
  EventKind kind = EventKind::kBegin;
  uint8_t flags = 0;  // kEventWrites..., kEventNameTruncated, kEventDrains
  uint16_t type = 0;  // CairnMarkerType; kBind: BindPoint
  uint32_t pipeline = kNone;
  // kEnd: sequence of its kBegin, 0 if it ends nothing; kBegin: sequence of its kEnd, 0 if open.
  // Matches are mutual, lead forwards and nest properly.
  uint32_t match = 0;
  TextRef name;
  // kBegin: index into annotations, kNone if it is none. kBind: index into binds, never kNone.
  uint32_t detail = kNone;
  // kBegin: number of the call in the trace of the same file, 0 if there is none. Taken from a block: its low
  // half (format/snapshot/call_numbers.h restores the rest).
  uint64_t call = 0;
};

// One recording of a command list, with the progress of its current execution. Events are
// Snapshot::events[first_event .. first_event + event_count); event i has sequence number i + 1.
struct Recording {
  uint32_t device = kNone;
  uint32_t queue = kNone;
  uint64_t recording_id = 0;
  uint64_t frame = 0;
  uint64_t submission_index = 0;
  uint64_t native_handle = 0;
  TextRef name;
  bool open = false;  // still being recorded
  bool reusable = false;
  // Runs inside others only, and none that is known executes it: the events of one that is executed
  // stand in those that execute it.
  bool secondary = false;
  uint32_t first_event = 0;
  uint32_t event_count = 0;
  uint32_t dropped_count = 0;
  uint32_t reached = 0;  // sequence numbers, 0 for never; stale values are already 0
  uint32_t passed = 0;
  uint32_t runs = 0;          // reusable: executions begun, as the GPU counted (not modulo)
  uint32_t submit_count = 0;  // 0 also when the application does not tell submissions
  // Executions proven complete before the one that the words describe: runs - 1 for a reusable list,
  // otherwise the executions that had finished when the list was submitted again.
  uint32_t finished_runs = 0;
};

// One list in one submission, in the order in which the application handed them over.
struct Submission {
  uint64_t serial = 0;
  uint32_t queue = kNone;
  uint32_t recording = kNone;  // kNone when its recording was recycled since: it had finished
  uint32_t run = 0;            // which execution of the recording, from 1
  uint64_t number = 0;         // of the queue; equal for lists submitted together
  uint64_t time_ns = 0;        // CLOCK_MONOTONIC
  uint64_t frame = 0;  // in which it was made; where that is not told, that of its recording
};

// A list of a submission whose end was seen, or may be still; in the order of Snapshot::submissions.
struct SubmissionEnd {
  uint64_t serial = 0;     // Submission::serial
  uint64_t ended_ns = 0;   // CLOCK_MONOTONIC when the CPU first saw its end; 0: it has not
  uint64_t pipelines = 0;  // SubmissionRecord::pipelines
};

// A wait or signal of a queue or of the CPU; see SyncRecord in format/block/block.h.
struct Sync {
  uint64_t serial = 0;
  SyncKind kind = SyncKind::kWait;
  uint32_t flags = 0;  // kSync...
  uint32_t device = kNone;
  uint32_t queue = kNone;          // kNone: the CPU, or the presentation engine
  uint64_t submission_number = 0;  // of the queue
  uint64_t native_handle = 0;
  uint32_t object = kNone;  // the semaphore or fence, into Snapshot::objects, if it is known
  uint64_t value = 0;
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
};

// The driver's report of why a device was lost.
struct Fault {
  uint32_t device = kNone;
  int32_t result = 0;    // < 0: the question failed, and nothing else is known
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  TextRef source;        // "VK_EXT_device_fault"
  TextRef description;
  uint32_t first_address = 0;  // into Snapshot::fault_addresses
  uint32_t address_count = 0;
  uint32_t first_vendor_info = 0;  // into Snapshot::vendor_infos
  uint32_t vendor_info_count = 0;
  uint64_t vendor_binary_bytes = 0;  // of the original
  BlobRef vendor_binary;             // whole, or empty
};
struct VendorInfo {
  TextRef description;
  uint64_t code = 0;
  uint64_t data = 0;
};

// The memory of a device: the last call that failed for want of it, and its heaps then, or at the device's loss.
struct DeviceMemory {
  uint32_t device = kNone;
  int32_t result = 0;         // VkResult or HRESULT; 0: no call failed so
  TextRef function;           // "vkAllocateMemory"
  uint64_t failed_ns = 0;     // CLOCK_MONOTONIC
  uint64_t failed_count = 0;  // calls
  uint64_t wanted_bytes = 0;  // of the last one; 0: not known
  uint64_t asked_ns = 0;      // CLOCK_MONOTONIC, of the heaps; 0: they are not known
  uint32_t first_heap = 0;    // into Snapshot::memory_heaps
  uint32_t heap_count = 0;
};
struct MemoryHeap {
  bool device_local = false;
  bool tells_use = false;  // otherwise the size alone is known
  uint64_t size_bytes = 0;
  uint64_t used_bytes = 0;    // by this process
  uint64_t budget_bytes = 0;  // that it may use before it fails or slows down
};

// A checkpoint of VK_NV_device_diagnostic_checkpoints: the last event that a stage of a queue
// reached.
struct Checkpoint {
  uint32_t device = kNone;
  uint32_t queue = kNone;
  PipeStage stage = PipeStage::kOther;
  // kNone where it lies in a secondary command buffer that several others execute; `sequence` counts
  // the events of that one then.
  uint32_t recording = kNone;
  uint32_t sequence = 0;
};

// Bytes that the program keeps under a key (cairn/user_data.h).
struct UserData {
  TextRef key;
  uint64_t size_bytes = 0;
  BlobRef
      bytes;  // all of them; empty where there are none, where they were not kept or not asked for
};

// Shader::traits of code that was read (shader_traits.h): unread code has no bits.
inline constexpr uint32_t kShaderRead = 1;
inline constexpr uint32_t kShaderLoops = 2;
inline constexpr uint32_t kShaderAtomics = 4;

struct Shader {
  uint64_t hash = 0;
  ShaderCode code = ShaderCode::kUnknown;
  uint64_t size_bytes = 0;
  uint32_t traits = 0;  // of those that pipelines in use have
  BlobRef bytes;        // all of them, or empty where they were not kept or not asked for
};

struct RawMarker {
  uint32_t device = kNone;
  uint32_t index = 0;
  uint64_t value = 0;  // only written slots are listed
};

// Something that the application made. Times are CLOCK_MONOTONIC.
struct Object {
  ObjectState state = ObjectState::kFree;  // kFree: the entry was never used
  // D3D12_DRED_ALLOCATION_TYPE, or kVulkanObject and a VkObjectType.
  uint32_t kind = 0;
  uint32_t device = kNone;
  bool name_cut = false;
  TextRef name;
  uint64_t native_handle = 0;
  uint64_t serial = 0;
  uint64_t created_ns = 0;
  uint64_t destroyed_ns = 0;  // kDestroyed only
  uint64_t gpu_address = 0;
  uint64_t size_bytes = 0;
  // Fences: the largest values so far.
  uint64_t signalled = 0;
  uint64_t waited = 0;
  uint64_t completed = 0;
  uint64_t description = 0;  // format/block/object_description.h; 0: none
};

// The destruction of an object, and the thread that caused it.
struct Destruction {
  uint64_t serial = 0;  // in the order in which it happened, from 1; may have gaps
  uint32_t device = kNone;
  uint32_t kind = 0;           // as in Object
  uint64_t native_handle = 0;  // 0 where only `object` leads here
  uint32_t object = kNone;     // its entry, if it has one
  // The object that the program destroyed or freed, if it is another one: the memory of a buffer,
  // the image of a view. Kind 0: the object itself was destroyed.
  uint32_t cause_kind = 0;
  uint64_t cause_handle = 0;
  uint32_t cause_object = kNone;
  // The object that this one is a view of, unless that is the cause. Kind 0: none.
  uint32_t owner_kind = 0;
  uint64_t owner_handle = 0;
  uint32_t owner_object = kNone;
  uint32_t thread_id = 0;
  TextRef thread_name;
  uint64_t time_ns = 0;            // CLOCK_MONOTONIC
  uint64_t frame = 0;              // of the device
  uint64_t submission_serial = 0;  // Submission::serial of the last one by then; 0 for none
};

// A descriptor that leads to something destroyed; or through which shaders can write a buffer that indirect commands
// read their arguments from.
struct Descriptor {
  uint32_t binding = 0;
  uint32_t element = 0;
  uint32_t kind = 0;             // as in Object, of what it names
  uint64_t native_handle = 0;    // the same
  uint32_t destruction = kNone;  // kNone: the buffer lives
};

// A descriptor set that unfinished work binds, or any work of a lost device, with its faulty descriptors; or one that any
// work binds and through which arguments of indirect commands can be written. Other descriptors are not kept.
struct DescriptorSet {
  uint32_t device = kNone;
  uint64_t native_handle = 0;
  // True: no set. The descriptors lie in buffers of the program, or were pushed into the command
  // buffer.
  bool in_buffers = false;
  bool pushed = false;
  uint32_t unseen_count = 0;      // descriptors in which nothing was looked for
  uint32_t first_descriptor = 0;  // into Snapshot::descriptors
  uint32_t descriptor_count = 0;
};
// A descriptor that shaders of a pipeline declare.
struct ShaderDescriptor {
  uint32_t set = 0;
  uint32_t binding = 0;
  auto operator<=>(const ShaderDescriptor&) const = default;
};
// All descriptors that a pipeline can use. Pipelines without an entry have a shader whose code is
// unknown.
struct PipelineDescriptors {
  uint32_t pipeline = kNone;
  uint32_t first_descriptor = 0;  // into Snapshot::shader_descriptors, in ascending order
  uint32_t descriptor_count = 0;
};

// A bind names them by 1 + their index, which has to stay below what redaction moves.
inline constexpr uint32_t kMaxDescriptorSets = 32768;

// A call into the API, of a thread's last ones.
struct Call {
  uint64_t number = 0;  // counts the thread's calls from 1
  uint64_t object = 0;  // native handle, as in Object
  TextRef function;     // "ID3D12Device::CreateFence"
  bool returned = false;
};

// One argument of a call. Only the first arguments of a thread's last calls are kept.
struct CallArgument {
  uint64_t call = 0;  // Call::number, of the thread that this belongs to
  ArgumentKind kind = ArgumentKind::kOther;
  TextRef name;  // of the parameter: "ThreadGroupCountX"
  uint64_t value = 0;
};

struct Thread {
  uint32_t thread_id = 0;
  bool ended = false;
  bool crashed = false;  // it raised the signal that the program died of
  TextRef name;
  uint64_t ended_ns = 0;    // CLOCK_MONOTONIC
  uint32_t first_call = 0;  // into Snapshot::calls; their numbers rise
  uint32_t call_count = 0;
  uint32_t first_argument = 0;  // into Snapshot::call_arguments; in the order of the calls
  uint32_t argument_count = 0;
};

// An EventID that a driver named after a crash, and what became of its marker.
enum class EventIdState : uint32_t {
  kUnknown = 0,   // no marker ever had it
  kExpired = 1,   // its allocator was reset or its queue dropped it
  kResolved = 2,  // annotations[annotation] is its marker
};
struct ReportedEventId {
  uint32_t device = kNone;
  uint64_t event_id = 0;
  EventIdState state = EventIdState::kUnknown;
  uint32_t annotation = kNone;
};

// A marker that a queue received outside of command lists, if its arena still has it; in order for
// each queue.
enum class QueueMarkerKind : uint32_t { kBegin = 1, kSetMarker = 2, kEnd = 3 };
struct QueueMarker {
  uint32_t queue = kNone;
  uint64_t native_handle = 0;  // of the queue, as in Object
  QueueMarkerKind kind = QueueMarkerKind::kBegin;
  uint32_t submission = 0;      // submissions made to the queue before it
  uint32_t annotation = kNone;  // kNone for an end
};

// A line that the kernel and its drivers logged about GPUs while the process ran.
struct KernelLine {
  uint64_t time_ns = 0;        // CLOCK_MONOTONIC, as far as the kernel's own clock agrees with it
  bool names_process = false;  // this one; otherwise it names none
  bool tells_fault =
      false;  // of an access or an instruction that went wrong, not only of a time-out
  TextRef text;
};
// The log, if it was requested.
struct KernelLog {
  TextRef why_not;          // why it could not be read; empty if it could
  uint32_t first_line = 0;  // into Snapshot::kernel_lines
  uint32_t line_count = 0;
};

struct Snapshot {
  Process process;
  std::vector<Incident> incidents;  // in the order noticed
  std::vector<Device> devices;      // same indices as the contexts of the block; never made: kNone
  std::vector<Source> sources;
  std::vector<Queue> queues;                           // same indices as in the block
  std::vector<Pipeline> pipelines;                     // same indices as in the block
  std::vector<DescribedPipeline> described_pipelines;  // in their order; none in old files
  std::vector<Recording> recordings;                   // ordered by device, frame, recording_id
  std::vector<Event> events;
  std::vector<Annotation> annotations;
  std::vector<Bind> binds;
  std::vector<Submission> submissions;         // ordered by serial
  std::vector<SubmissionEnd> submission_ends;  // ordered by serial; none in old files
  std::vector<RawMarker> raw_markers;
  std::vector<Object> objects;  // same indices as in the block
  std::vector<Thread> threads;
  std::vector<Call> calls;
  std::vector<CallArgument> call_arguments;
  std::vector<ReportedEventId> reported_event_ids;
  std::vector<QueueMarker> queue_markers;
  std::vector<Sync> syncs;  // ordered by serial
  std::vector<Fault> faults;
  std::vector<FaultAddress> fault_addresses;
  std::vector<VendorInfo> vendor_infos;
  std::vector<DeviceMemory> memory;  // of a device one at most
  std::vector<MemoryHeap> memory_heaps;
  std::vector<Checkpoint> checkpoints;
  std::vector<Shader> shaders;  // each hash once
  std::vector<KernelLog> kernel_logs;
  std::vector<KernelLine> kernel_lines;
  std::vector<Destruction>
      destructions;  // ordered by serial; those that something else here leads to
  std::vector<DescriptorSet> descriptor_sets;
  std::vector<Descriptor> descriptors;
  std::vector<PipelineDescriptors> pipeline_descriptors;  // where there are descriptor sets
  std::vector<ShaderDescriptor> shader_descriptors;
  std::vector<UserData> user_data;  // ordered by key
  std::vector<TextRef> losses;      // what could not be read, one sentence each
  std::string text;
  std::vector<std::byte> blobs;

  std::span<const std::byte> Blob(BlobRef ref) const {
    return std::span(blobs).subspan(ref.offset, ref.length);
  }
  std::string_view Text(TextRef ref) const {
    return std::string_view(text).substr(ref.offset, ref.length);
  }
  TextRef AddText(std::string_view value) {
    TextRef ref{static_cast<uint32_t>(text.size()), static_cast<uint32_t>(value.size())};
    text.append(value);
    return ref;
  }
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_SNAPSHOT_H_
