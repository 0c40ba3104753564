// SPDX-License-Identifier: Apache-2.0
//
// The block: the memory that the application and the watcher share. The application (and, through
// imported memory, the GPU) writes; the watcher only reads, and trusts nothing it reads. Everything
// is a fixed-size little-endian plain struct reached by an offset from the block's start; there are
// no pointers. The block is a sparse file in memory: a page costs nothing until it is touched.
//
// Layout, in pages of 4,096 bytes:
//   page 0            BlockHeader
//   the fixed tables  contexts, queues, pipelines, submissions (offsets in the header)
//   the rest          handed out page by page: recordings, GPU-written words, event chunks, names
//
// Threads: tables are append-only; an entry is published by a release store of its `state` or of
// its table's count. A reader that sees the published value sees the whole entry.
#ifndef CAIRN_RECORDER_BLOCK_H_
#define CAIRN_RECORDER_BLOCK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cairn {

inline constexpr uint64_t kBlockMagic = 0x314b4c424e524143;  // "CARNBLK1"
inline constexpr uint32_t kBlockVersion = 2;
inline constexpr uint32_t kPageBytes = 4096;
inline constexpr uint64_t kDefaultBlockBytes = uint64_t{256} << 20;
inline constexpr uint64_t kMinBlockBytes = uint64_t{8} << 20;
inline constexpr uint64_t kMaxBlockBytes = uint64_t{4} << 30;

inline constexpr uint32_t kMaxContexts = 64;
inline constexpr uint32_t kMaxQueues = 1024;
inline constexpr uint32_t kMaxPipelines = 32768;
inline constexpr uint32_t kSubmissionRing =
    16384;  // Power of two; the oldest entry is overwritten.

// A name in the block: its offset divided by 8; 0 is "no name". The offset leads to a NameRecord.
using NameRef = uint32_t;
inline constexpr uint32_t kMaxNameBytes = 1024;  // Longer breadcrumb names are cut there.
struct NameRecord {
  uint32_t length_bytes;  // UTF-8, without the terminating zero that follows the bytes.
  char bytes[4];          // length_bytes + 1 of them; aligned to 8 with what follows.
};

// What kind of API a context belongs to.
enum class Api : uint32_t { kNone = 0, kD3D12 = 1, kVulkan = 2, kCustom = 3 };

// How much the GPU is asked to write. See docs/breadcrumbs.md.
enum class MarkerMode : uint32_t { kTop = 0, kPass = 1, kFull = 2 };

// How the GPU writes progress words. The order is that of preference.
enum class WriteMethod : uint32_t {
  kNone = 0,
  kD3D12WriteBufferImmediate = 1,
  kD3D12CopyBufferRegion = 2,
  kVulkanBufferMarker = 3,  // VK_AMD_buffer_marker
  kVulkanFillBuffer = 4,    // outside render passes only
  kCustom = 5,
};

// Where the words live, best first.
enum class WordMemory : uint32_t {
  kNone = 0,
  kImported = 1,  // The GPU writes into this block: survives the process.
  kMirrored = 2,  // A thread copies from device-visible memory: up to one period old after SIGKILL.
  kCallback = 3,  // A custom backend's callbacks write here.
};

// Progress of one recording: the GPU writes the words, or its mirror does. Values are
// ProgressValue(generation, sequence); a value of another generation counts as never written.
struct alignas(16) ProgressWords {
  std::atomic<uint32_t> reached;  // top of pipe
  std::atomic<uint32_t> passed;   // bottom of pipe
  std::atomic<uint32_t> runs;     // reusable lists: executions begun, modulo kRunModulus
  uint32_t reserved;
};
inline constexpr uint32_t kRunModulus = 64;
inline constexpr uint32_t kSequenceBits = 22;
inline constexpr uint32_t kMaxSequence = (1u << kSequenceBits) - 1;
inline constexpr uint32_t kGenerationMask = (1u << (32 - kSequenceBits)) - 1;
// Generations count from 1 and skip 0, so that zeroed memory is never a valid value.
constexpr uint32_t ProgressValue(uint32_t generation, uint32_t sequence) {
  return (generation & kGenerationMask) << kSequenceBits | (sequence & kMaxSequence);
}
constexpr uint32_t ProgressSequence(uint32_t value, uint32_t generation) {
  return value >> kSequenceBits == (generation & kGenerationMask) ? value & kMaxSequence : 0;
}

