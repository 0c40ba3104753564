// SPDX-License-Identifier: Apache-2.0
//
// The block: the memory that the application and the watcher share. The application (and, through
// imported memory, the GPU) writes; the watcher only reads, and trusts nothing it reads. Everything
// is a fixed-size little-endian plain struct reached by an offset from the block's start; there are
// no pointers. The block is a sparse file in memory: a page costs nothing until it is touched.
//
// Layout, in pages of 4,096 bytes:
//   page 0            BlockHeader
//   the fixed tables  contexts, queues, pipelines, submissions, synchronisation, objects, threads,
//                     functions, marker arenas, driver reports, faults, checkpoints, shaders,
//                     destructions, memory (offsets in the header)
//   the rest          handed out page by page: recordings, GPU-written words, event chunks, names, markers,
//                     descriptor sets
//
// Threads: an entry is published by a release store of its `state` (entry_state.h) or of its table's count. A reader
// that sees the published value sees the whole entry. Where all entries of a table have been used,
// those whose owner has ended are used again, the oldest first: they are kEntryFree meanwhile.
#ifndef CAIRN_FORMAT_BLOCK_BLOCK_H_
#define CAIRN_FORMAT_BLOCK_BLOCK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "format/block/entry_state.h"

namespace cairn {

inline constexpr uint64_t kBlockMagic = 0x314b4c424e524143;  // "CARNBLK1"
inline constexpr uint32_t kBlockVersion = 9;
inline constexpr uint32_t kPageBytes = 4096;
inline constexpr uint64_t kDefaultBlockBytes = uint64_t{256} << 20;
inline constexpr uint64_t kMinBlockBytes = uint64_t{8} << 20;
inline constexpr uint64_t kMaxBlockBytes = uint64_t{4} << 30;
// Smaller blocks have no tables of synchronisation, objects, threads, functions, marker arenas, driver
// reports, faults, checkpoints, shaders, destructions and memory: their offsets are 0.
inline constexpr uint64_t kMinLayerBlockBytes = uint64_t{64} << 20;

inline constexpr uint32_t kMaxContexts = 64;
inline constexpr uint32_t kMaxQueues = 1024;
inline constexpr uint32_t kMaxPipelines = 32768;
inline constexpr uint32_t kSubmissionRing =
    16384;  // Power of two; the oldest entry is overwritten.
inline constexpr uint32_t kMaxObjects = 65536;
inline constexpr uint32_t kMaxThreads = 512;
inline constexpr uint32_t kMaxFunctions = 2048;
inline constexpr uint32_t kMaxArenas = 65536;
inline constexpr uint32_t kSyncRing = 16384;  // Same capacity as kSubmissionRing.
inline constexpr uint32_t kMaxShaders = 65536;

// A name in the block: its offset divided by 8; 0 is "no name". The offset leads to a NameRecord.
using NameRef = uint32_t;
inline constexpr uint32_t kMaxNameBytes = 1024;  // Longer breadcrumb names are cut there.
struct NameRecord {
  uint32_t length_bytes;  // UTF-8, without the terminating zero that follows the bytes.
  char bytes[4];          // length_bytes + 1 of them; aligned to 8 with what follows.
};

// The API whose objects a context records.
enum class Api : uint32_t { kNone = 0, kD3D12 = 1, kVulkan = 2, kCustom = 3, kD3D11 = 4 };

// Selects how much the GPU writes. See docs/reference/breadcrumbs.md.
// kOff: lists, events and submissions are recorded, the GPU writes nothing.
// kExact: like kFull, and the work that the Vulkan layer records does not overlap.
enum class MarkerMode : uint32_t { kTop = 0, kPass = 1, kFull = 2, kOff = 3, kExact = 4 };

// Returns true if the GPU writes a word at the end of each command.
constexpr bool WritesAllEnds(MarkerMode mode) {
  return mode == MarkerMode::kFull || mode == MarkerMode::kExact;
}

// The command by which the GPU writes progress words, in order of preference.
enum class WriteMethod : uint32_t {
  kNone = 0,
  kD3D12WriteBufferImmediate = 1,
  kD3D12CopyBufferRegion = 2,
  kVulkanBufferMarker = 3,  // VK_AMD_buffer_marker
  kVulkanFillBuffer = 4,    // outside render passes only
  kCustom = 5,
  // Recorded by the Vulkan layer into the command buffer of a Direct3D 12 list.
  kDriverBufferMarker = 6,  // VK_AMD_buffer_marker
  kDriverFillBuffer = 7,    // outside render passes only
  // Raw markers of Direct3D 11.
  kD3D11Fence = 8,       // ID3D11DeviceContext4::Signal
  kD3D11EventQuery = 9,  // D3D11_QUERY_EVENT
  kAmdAgs = 10,          // AMD's own amd_ags_x64.dll
  kD3D11Labels = 11,     // by the Vulkan layer below, which has the slots
};

// The memory that holds the progress words, best first.
enum class WordMemory : uint32_t {
  kNone = 0,
  kImported = 1,  // The GPU writes into this block: survives the process.
  kMirrored = 2,  // A thread copies from device-visible memory: up to one period old after SIGKILL.
  kCallback = 3,  // A custom backend's callbacks write here.
};

// The pipeline stage of a checkpoint.
enum class PipeStage : uint32_t { kTop = 1, kBottom = 2, kOther = 3 };

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

// kBind: what the commands that follow use; it is no work of its own, and writes no word.
enum class EventKind : uint8_t { kBegin = 1, kEnd = 2, kBind = 3 };

// The words that the GPU writes at an event.
inline constexpr uint8_t kEventWritesTop = 1;      // reached = this event's sequence number
inline constexpr uint8_t kEventWritesBottom = 2;   // passed = this event's sequence number
inline constexpr uint8_t kEventNameTruncated = 4;  // the name was longer than kMaxNameBytes
// kBegin: the name's bytes are an AnnotationHeader and the payload as the application gave it: the
// application never formats text, the reader of the block decodes it.
inline constexpr uint8_t kEventNameIsAnnotation = 8;
// kBind: the value is a GPU virtual address, otherwise 1 + an index into the object table. 0: nothing
// is bound there any more.
inline constexpr uint8_t kEventBindsAddress = 16;
// kEnd: on this device the GPU goes beyond it, to writes at the top of the pipe as well, only once all earlier
// dispatches, or draws, or other work of the queue have finished; with all three, all earlier work.
inline constexpr uint8_t kEventDrainsDispatches = 32;
inline constexpr uint8_t kEventDrainsDraws = 64;
inline constexpr uint8_t kEventDrainsOther = 16;
inline constexpr uint8_t kEventDrains =
    kEventDrainsDispatches | kEventDrainsDraws | kEventDrainsOther;

struct AnnotationHeader {
  uint64_t event_id;  // 0: none was given out
  uint32_t metadata;  // as passed to BeginEvent or SetMarker
  uint32_t size;      // of the payload as passed; what follows may be cut
};
static_assert(sizeof(AnnotationHeader) == 16);

// The bind point of a kBind event, stored in EventRecord::type.
enum class BindPoint : uint16_t {
  kRenderTarget = 1,
  kDepthStencil = 2,
  kVertexBuffer = 3,
  kIndexBuffer = 4,
  kRootConstantBuffer = 5,
  kRootShaderResource = 6,
  kRootUnorderedAccess = 7,
  kStreamOutput = 8,
  kIndirectArguments = 9,
  kSource = 10,       // of the next copy, resolve, or similar command
  kDestination = 11,  // of the next copy, resolve, clear, or similar command
  // Between the begin and the end of an EXECUTE_COMMANDS: the GPU runs the recording of a secondary
  // command buffer here. The value is its recording_id.
  kSecondary = 12,
  // 13 and 14: raw_marker_binds.h. From 32 to 63: work_arguments.h.
  kDescriptorSet =
      15,  // with kEventBindsAddress; the value is a DescriptorSetPlace (descriptor_sets.h)
};
// Flag in the slot of a kBind event: a root parameter, or a set, of dispatches; otherwise of draws.
inline constexpr uint32_t kBindSlotOfCompute = 0x80000000;
// A set of ray tracing.
inline constexpr uint32_t kBindSlotOfRays = 0x40000000;

// Event number i (from 0) of a recording has sequence number i + 1.
struct EventRecord {
  EventKind kind;
  uint8_t flags;
  uint16_t type;  // CairnMarkerType of include/cairn/marker_types.h; 0 for kEnd
  NameRef name;   // kBegin; kBind: the slot (render target number, root parameter index, ...)
  uint32_t
      pipeline;  // kBegin: index into the pipeline table + 1, 0 for none; kBind: value, low half
  // kEnd: the sequence number of the kBegin that it ends; kBind: value, high half; kBegin: the low half
  // of the number of the call in the trace that it belongs to, 0 for none.
  uint32_t match;
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

// Returns the position in its chunk of event number i (from 0, of the recording in `slot`). Chunks
// are filled in a circle from a place that depends on the slot: lists that are recorded in turns
// would otherwise all write to the same line of their pages, and so to the same few sets of the
// cache.
constexpr uint32_t FirstEventPosition(uint32_t slot) {
  constexpr uint32_t kEventsPerCacheLine = 64 / sizeof(EventRecord);
  return slot % (kEventsPerChunk / kEventsPerCacheLine) * kEventsPerCacheLine;
}
constexpr uint32_t EventPosition(uint32_t slot, uint32_t event) {
  return (FirstEventPosition(slot) + event) % kEventsPerChunk;
}

enum class RecordingState : uint32_t { kFree = 0, kOpen = 1, kClosed = 2 };

inline constexpr uint32_t kRecordingReusable = 1;  // may be submitted many times; `runs` counts
// Runs inside other recordings (BindPoint::kSecondary) and is never submitted itself. `submit_count` and
// `reset_run` count with those of the recording that it runs in.
inline constexpr uint32_t kRecordingSecondary = 2;
// The queue refused the last submission of a list that is not reusable: its words were cleared for that, and
// stay so. SubmissionRecord::refused says which ones were refused; submit_count does not count them.
inline constexpr uint32_t kRecordingRefused = 4;
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
  std::atomic<uint32_t> state;  // EntryState
  uint32_t context;
  uint32_t type;  // CairnQueueType
  NameRef name;
  uint64_t native_handle;
  std::atomic<uint64_t> submission_count;  // last submission number handed out, from 1
  // The last submission known to be completed, from the application or from fences that a layer
  // observes; 0 if unknown.
  std::atomic<uint64_t> completed_submission;
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
  std::atomic<uint32_t> state;  // EntryState; retired: unregistered
  uint32_t context;
  NameRef name;
  NameRef shader_names[kStageCount];
  uint64_t native_handle;
  uint64_t shader_hashes[kStageCount];  // leads to a ShaderRecord; 0 unknown
  uint64_t description;                 // pipeline_description.h; 0: none
  uint64_t reserved[7];
};
static_assert(sizeof(PipelineRecord) == 192);

// The code of a shader, once for all pipelines that have it. Entries are never used again.
enum class ShaderCode : uint32_t { kUnknown = 0, kSpirV = 1, kDxbc = 2 };
struct ShaderRecord {
  std::atomic<uint32_t> state;  // EntryState
  ShaderCode code;
  uint64_t hash;  // never 0; XXH64 of the code for SPIR-V, of its own header for DXBC
  uint64_t size_bytes;
  uint64_t offset;  // of the bytes in the block, 0: not kept, for want of room
};
static_assert(sizeof(ShaderRecord) == 32);

// One command list in one submission. Written before the list is handed to the API.
struct SubmissionRecord {
  std::atomic<uint64_t> serial;  // 1 + position in the whole run; written last
  uint32_t queue;
  uint32_t run;  // which execution of the recording this is, from 1
  uint32_t context;
  uint32_t slot;
  uint64_t recording_id;
  uint64_t submission_number;     // of the queue, from 1; the same for lists submitted together
  uint64_t time_ns;               // CLOCK_MONOTONIC
  uint64_t frame_plus_1;          // the context's frame at that time; 0: not told
  std::atomic<uint32_t> refused;  // 1: by the queue; nothing of it ever runs
  uint32_t reserved;
  // CLOCK_MONOTONIC when the CPU first saw that it had completed (QueueRecord::completed_submission); 0: not yet.
  std::atomic<uint64_t> ended_ns;
  // Bit n: it has a command with a pipeline whose number in the table, from 1, is n modulo 64; bit 0 also for
  // commands without one. Submissions of the same pipelines are alike.
  uint64_t pipelines;
};
static_assert(sizeof(SubmissionRecord) == 80);

// Synchronization operations of a queue, kept in a ring: waits before it goes on, and signals when
// it got there.
enum class SyncKind : uint32_t { kWait = 1, kSignal = 2 };
// The object is a binary semaphore, whose value is always 0; without this flag it is a timeline
// semaphore or a Direct3D fence.
inline constexpr uint32_t kSyncBinary = 1;
inline constexpr uint32_t kSyncFence = 2;    // a VkFence, which the CPU alone waits for
inline constexpr uint32_t kSyncPresent = 4;  // waited for by a present, after the submission
inline constexpr uint32_t kSyncAcquire = 8;  // signalled by the presentation engine; no queue
// Set later on a wait of the CPU: the wait was satisfied, or can never be satisfied.
inline constexpr uint32_t kSyncOver = 16;
struct SyncRecord {
  std::atomic<uint64_t> serial;  // 1 + position in the whole run; written last
  SyncKind kind;
  uint32_t queue;  // index into the queue table; kNoQueue: the CPU, or the presentation engine
  // The queue's submission number, from 1. Vulkan: waits precede this submission, signals follow
  // it. Direct3D: the operation comes after this submission and before the next one; 0: before the
  // first.
  uint64_t submission_number;
  uint64_t native_handle;  // VkSemaphore, VkFence, ID3D12Fence*
  uint64_t value;
  uint64_t time_ns;  // CLOCK_MONOTONIC
  uint32_t context;
  uint32_t flags;  // kSync...
  uint64_t reserved;
};
static_assert(sizeof(SyncRecord) == 64);

// Something that helps to find the culprit, and whether it could be had. Shown source by source.
enum class SourceState : uint32_t { kAbsent = 0, kPresent = 1, kFailed = 2, kSilent = 3 };
struct SourceRecord {
  NameRef name;  // "VK_AMD_buffer_marker"
  SourceState state;
  NameRef reason;  // "not enabled by the application"
};
inline constexpr uint32_t kMaxSources = 16;

// An object of the API. Entries of destroyed objects are used again, the oldest first.
enum class ObjectState : uint32_t { kFree = 0, kAlive = 1, kDestroyed = 2 };
inline constexpr uint32_t kObjectNameBytes = 144;
// Flag in ObjectRecord::kind: the other bits are a VkObjectType.
inline constexpr uint32_t kVulkanObject = 0x80000000;
// Flag in ObjectRecord::kind, never together with kVulkanObject: the other bits are a D3D11Kind.
// Values are stored in files.
inline constexpr uint32_t kD3D11Object = 0x40000000;
enum class D3D11Kind : uint32_t {
  kDevice = 1,
  kContext = 2,
  kBuffer = 3,
  kTexture = 4,
  kShaderResourceView = 5,
  kUnorderedAccessView = 6,
  kRenderTargetView = 7,
  kDepthStencilView = 8,
  kInputLayout = 9,
  kBlendState = 10,
  kDepthStencilState = 11,
  kRasterizerState = 12,
  kSamplerState = 13,
  kQuery = 14,
  kVertexShader = 15,
  kHullShader = 16,
  kDomainShader = 17,
  kGeometryShader = 18,
  kPixelShader = 19,
  kComputeShader = 20,
  kCommandList = 21,
};
struct ObjectRecord {
  std::atomic<uint32_t> state;  // ObjectState
  uint32_t kind;  // D3D12_DRED_ALLOCATION_TYPE, or one of the above and more; 0 unknown
  uint32_t context;
  std::atomic<uint32_t> name_length;  // bytes of UTF-8 in `name`; kObjectNameCut if there were more
  uint64_t native_handle;             // the pointer that the application holds
  uint64_t serial;      // its own, from 1; of one thread in order of creation (of all: created_ns)
  uint64_t created_ns;  // CLOCK_MONOTONIC
  std::atomic<uint64_t> destroyed_ns;
  // GPU virtual address and size of a buffer. Vulkan: of any object that has addresses, one entry
  // for each range that the object is bound to. Shader-visible descriptor heaps store the handles
  // of their descriptors, which are no addresses. Other heaps, and buffers of Vulkan without an
  // address that is known, have a size only. Otherwise 0.
  uint64_t gpu_address;
  uint64_t size_bytes;
  // Fences: the largest value that a queue or the CPU will signal, the largest that a queue or the
  // CPU waits for, and the largest that the application read or set as completed.
  std::atomic<uint64_t> signalled;
  std::atomic<uint64_t> waited;
  std::atomic<uint64_t> completed;
  uint64_t description;  // object_description.h; 0: none
  char name[kObjectNameBytes + 16];
};
inline constexpr uint32_t kObjectNameCut = 0x80000000;  // bit of name_length
static_assert(sizeof(ObjectRecord) == 256);

// The last calls of a thread into the API, a ring: call number i (from 1) stands at i % kCallsPerThread.
inline constexpr uint32_t kCallsPerThread = 64;
// The type of an argument: the letter behind the parameter's name in FunctionTable.
enum class ArgumentKind : uint32_t {
  kUnsigned = 'u',
  kSigned = 'i',
  kFloat = 'f',    // 32 bits
  kPointer = 'p',  // of the process: objects, structs, memory
  kGpuAddress = 'a',
  kGpuDescriptor = 'd',  // the handle of a descriptor, as lists are given it
  kOther = 's',          // a struct by value: not kept
};
inline constexpr uint32_t kArgumentsPerCall = 5;  // the first ones behind the object are kept
struct CallRecord {
  std::atomic<uint64_t> number;    // 0: never used; written last at the begin of a call
  std::atomic<uint64_t> object;    // the pointer that the application holds
  std::atomic<uint32_t> function;  // index into the table of function names
  std::atomic<uint32_t> returned;  // 1 once the call has returned
  // The argument values as they were passed, one for each parameter of the function's name in the
  // table.
  std::atomic<uint64_t> arguments[kArgumentsPerCall];
};
static_assert(sizeof(CallRecord) == 64);
struct alignas(128) ThreadRecord {
  std::atomic<uint32_t> state;  // EntryState; retired: ended, and the oldest is used again
  uint32_t thread_id;           // of the operating system
  char name[16];                // zero-terminated
  std::atomic<uint64_t> ended_ns;
  uint64_t reserved;
  CallRecord calls[kCallsPerThread];
};

// The table of function names: "ID3D12Device::CreateFence", or with its parameters
// "ID3D12GraphicsCommandList::Dispatch(ThreadGroupCountX:u,ThreadGroupCountY:u,ThreadGroupCountZ:u)". A letter says
// what a parameter is, ArgumentKind.
struct FunctionTable {
  std::atomic<uint32_t> count;  // published entries
  NameRef names[kMaxFunctions];
};

// An EventID names one marker of one arena, and resolving it needs no map. 0 is no EventID.
inline constexpr uint32_t kEventIdArenaBits = 16;
inline constexpr uint32_t kEventIdGenerationBits = 24;
inline constexpr uint32_t kEventIdIndexBits = 24;
constexpr uint64_t MakeEventId(uint32_t arena, uint32_t generation, uint32_t index) {
  return uint64_t{arena} << (kEventIdGenerationBits + kEventIdIndexBits) |
         uint64_t{generation} << kEventIdIndexBits | index;
}

// The markers that a command allocator or a command queue keeps: a stream of bytes over a chain of
// pages, and a chain of directory pages that says where each marker starts. Written by
// app/annotations/marker_arena.h, read by format/snapshot/marker_arena_reader.h.
struct ArenaRecord {
  std::atomic<uint32_t> state;  // EntryState; retired: used no more
  // Counts from 1 and changes at every reset: an EventID with a lower generation has expired. It
  // never restarts: an entry whose generations are used up is retired.
  std::atomic<uint32_t> generation;
  std::atomic<uint32_t> first_directory_page;
  std::atomic<uint32_t> first_index;  // the oldest that is kept; others are expired
  std::atomic<uint32_t> end_index;    // markers given out in this generation
  uint32_t is_queue;
  std::atomic<uint64_t> dropped;     // found no memory, or were dropped by the queue's policy
  std::atomic<uint64_t> live_bytes;  // of payloads kept
  uint64_t native_handle;            // of the command allocator or queue
  uint64_t reserved[2];
};
static_assert(sizeof(ArenaRecord) == 64);

// EventIDs that the driver reports as involved in a crash; 0: unused entry. One array a context.
inline constexpr uint32_t kDriverReportCount = 64;
struct DriverReport {
  std::atomic<uint64_t> event_ids[kDriverReportCount];
};

// The driver's report of a page fault or of another reason for a device's loss. One a context.
// Sources: VK_EXT_device_fault, VK_KHR_device_fault.
inline constexpr uint32_t kMaxFaultAddresses = 16;
inline constexpr uint32_t kMaxFaultVendorInfos = 16;
inline constexpr uint32_t kFaultTextBytes = 256;  // UTF-8, zero-terminated
// VkDeviceFaultAddressTypeEXT.
enum class FaultAddressType : uint32_t {
  kNone = 0,
  kReadInvalid = 1,
  kWriteInvalid = 2,
  kExecuteInvalid = 3,
  kInstructionUnknown = 4,
  kInstructionInvalid = 5,
  kInstructionFault = 6,
};
struct FaultAddress {
  FaultAddressType type;
  uint32_t reserved;
  uint64_t address;
  uint64_t precision;  // a power of two: the fault lies in the aligned range of so many bytes
};
struct FaultVendorInfo {
  char description[kFaultTextBytes];
  uint64_t code;
  uint64_t data;
};
struct FaultRecord {
  std::atomic<uint32_t> state;  // EntryState
  int32_t result;               // VkResult of the question: < 0, and nothing else is known
  uint32_t address_count;
  uint32_t vendor_info_count;
  uint64_t time_ns;               // CLOCK_MONOTONIC
  uint64_t vendor_binary_offset;  // of the bytes in the block; 0 for none
  uint64_t vendor_binary_bytes;
  char source[64];  // "VK_EXT_device_fault"
  char description[kFaultTextBytes];
  FaultAddress addresses[kMaxFaultAddresses];
  FaultVendorInfo vendor_infos[kMaxFaultVendorInfos];
  uint64_t vendor_binary_room;  // bytes that its writer took for it; no reader needs them
  uint64_t reserved[5];
};

// The memory of a device: the last call that failed for want of it, and its heaps as they were asked for then, and
// when the device was lost. One a context.
inline constexpr uint32_t kMaxMemoryHeaps = 16;
inline constexpr uint32_t kHeapDeviceLocal = 1;
inline constexpr uint32_t kHeapTellsUse = 2;  // VK_EXT_memory_budget
struct MemoryHeapRecord {
  uint64_t size_bytes;
  uint64_t used_bytes;    // by this process; kHeapTellsUse
  uint64_t budget_bytes;  // that it may use before it fails or slows down; kHeapTellsUse
  uint32_t flags;         // kHeap...
  uint32_t reserved;
};
struct MemoryRecord {
  std::atomic<uint32_t> state;  // EntryState
  int32_t result;               // VkResult or HRESULT of the last call that failed so; 0: none did
  uint64_t failed_ns;           // CLOCK_MONOTONIC of that
  uint64_t failed_count;
  uint64_t wanted_bytes;  // of the last one; 0: not known
  uint64_t asked_ns;      // CLOCK_MONOTONIC when the heaps were asked for; 0: never
  uint32_t heap_count;
  std::atomic<uint32_t> writer;  // 1 while one writes: both halves of the layer may
  char function[64];             // of the last one, zero-terminated
  MemoryHeapRecord heaps[kMaxMemoryHeaps];
};
static_assert(sizeof(MemoryRecord) == 624);

// VK_NV_device_diagnostic_checkpoints, as read after a device's loss: the last that the GPU came by.
inline constexpr uint32_t kMaxCheckpoints = 64;
struct CheckpointRecord {
  uint32_t queue;  // index into the queue table
  PipeStage stage;
  uint32_t slot;            // of the context's recordings
  uint32_t progress_value;  // ProgressValue of the event
};
struct CheckpointTable {
  std::atomic<uint32_t> count;  // published
  uint32_t reserved[3];
  CheckpointRecord records[kMaxCheckpoints];
};

// One device with its breadcrumbs.
struct ContextRecord {
  std::atomic<uint32_t> state;  // EntryState; retired: destroyed
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
  NameRef annotation_driver;    // "breadcrumb", "logging", "none" or the path of a library
  uint32_t annotations_forced;  // 1: ForceDriverRetailAnnotations was in effect at creation
  NameRef application;          // as the application names itself and its engine to the API
  // The words and raw markers as they were at a fault, laid out as at progress_offset; page-aligned, 0: there
  // is no room for them. They are of the last fault where the time is BlockHeader::crash_ns.
  uint64_t crash_words_offset;
  std::atomic<uint64_t> crash_words_ns;
  uint32_t
      tells_submissions;  // 1: of every list that is submitted, so that any other one has not run
  uint32_t reserved[13];  // the first: RawMarkersOf in raw_marker_binds.h
  SourceRecord sources[kMaxSources];
};
static_assert(sizeof(ContextRecord) == 384);
static_assert(offsetof(ContextRecord, state) == 0 && offsetof(QueueRecord, state) == 0 &&
              offsetof(PipelineRecord, state) == 0 && offsetof(ShaderRecord, state) == 0 &&
              offsetof(FaultRecord, state) == 0 && offsetof(ThreadRecord, state) == 0 &&
              offsetof(ArenaRecord, state) == 0 && offsetof(MemoryRecord, state) == 0);

inline constexpr uint64_t kExitCodeKnown = uint64_t{1} << 32;

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
  uint64_t objects_offset;          // ObjectRecord[kMaxObjects]
  uint64_t threads_offset;          // ThreadRecord[kMaxThreads]
  uint64_t functions_offset;        // FunctionTable
  uint64_t arenas_offset;           // ArenaRecord[kMaxArenas]
  uint64_t driver_reports_offset;   // DriverReport[kMaxContexts]
  uint64_t syncs_offset;            // SyncRecord[kSyncRing]
  uint64_t faults_offset;           // FaultRecord[kMaxContexts]
  uint64_t checkpoints_offset;      // CheckpointTable[kMaxContexts]
  uint64_t shaders_offset;          // ShaderRecord[kMaxShaders]
  uint64_t first_free_page;         // where page allocation starts
  std::atomic<uint64_t> next_page;  // first page never handed out
  std::atomic<uint32_t> context_count;
  std::atomic<uint32_t> queue_count;
  std::atomic<uint32_t> pipeline_count;
  std::atomic<uint32_t> pages_refused;    // allocations that found the block full
  std::atomic<uint32_t> object_count;     // entries of the object table ever used
  std::atomic<uint32_t> thread_count;     // entries of the thread table ever used
  std::atomic<uint32_t> arena_count;      // entries of the arena table ever used
  std::atomic<uint32_t> objects_dropped;  // creations that found no free entry
  std::atomic<uint64_t> object_serial;    // given out to threads, in blocks
  std::atomic<uint64_t> submission_serial;
  std::atomic<uint64_t> sync_serial;
  std::atomic<uint32_t> shader_count;     // published entries of the shader table
  std::atomic<uint32_t> shaders_dropped;  // shaders whose code or entry found no room
  std::atomic<uint64_t> next_recording_id;
  // The last fault that the library's own handler saw; 0 if there was none, or if the faulting
  // thread survived. A Windows program that ended by an exception stores the exception's code
  // (base/signal_name.h).
  std::atomic<uint32_t> crash_signal;
  std::atomic<uint32_t> crash_thread;
  uint64_t crash_address;
  char program[256];  // UTF-8, zero-terminated: path of the executable
  char library_version[32];
  std::atomic<uint64_t> crash_ns;  // CLOCK_MONOTONIC of that fault; 0: no words were copied
  uint64_t destructions_offset;    // kDestructionTableBytes (destructions.h)
  std::atomic<uint64_t> destruction_serial;        // entries given out to threads, in blocks
  std::atomic<uint32_t> descriptor_sets_left_out;  // that found no room
  // 1: the process ends by its own exit. Set on systems that do not distinguish that from being
  // ended by another process.
  std::atomic<uint32_t> exit_noted;
  // The code with which a program of Windows ends under Wine, of which Linux keeps eight bits; kExitCodeKnown is set
  // as well. 0: not known.
  std::atomic<uint64_t> exit_code;
  uint64_t memory_offset;  // MemoryRecord[kMaxContexts]
};
static_assert(sizeof(BlockHeader) <= kPageBytes);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_BLOCK_H_
