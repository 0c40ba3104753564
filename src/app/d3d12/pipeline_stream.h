// SPDX-License-Identifier: Apache-2.0
//
// The sub-objects of a stream that describes a pipeline.
#ifndef CAIRN_APP_D3D12_PIPELINE_STREAM_H_
#define CAIRN_APP_D3D12_PIPELINE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "d3d12gen/subobjects.h"

namespace cairn {

// Calls `visit(type, offset)` with the place of what each sub-object means. Each is a type and that, aligned as a struct
// of both would be in an array of pointers. Behind a type that is not known nothing can be found.
template <typename Visit>
void ForEachSubobject(std::span<const std::byte> stream, Visit visit) {
  const auto align_up = [](size_t offset, size_t alignment) {
    return (offset + alignment - 1) / alignment * alignment;
  };
  const size_t size = stream.size();
  uint32_t type;
  for (size_t offset = 0; size >= sizeof(type) && offset <= size - sizeof(type);) {
    std::memcpy(&type, stream.data() + offset, sizeof(type));
    const SubobjectInfo* const known = FindPipelineSubobject(type);
    if (known == nullptr) return;
    const size_t content = align_up(offset + sizeof(type), known->alignment_bytes);
    if (content > size || size - content < known->value.size_bytes) return;
    visit(type, content);
    offset = align_up(content + known->value.size_bytes, alignof(void*));
  }
}

}  // namespace cairn

#endif  // CAIRN_APP_D3D12_PIPELINE_STREAM_H_
