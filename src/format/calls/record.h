// SPDX-License-Identifier: Apache-2.0
//
// The records of a program's use of Direct3D 12: a stream in the order of their numbers.
// docs/formats/trace-format.md specifies the bytes; here is their layout as the application's threads write
// them into shared memory (format/block/capture_region.h). In a file the header is shorter; the
// body is the same.
//
// Everything is little-endian. A body begins with the struct of its kind, if it has one; what follows
// is said beside the kind. Bodies are not aligned: they are copied, never cast.
#ifndef CAIRN_FORMAT_CALLS_RECORD_H_
#define CAIRN_FORMAT_CALLS_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace cairn {

enum class RecordKind : uint8_t {
  kCall = 1,       // before the call: the arguments (format/calls/value_encoder.h, "arguments")
  kResult = 2,     // after it: ResultBody, then result and outputs (value_encoder.h, "results")
  kObject = 3,     // an object came to be: ObjectBody, then its facts; before the call's kResult
  kObjectEnd = 4,  // no body: `object` is about to be destroyed
  kMemory = 5,     // the CPU wrote into mapped memory: MemoryBody, then the bytes as a byte value
  kBlob = 6,       // bytes that later records refer to by this record's number: BlobBody
  kFrame = 7,      // a frame ended: FrameBody
  kContents = 8,   // what a resource held when recording began: ContentsBody, then a byte value
  kReadback = 9,   // what the CPU found in memory that the GPU wrote: ReadbackBody
  kDevice = 10,  // a device came to be, just before its kObject: DeviceBody, then three texts (u32
                 // length, UTF-8): name of the GPU, of the driver, of the application
  kStart = 11,   // no body. The records before it restore a state; the recording begins here
  kStop = 12,    // no body. The recording ended as it was asked to
  kNote = 13,    // NoteBody, then a text: what could not be recorded, or how something was done
  kResourceHash = 14,  // what a resource holds here, all work done: ResourceHashBody
  kFenceReached = 15,  // a fence that an event waits for has come to a value: FenceReachedBody
  kStructure = 16,     // a step to an acceleration structure that was there when recording began:
                       // StructureBody, then a byte value: StructureGeometry for each, then inputs
};

// The header of a record in shared memory. size_bytes is a multiple of 32 (kRecordAlignment);
// records never wrap around the end of a ring.
struct RecordHeader {
  uint32_t size_bytes;  // header and body, padding included
  RecordKind kind;
  uint8_t flags;    // kRecord...
  uint16_t method;  // kCall, kResult: Method (d3d12gen/methods.h) as the file's TABL chunk names it
  uint64_t number;  // from 1; one order for the whole process, taken before the call
  uint32_t thread;  // index of the thread in the capture
  uint32_t body_bytes;
  uint64_t object;  // kCall, kResult: the object called; others: the one it is about
};
static_assert(sizeof(RecordHeader) == 32);

// Objects have numbers from 1, never used again. In values:
inline constexpr uint64_t kNoObject = 0;
inline constexpr uint64_t kForeignObject = ~uint64_t{0};  // not an object of the layer

inline constexpr uint8_t kRecordSpilled = 1;   // kBlob: the bytes lie in the region's spill
inline constexpr uint8_t kRecordRestores = 2;  // made by the watcher or by trim, not by the program
// kCall of a wait with an event: a kFenceReached record stands before the first record that the program
// can have made because the wait had ended.
inline constexpr uint8_t kRecordWaitFollowed = 4;

// A call's number for people and for breadcrumbs is that of its kCall record.

struct ResultBody {
  uint64_t call;  // number of the kCall record
};

struct ObjectBody {
  uint64_t device;   // object number of its device; its own for a device
  uint64_t creator;  // number of the call that made it, 0 if none did (an image of a swap chain)
  uint32_t chain;    // Chain (d3d12gen/chains.h) as the TABL chunk names it
  uint32_t facts;    // FactsKind: which facts follow
};
enum FactsKind : uint32_t { kNoFacts = 0, kResourceFacts = 1, kDescriptorHeapFacts = 2 };

struct ResourceFacts {
  uint64_t gpu_address;    // buffers; 0 otherwise
  uint64_t size_bytes;     // of buffers
  uint32_t heap_type;      // D3D12_HEAP_TYPE; 0 for reserved resources and images of swap chains
  uint32_t is_image;       // 1: an image of a swap chain, which a replay replaces by a texture
  uint32_t initial_state;  // D3D12_RESOURCE_STATES of an image; otherwise the creation call says it
  uint32_t present_state;  // D3D12_RESOURCE_STATES in which the program presents an image
  uint8_t desc[56];        // D3D12_RESOURCE_DESC
};
static_assert(sizeof(ResourceFacts) == 88);

struct DescriptorHeapFacts {
  uint64_t cpu_start;
  uint64_t gpu_start;  // 0: not shader-visible
  uint32_t type;       // D3D12_DESCRIPTOR_HEAP_TYPE
  uint32_t flags;
  uint32_t count;
  uint32_t increment_bytes;
};

struct MemoryBody {  // header.object: the resource
  uint32_t subresource;
  uint32_t reserved;
  uint64_t offset_bytes;  // in the mapped subresource
};

struct BlobBody {
  uint32_t size_bytes;
  uint32_t block_count;  // kRecordSpilled: numbers of blocks (u32 each) follow; otherwise the bytes
};
inline constexpr uint32_t kMaxBlobBytes = 1u << 20;

