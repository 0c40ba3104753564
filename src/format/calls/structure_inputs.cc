// SPDX-License-Identifier: Apache-2.0
#include "format/calls/structure_inputs.h"

#include <fmt/format.h>

#include <cstring>

namespace cairn {
namespace {

// The limits of Direct3D 12.
constexpr uint64_t kMostPrimitives = uint64_t{1} << 29;
constexpr uint32_t kMostStructureParts = uint32_t{1} << 24;

Status CheckPart(uint64_t offset_bytes, uint64_t size_bytes, uint64_t inputs_bytes) {
  if (offset_bytes % kStructureInputAlignment == 0 && offset_bytes <= inputs_bytes &&
      size_bytes <= inputs_bytes - offset_bytes) {
    return Status();
  }
  return {StatusCode::kCorrupt, fmt::format("{} bytes at {} are not among {} bytes of inputs",
                                            size_bytes, offset_bytes, inputs_bytes)};
}

Status CheckElements(uint64_t count, uint64_t stride_bytes, uint64_t element_bytes,
                     uint64_t offset_bytes, uint64_t inputs_bytes) {
  uint64_t bytes = 0;
  // Without a stride a few bytes would be any number of elements.
  if ((count > 1 && stride_bytes == 0) || !SpanBytes(count, stride_bytes, element_bytes, &bytes)) {
    return {StatusCode::kCorrupt,
            fmt::format("{} elements of a geometry are {} bytes apart", count, stride_bytes)};
  }
  return CheckPart(offset_bytes, bytes, inputs_bytes);
}

Status CheckGeometry(const StructureGeometry& geometry, uint64_t inputs_bytes) {
  if (geometry.type == kBoxes) {
    return CheckElements(geometry.count, geometry.stride_bytes, kBoxBytes, geometry.offset_bytes,
                         inputs_bytes);
  }
  const uint64_t vertex_bytes = VertexBytes(geometry.format);
  if (geometry.type != kTriangles || vertex_bytes == 0) {
    return {StatusCode::kUnsupported, fmt::format("geometry of type {} with vertices of format {}",
                                                  geometry.type, geometry.format)};
  }
  CAIRN_RETURN_IF_ERROR(CheckElements(geometry.count, geometry.stride_bytes, vertex_bytes,
                                      geometry.offset_bytes, inputs_bytes));
  if (geometry.index_offset_bytes != kNoStructureInput) {
    const uint64_t index_bytes = IndexBytes(geometry.index_format);
    if (index_bytes == 0) {
      return {StatusCode::kUnsupported, fmt::format("indices of format {}", geometry.index_format)};
    }
    CAIRN_RETURN_IF_ERROR(CheckElements(geometry.index_count, index_bytes, index_bytes,
                                        geometry.index_offset_bytes, inputs_bytes));
  }
  if (geometry.transform_offset_bytes == kNoStructureInput) return Status();
  return CheckPart(geometry.transform_offset_bytes, kTransformBytes, inputs_bytes);
}

}  // namespace

// Numbers of DXGI_FORMAT, which this folder does not include.
uint64_t VertexBytes(uint32_t format) {
  switch (format) {
    case 6: return 12;  // R32G32B32_FLOAT
    case 10: return 8;  // R16G16B16A16_FLOAT
    case 11: return 8;  // R16G16B16A16_UNORM
    case 13: return 8;  // R16G16B16A16_SNORM
    case 16: return 8;  // R32G32_FLOAT
    case 24: return 4;  // R10G10B10A2_UNORM
    case 28: return 4;  // R8G8B8A8_UNORM
    case 31: return 4;  // R8G8B8A8_SNORM
    case 34: return 4;  // R16G16_FLOAT
    case 35: return 4;  // R16G16_UNORM
    case 37: return 4;  // R16G16_SNORM
    case 49: return 2;  // R8G8_UNORM
    case 51: return 2;  // R8G8_SNORM
    default: return 0;
  }
}

uint64_t IndexBytes(uint32_t format) {
  switch (format) {
    case 42: return 4;  // R32_UINT
    case 57: return 2;  // R16_UINT
    default: return 0;
  }
}

bool SpanBytes(uint64_t count, uint64_t stride_bytes, uint64_t element_bytes, uint64_t* bytes) {
  *bytes = 0;
  if (count == 0) return true;
  return !__builtin_mul_overflow(count - 1, stride_bytes, bytes) &&
         !__builtin_add_overflow(*bytes, element_bytes, bytes);
}

Result<StructureInputs> ReadStructureInputs(const StructureBody& body,
                                            std::span<const std::byte> bytes) {
  StructureInputs result;
  if (body.count > kMostStructureParts) {
    return Status(StatusCode::kCorrupt, fmt::format("{} instances or geometries", body.count));
  }
  if (body.type == kTopLevel) {
    CAIRN_RETURN_IF_ERROR(
        CheckElements(body.count, kInstanceDescBytes, kInstanceDescBytes, 0, bytes.size()));
    result.inputs = bytes;
    return result;
  }
  if (body.type != kBottomLevel) {
    return Status(StatusCode::kUnsupported, fmt::format("a structure of type {}", body.type));
  }
  const uint64_t head_bytes = uint64_t{body.count} * sizeof(StructureGeometry);
  if (head_bytes > bytes.size()) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("{} geometries in {} bytes", body.count, bytes.size()));
  }
  result.inputs = bytes.subspan(head_bytes);
  result.geometries.resize(body.count);
  if (head_bytes != 0) std::memcpy(result.geometries.data(), bytes.data(), head_bytes);
  // Geometries may share inputs.
  uint64_t primitives = 0;
  for (const StructureGeometry& geometry : result.geometries) {
    CAIRN_RETURN_IF_ERROR(CheckGeometry(geometry, result.inputs.size()));
    const bool has_indices = geometry.index_offset_bytes != kNoStructureInput;
    primitives += geometry.type == kBoxes ? geometry.count
                  : has_indices           ? geometry.index_count / 3
                                          : geometry.count / 3;
    if (primitives > kMostPrimitives) {
      return Status(StatusCode::kCorrupt, "more primitives than a structure has");
    }
  }
  return result;
}

}  // namespace cairn
