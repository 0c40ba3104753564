// SPDX-License-Identifier: Apache-2.0
//
// Questions to a device: how much memory an acceleration structure needs.
#ifndef CAIRN_READER_REPLAY_STRUCTURE_QUESTIONS_H_
#define CAIRN_READER_REPLAY_STRUCTURE_QUESTIONS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Returns an enumerator as a number: that of a trace may be any.
template <typename Enum>
uint32_t NumberOf(const Enum& value) {
  static_assert(sizeof(value) == sizeof(uint32_t));
  uint32_t number = 0;
  std::memcpy(&number, &value, sizeof(number));
  return number;
}

// Returns true if the bytes of a geometry are known here: those of other types would be handed on as they are.
inline bool IsKnown(const D3D12_RAYTRACING_GEOMETRY_DESC& desc) {
  return NumberOf(desc.Type) == D3D12_RAYTRACING_GEOMETRY_TYPE_TRIANGLES ||
         NumberOf(desc.Type) == D3D12_RAYTRACING_GEOMETRY_TYPE_PROCEDURAL_PRIMITIVE_AABBS;
}

// Returns true if an implementation finds all that these inputs count.
inline bool IsWhole(const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS& inputs) {
  const uint32_t type = NumberOf(inputs.Type);
  if (type == D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL) return true;
  if (type != D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL) return false;
  if (inputs.NumDescs == 0) return true;
  const uint32_t layout = NumberOf(inputs.DescsLayout);
  if (layout == D3D12_ELEMENTS_LAYOUT_ARRAY) {
    return inputs.pGeometryDescs != nullptr &&
           std::all_of(inputs.pGeometryDescs, inputs.pGeometryDescs + inputs.NumDescs, IsKnown);
  }
  if (layout != D3D12_ELEMENTS_LAYOUT_ARRAY_OF_POINTERS) return false;
  if (inputs.ppGeometryDescs == nullptr) return false;
  return std::all_of(inputs.ppGeometryDescs, inputs.ppGeometryDescs + inputs.NumDescs,
                     [](const auto* desc) { return desc != nullptr && IsKnown(*desc); });
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_STRUCTURE_QUESTIONS_H_
