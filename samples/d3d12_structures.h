// SPDX-License-Identifier: Apache-2.0
//
// Acceleration structures of ray tracing: their levels, and the triangle of which the samples build them.
#ifndef CAIRN_SAMPLES_D3D12_STRUCTURES_H_
#define CAIRN_SAMPLES_D3D12_STRUCTURES_H_

#include "d3d12_device.h"

namespace sample {

bool HasRayTracing(ID3D12Device* device);

inline constexpr uint32_t kTriangleFloats = 9;
inline constexpr float kTriangle[kTriangleFloats] = {0, 1, 0, 1, -1, 0, -1, -1, 0};

// A geometry of one triangle, whose floats are there.
D3D12_RAYTRACING_GEOMETRY_DESC TriangleGeometry(D3D12_GPU_VIRTUAL_ADDRESS vertices);

// One level, its memory and what building it takes.
struct Level {
  D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS inputs = {};
  Buffer structure;
  Buffer scratch;

  // Bottom: of the geometry, which is read when it is built. Top: of instances, in `inputs.InstanceDescs`.
  void AllocateBottom(Gpu& gpu, ID3D12Device5* device,
                      const D3D12_RAYTRACING_GEOMETRY_DESC* geometry,
                      D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAGS flags =
                          D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_NONE);
  void AllocateTop(Gpu& gpu, ID3D12Device5* device, uint32_t instances);
  D3D12_GPU_VIRTUAL_ADDRESS Address() const { return structure.resource->GetGPUVirtualAddress(); }
  // Records the build, or an update of what is there, and a barrier after it.
  void Build(List& list, ID3D12GraphicsCommandList4* rays, bool update = false) const;

 private:
  void Allocate(Gpu& gpu, ID3D12Device5* device);
};

}  // namespace sample

#endif  // CAIRN_SAMPLES_D3D12_STRUCTURES_H_
