// SPDX-License-Identifier: Apache-2.0
//
// Values that no table of fields describes: pipeline state streams, state objects, data of
// features.
//
//   pipeline state stream   the struct (the pointer as 0 or 1); behind it, if it is not null: u32 size, u32
//                           known bytes; the stream; then part by part what its pointers point to. Behind
//                           the known bytes a type begins that Cairn does not know: those are kept as they
//                           were, and mean nothing elsewhere. A build that knows it refuses the call.
//   data of CheckFeatureSupport   a byte value. In a struct, pointers are 0 or 1, and what they
//                           point to follows, as behind any struct; among results they are null. Zeros
//                           if the size is not that of the struct.
//   state object            the struct; behind it, if its pointer is not null: u32 count; for each
//                           sub-object u32 type, u32 SubobjectForm, and for kDescribed its description. That
//                           of an association: u32 index of the sub-object that it is about or kNoSubobject,
//                           then its exports as a pointer to strings. That of a generic program: its name; its
//                           exports; u32 count and indices of its sub-objects, or kNullBytes.
#ifndef CAIRN_FORMAT_CALLS_SPECIAL_VALUES_H_
#define CAIRN_FORMAT_CALLS_SPECIAL_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "d3d12gen/subobjects.h"

namespace cairn {

// The structs of Direct3D 12 as they lie in memory, without its headers.
struct PipelineStreamDesc {
  uint64_t size_bytes;
  const std::byte* stream;
};
struct StateObjectDesc {
  uint32_t type;
  uint32_t subobject_count;
  const std::byte* subobjects;
};
struct StateSubobject {
  uint32_t type;
  uint32_t padding;
  const std::byte* desc;
};
struct StateAssociation {
  const std::byte* subobject;
  uint32_t export_count;
  uint32_t padding;
  const void* const* exports;
};

struct StateProgram {
  const void* name;
  uint32_t export_count;
  uint32_t padding;
  const void* const* exports;
  uint32_t subobject_count;
  uint32_t more_padding;
  const std::byte* const* subobjects;
};

enum class SubobjectForm : uint32_t { kNull = 0, kDescribed = 1, kUnknown = 2 };
inline constexpr uint32_t kNoSubobject = 0xFFFFFFFF;
inline constexpr uint32_t kAssociationType =
    7;                                        // D3D12_STATE_SUBOBJECT_TYPE_SUBOBJECT_TO_EXPORTS_...
inline constexpr uint32_t kProgramType = 29;  // D3D12_STATE_SUBOBJECT_TYPE_GENERIC_PROGRAM
inline constexpr uint32_t kMaxFeatureBytes = 1024;
inline constexpr uint32_t kMaxPipelineStreamBytes = 64u << 10;

// Calls `use(part, offset)` for every part of a stream, until it says false. Each part is a type and what
// it means, aligned as a struct of both would be in an array of pointers. Where the known parts end:
// `size` if all are known.
template <typename Use>
size_t ForEachPipelinePart(const std::byte* stream, size_t size, Use use) {
  const auto align = [](size_t offset, size_t alignment) {
    return (offset + alignment - 1) / alignment * alignment;
  };
  size_t offset = 0;
  while (offset < size) {
    uint32_t type;
    if (size - offset < sizeof(type)) return offset;
    std::memcpy(&type, stream + offset, sizeof(type));
    const SubobjectInfo* const part = FindPipelineSubobject(type);
    if (part == nullptr) return offset;
    const size_t content = align(offset + sizeof(type), part->alignment_bytes);
    if (content > size || size - content < part->value.size_bytes) return offset;
    if (!use(*part, content)) return offset;
    offset = align(content + part->value.size_bytes, sizeof(void*));
  }
  return size;
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_SPECIAL_VALUES_H_
