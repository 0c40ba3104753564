// SPDX-License-Identifier: Apache-2.0
#include "d3d12_structures.h"

#include <algorithm>

namespace sample {

bool HasRayTracing(ID3D12Device* device) {
  D3D12_FEATURE_DATA_D3D12_OPTIONS5 options = {};
  return SUCCEEDED(device->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS5, &options,
                                               sizeof(options))) &&
         options.RaytracingTier >= D3D12_RAYTRACING_TIER_1_0;
}

D3D12_RAYTRACING_GEOMETRY_DESC TriangleGeometry(D3D12_GPU_VIRTUAL_ADDRESS vertices) {
  D3D12_RAYTRACING_GEOMETRY_DESC geometry = {};
  geometry.Type = D3D12_RAYTRACING_GEOMETRY_TYPE_TRIANGLES;
  geometry.Flags = D3D12_RAYTRACING_GEOMETRY_FLAG_OPAQUE;
  geometry.Triangles.VertexFormat = DXGI_FORMAT_R32G32B32_FLOAT;
  geometry.Triangles.VertexCount = 3;
  geometry.Triangles.VertexBuffer = {vertices, 3 * sizeof(float)};
  return geometry;
}

void Level::AllocateBottom(Gpu& gpu, ID3D12Device5* device,
                           const D3D12_RAYTRACING_GEOMETRY_DESC* geometry,
                           D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAGS flags) {
  inputs.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL;
  inputs.Flags = flags;
  inputs.NumDescs = 1;
  inputs.pGeometryDescs = geometry;
  Allocate(gpu, device);
}

void Level::AllocateTop(Gpu& gpu, ID3D12Device5* device, uint32_t instances) {
  inputs.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL;
  inputs.NumDescs = instances;
  Allocate(gpu, device);
}

void Level::Allocate(Gpu& gpu, ID3D12Device5* device) {
  inputs.DescsLayout = D3D12_ELEMENTS_LAYOUT_ARRAY;
  D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO sizes = {};
  device->GetRaytracingAccelerationStructurePrebuildInfo(&inputs, &sizes);
  structure = gpu.CreateGpuBuffer(Words(sizes.ResultDataMaxSizeInBytes),
                                  D3D12_RESOURCE_STATE_RAYTRACING_ACCELERATION_STRUCTURE);
  scratch = gpu.CreateGpuBuffer(
      Words(std::max(sizes.ScratchDataSizeInBytes, sizes.UpdateScratchDataSizeInBytes)),
      D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
}

void Level::Build(List& list, ID3D12GraphicsCommandList4* rays, bool update) const {
  D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC desc = {};
  desc.DestAccelerationStructureData = Address();
  desc.Inputs = inputs;
  if (update) {
    desc.Inputs.Flags |= D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_PERFORM_UPDATE;
    desc.SourceAccelerationStructureData = Address();
  }
  desc.ScratchAccelerationStructureData = scratch.resource->GetGPUVirtualAddress();
  rays->BuildRaytracingAccelerationStructure(&desc, 0, nullptr);
  list.Barrier();
}

}  // namespace sample