// Raw markers (markers.h) are 64-bit words; a slot never written holds this.
inline constexpr uint64_t kRawMarkerUnwritten = 0xCDCDCDCDCDCDCDCD;

enum class EventKind : uint8_t { kBegin = 1, kEnd = 2 };

// Which words the GPU was asked to write at an event.
inline constexpr uint8_t kEventWritesTop = 1;      // reached = this event's sequence number
inline constexpr uint8_t kEventWritesBottom = 2;   // passed = this event's sequence number
inline constexpr uint8_t kEventNameTruncated = 4;  // the name was longer than kMaxNameBytes

// Event number i (from 0) of a recording has sequence number i + 1.
struct EventRecord {
  EventKind kind;
  uint8_t flags;
  uint16_t type;      // CairnMarkerType of include/cairn/marker_types.h; 0 for kEnd
  NameRef name;       // kBegin
  uint32_t pipeline;  // kBegin: index into the pipeline table + 1, 0 for none
  uint32_t match;     // kEnd: the sequence number of the kBegin that it ends
};
static_assert(sizeof(EventRecord) == 16);

// One page of events; a recording owns a chain of them.
inline constexpr uint32_t kEventsPerChunk = 255;
struct EventChunk {
  std::atomic<uint32_t> next_page;  // page index of the next chunk, 0 at the end
  uint32_t reserved[3];
  EventRecord events[kEventsPerChunk];
};
static_assert(sizeof(EventChunk) == kPageBytes);

// Where event number i (from 0, of the recording in `slot`) stands in its chunk. Chunks are filled in
// a circle from a place that depends on the slot: lists that are recorded in turns would otherwise
// all write to the same line of their pages, and so to the same few sets of the cache.
constexpr uint32_t FirstEventPosition(uint32_t slot) {
  constexpr uint32_t kEventsPerCacheLine = 64 / sizeof(EventRecord);
  return slot % (kEventsPerChunk / kEventsPerCacheLine) * kEventsPerCacheLine;
}
constexpr uint32_t EventPosition(uint32_t slot, uint32_t event) {
  return (FirstEventPosition(slot) + event) % kEventsPerChunk;
}

enum class RecordingState : uint32_t { kFree = 0, kOpen = 1, kClosed = 2 };

inline constexpr uint32_t kRecordingReusable = 1;  // may be submitted many times; `runs` counts
inline constexpr uint32_t kNoQueue = 0xFFFFFFFF;

// One recording of one command list. Its progress words have the same index as the slot. Slots are
// taken lowest first: where recording_id is 0, neither this slot nor a later one was ever used.
struct alignas(128) RecordingSlot {
  std::atomic<uint32_t> state;  // RecordingState
  uint32_t generation;          // changes whenever the slot is used again
  uint32_t queue;               // index into the queue table or kNoQueue
  uint32_t flags;
  NameRef name;
  uint32_t first_event_page;
  std::atomic<uint32_t> event_count;    // published events
  std::atomic<uint32_t> dropped_count;  // events that found no memory or no sequence number
  uint64_t recording_id;                // unique in the block, in order of registration
  uint64_t frame;
  uint64_t submission_index;  // as the application gave it at registration
  uint64_t native_handle;     // VkCommandBuffer or ID3D12GraphicsCommandList*
  std::atomic<uint32_t> submit_count;
  std::atomic<uint32_t> reset_run;  // executions known complete when the words were last cleared
};
static_assert(sizeof(RecordingSlot) == 128);

struct QueueRecord {
  std::atomic<uint32_t> state;  // 1 when published
  uint32_t context;
  uint32_t type;  // CairnQueueType
  NameRef name;
  uint64_t native_handle;
  std::atomic<uint64_t> submission_count;      // last submission number handed out, from 1
  std::atomic<uint64_t> completed_submission;  // as told by the application, 0 if it never tells
  uint64_t reserved[3];
};
static_assert(sizeof(QueueRecord) == 64);