struct FrameBody {   // header.object: the image that was shown, or the last render target; or 0
  uint64_t frame;    // from 0
  uint64_t time_ns;  // CLOCK_MONOTONIC
  uint32_t how;      // FrameEndKind
  uint32_t hashed;  // 1: the two below are the XXH3 128 of the image's pixels, rows without padding
  uint64_t hash_low;
  uint64_t hash_high;
};
enum class FrameEndKind : uint32_t { kPresent = 1, kSubmissions = 2, kMarker = 3, kEnd = 4 };

struct ContentsBody {  // header.object: the resource
  uint32_t subresource;
  uint32_t state;         // D3D12_RESOURCE_STATES of the subresource at that moment
  uint64_t row_pitch;     // textures: bytes from row to row in what follows; buffers: 0
  uint64_t offset_bytes;  // buffers: where these bytes belong; textures: offset in the pitched copy
  uint64_t total_bytes;   // of the subresource in that layout
};

// Rows of bytes: of a buffer one; of a texture that was copied into one, as many as it has.
struct ReadbackBody {  // header.object: the resource
  uint32_t subresource;
  uint32_t row_count;
  uint64_t offset_bytes;  // of the first row
  uint64_t row_bytes;
  uint64_t row_pitch_bytes;  // from row to row; 0 for one row
  uint64_t fence;            // object number: the bytes are there when it has come to `fence_value`
  uint64_t fence_value;
  uint64_t hash_low;  // XXH3 128 of the rows, without what is between
  uint64_t hash_high;
};

struct ResourceHashBody {  // header.object: the resource
  uint32_t subresource;
  uint32_t reserved;
  uint64_t
      total_bytes;    // that were hashed: rows without padding, slices of volumes one after another
  uint64_t hash_low;  // XXH3 128
  uint64_t hash_high;
};

struct FenceReachedBody {  // header.object: the fence
  uint64_t value;          // the greatest that an event waited for, and that the fence has come to
  uint64_t
      seen;  // 1: it has it now; 0: it ends, may go back or loses its device unseen: wait all the same
};
// Steps to one structure follow each other in order: a build, then updates and copies.
struct StructureBody {    // header.object: the buffer that holds the structure in the end
  uint64_t offset_bytes;  // of the structure in it
  uint32_t step;          // StructureStep
  uint32_t steps_left;    // to this structure, behind this one
  uint32_t copies_left;   // among them: what is copied later is not in that buffer yet
  uint32_t type;          // D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE
  uint32_t flags;         // D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAGS of the program
  uint32_t count;         // of instances, the inputs of a top level, or of geometries
};
enum class StructureStep : uint32_t { kBuild = 1, kUpdate = 2, kClone = 3, kCompact = 4 };

inline constexpr uint64_t kNoStructureInput = ~uint64_t{0};
struct StructureGeometry {
  uint64_t count;  // of vertices or boxes
  uint64_t stride_bytes;
  uint64_t offset_bytes;            // of the first one in the inputs
  uint64_t index_offset_bytes;      // kNoStructureInput: there are no indices
  uint64_t transform_offset_bytes;  // kNoStructureInput: there is no transform
  uint32_t type;                    // D3D12_RAYTRACING_GEOMETRY_TYPE: triangles or boxes
  uint32_t flags;                   // D3D12_RAYTRACING_GEOMETRY_FLAGS
  uint32_t format;                  // DXGI_FORMAT of a vertex
  uint32_t index_format;
  uint32_t index_count;
  uint32_t reserved;
};
static_assert(sizeof(StructureBody) == 32 && sizeof(StructureGeometry) == 64);

struct DeviceBody {    // header.object: the device
  uint32_t vendor_id;  // 0 where it is not known
  uint32_t device_id;
  uint32_t wchar_bytes;    // of names in the program; in records names are UTF-16
  uint32_t feature_level;  // D3D_FEATURE_LEVEL that was asked for, 0 if not known
};

enum class NoteKind : uint32_t {
  kTracking = 1,     // how writes to mapped memory are found
  kUnsupported = 2,  // the program used what a replay cannot do
  kIncomplete = 3,   // something was not recorded: a replay may differ from here on
};
struct NoteBody {
  uint32_t kind;        // NoteKind
  uint32_t text_bytes;  // UTF-8
};

// The number of bytes and their location, stored wherever a body has bytes: u32 size, then the
// bytes, or
//   kNullBytes                                     the pointer was null
//   kBytesInBlobs, u64 size, u32 parts, u64 numbers of kBlob records: together the bytes
inline constexpr uint32_t kNullBytes = 0xFFFFFFFF;
inline constexpr uint32_t kBytesInBlobs = 0xFFFFFFFE;
inline constexpr uint32_t kMaxInlineBytes = 4096;  // more goes into blobs

// A record from any source. `body` belongs to the source.
struct Record {
  RecordKind kind = RecordKind::kNote;
  uint8_t flags = 0;
  uint16_t method = 0;
  uint32_t thread = 0;
  uint64_t number = 0;
  uint64_t object = 0;
  std::span<const std::byte> body;
};

// An object as the body of a record.
template <typename Body>
std::span<const std::byte> BytesOf(const Body& body) {
  return std::as_bytes(std::span(&body, 1));
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_RECORD_H_
