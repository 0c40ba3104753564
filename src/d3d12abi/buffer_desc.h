// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_D3D12ABI_BUFFER_DESC_H_
#define CAIRN_D3D12ABI_BUFFER_DESC_H_

#include <cstdint>

#include "d3d12abi/d3d12_api.h"

namespace cairn {

// The description of a buffer of `size_bytes` bytes.
inline D3D12_RESOURCE_DESC BufferDesc(uint64_t size_bytes,
                                      D3D12_RESOURCE_FLAGS flags = D3D12_RESOURCE_FLAG_NONE) {
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  desc.Width = size_bytes;
  desc.Height = 1;
  desc.DepthOrArraySize = 1;
  desc.MipLevels = 1;
  desc.SampleDesc.Count = 1;
  desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
  desc.Flags = flags;
  return desc;
}

}  // namespace cairn

#endif  // CAIRN_D3D12ABI_BUFFER_DESC_H_