// The shader stages of a pipeline, in this order everywhere.
enum ShaderStage : uint32_t {
  kStageVertex,
  kStageHull,
  kStageDomain,
  kStageGeometry,
  kStagePixel,
  kStageMesh,
  kStageAmplification,
  kStageCompute,
  kStageRayTracing,
  kStageCount
};

struct PipelineRecord {
  std::atomic<uint32_t> state;  // 1 when published, 2 once unregistered
  uint32_t context;
  NameRef name;
  NameRef shader_names[kStageCount];
  uint64_t native_handle;
  uint64_t reserved;
};
static_assert(sizeof(PipelineRecord) == 64);

// One command list in one submission. Written before the list is handed to the API.
struct SubmissionRecord {
  std::atomic<uint64_t> serial;  // 1 + position in the whole run; written last
  uint32_t queue;
  uint32_t run;  // which execution of the recording this is, from 1
  uint32_t context;
  uint32_t slot;
  uint64_t recording_id;
  uint64_t submission_number;  // of the queue, from 1; the same for lists submitted together
  uint64_t time_ns;            // CLOCK_MONOTONIC
  uint64_t reserved[2];
};
static_assert(sizeof(SubmissionRecord) == 64);

// Something that helps to find the culprit, and whether it could be had. Shown source by source.
enum class SourceState : uint32_t { kAbsent = 0, kPresent = 1, kFailed = 2, kSilent = 3 };
struct SourceRecord {
  NameRef name;  // "VK_AMD_buffer_marker"
  SourceState state;
  NameRef reason;  // "not enabled by the application"
};
inline constexpr uint32_t kMaxSources = 16;

// One device with its breadcrumbs.
struct ContextRecord {
  std::atomic<uint32_t> state;  // 1 when published, 2 once destroyed
  Api api;
  MarkerMode mode;
  WriteMethod method;
  WordMemory memory;
  uint32_t mirror_period_us;  // 0 unless memory is kMirrored
  uint32_t recording_capacity;
  uint32_t raw_marker_count;
  uint64_t recordings_offset;   // RecordingSlot[recording_capacity]
  uint64_t progress_offset;     // ProgressWords[recording_capacity]; page-aligned
  uint64_t raw_markers_offset;  // uint64_t[raw_marker_count]; page-aligned
  std::atomic<uint64_t> frame;
  std::atomic<uint64_t> lists_dropped;    // registrations that found no free recording
  std::atomic<uint32_t> device_lost;      // 1 once reported by the application
  std::atomic<int32_t> device_lost_code;  // HRESULT or VkResult
  NameRef device_lost_where;
  NameRef device_name;
  NameRef driver_name;
  NameRef device_notes;  // "a fault surfaces up to one dispatch late", "" if none
  uint32_t vendor_id;
  uint32_t device_id;
  std::atomic<uint32_t> source_count;
  uint32_t reserved[21];
  SourceRecord sources[kMaxSources];
};
static_assert(sizeof(ContextRecord) == 384);

struct BlockHeader {
  uint64_t magic;         // kBlockMagic
  uint32_t version;       // kBlockVersion
  uint32_t header_bytes;  // sizeof(BlockHeader) of the writer
  uint64_t block_bytes;
  uint64_t process_id;
  uint64_t start_realtime_ns;
  uint64_t start_monotonic_ns;
  uint64_t contexts_offset;
  uint64_t queues_offset;
  uint64_t pipelines_offset;
  uint64_t submissions_offset;
  uint64_t first_free_page;         // where page allocation starts
  std::atomic<uint64_t> next_page;  // first page never handed out
  std::atomic<uint32_t> context_count;
  std::atomic<uint32_t> queue_count;
  std::atomic<uint32_t> pipeline_count;
  std::atomic<uint32_t> pages_refused;  // allocations that found the block full
  std::atomic<uint64_t> submission_serial;
  std::atomic<uint64_t> next_recording_id;
  std::atomic<uint32_t> crash_signal;  // seen by our own handler, 0 if none
  uint32_t crash_thread;
  uint64_t crash_address;
  char program[256];  // UTF-8, zero-terminated: path of the executable
  char library_version[32];
};
static_assert(sizeof(BlockHeader) <= kPageBytes);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

}  // namespace cairn

#endif  // CAIRN_RECORDER_BLOCK_H_
