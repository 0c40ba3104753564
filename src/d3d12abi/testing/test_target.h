// SPDX-License-Identifier: Apache-2.0
//
// For tests: something to draw into.
#ifndef CAIRN_D3D12ABI_TESTING_TEST_TARGET_H_
#define CAIRN_D3D12ABI_TESTING_TEST_TARGET_H_

#include <cstdint>

#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// A render target of size x size pixels, R8G8B8A8_UNORM.
inline HRESULT CreateTestTarget(ID3D12Device* device, uint32_t size, REFIID iid, void** target,
                                D3D12_RESOURCE_STATES state = D3D12_RESOURCE_STATE_RENDER_TARGET) {
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_DEFAULT;
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
  desc.Width = size;
  desc.Height = size;
  desc.DepthOrArraySize = 1;
  desc.MipLevels = 1;
  desc.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
  desc.SampleDesc.Count = 1;
  desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET;
  return device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr, iid,
                                         target);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12ABI_TESTING_TEST_TARGET_H_
