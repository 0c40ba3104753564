// SPDX-License-Identifier: Apache-2.0
//
// Inputs of acceleration structures in a trace (kStructure): their layout, and a reader that checks it.
#ifndef CAIRN_FORMAT_CALLS_STRUCTURE_INPUTS_H_
#define CAIRN_FORMAT_CALLS_STRUCTURE_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "format/calls/record.h"

namespace cairn {

inline constexpr uint32_t kTopLevel = 0;     // D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE
inline constexpr uint32_t kBottomLevel = 1;  // likewise
inline constexpr uint32_t kTriangles = 0;    // D3D12_RAYTRACING_GEOMETRY_TYPE
inline constexpr uint32_t kBoxes = 1;        // likewise

inline constexpr uint64_t kBoxBytes = 24;           // D3D12_RAYTRACING_AABB
inline constexpr uint64_t kTransformBytes = 48;     // 3 rows of 4 floats
inline constexpr uint64_t kInstanceDescBytes = 64;  // D3D12_RAYTRACING_INSTANCE_DESC
inline constexpr uint64_t kInstanceStructure = 56;  // the address of its bottom level
// Alignment of the parts of a structure's inputs.
inline constexpr uint64_t kStructureInputAlignment = 16;

// Returns the bytes of a vertex in a format that structures are built of; 0 for others.
uint64_t VertexBytes(uint32_t format);
// Returns the bytes of an index; 0 for formats that indices do not have.
uint64_t IndexBytes(uint32_t format);
// Returns the bytes from the first of `count` elements to the end of the last; false: there is no such size.
bool SpanBytes(uint64_t count, uint64_t stride_bytes, uint64_t element_bytes, uint64_t* bytes);

struct StructureInputs {
  std::vector<StructureGeometry> geometries;  // none for a top level
  std::span<const std::byte> inputs;
};
// Reads the bytes of a record of a build or an update. All that the geometries or instances name lies in the inputs.
// kCorrupt: it does not; kUnsupported: kinds that this version does not know.
Result<StructureInputs> ReadStructureInputs(const StructureBody& body,
                                            std::span<const std::byte> bytes);

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_STRUCTURE_INPUTS_H_
