// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/structure_questions.h"

#include <algorithm>
#include <cstring>

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

bool IsKnown(const D3D12_RAYTRACING_GEOMETRY_DESC& desc) {
  return NumberOf(desc.Type) == D3D12_RAYTRACING_GEOMETRY_TYPE_TRIANGLES ||
         NumberOf(desc.Type) == D3D12_RAYTRACING_GEOMETRY_TYPE_PROCEDURAL_PRIMITIVE_AABBS;
}

}  // namespace

bool IsWhole(const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS& inputs) {
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

bool Updates(const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS& inputs) {
  return (NumberOf(inputs.Flags) &
          D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_ALLOW_UPDATE) != 0;
}

D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO PrebuildInfoOf(
    ID3D12Device5* device, D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS inputs) {
  const uint32_t flags =
      NumberOf(inputs.Flags) &
      ~uint32_t{D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_PERFORM_UPDATE};
  std::memcpy(&inputs.Flags, &flags, sizeof(flags));
  D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO info = {};
  device->GetRaytracingAccelerationStructurePrebuildInfo(&inputs, &info);
  return info;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
