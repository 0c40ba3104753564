// SPDX-License-Identifier: Apache-2.0
//
// Blocks of texels that share colours: BC1 to BC5, R8G8_B8G8 and G8R8_G8B8.
#ifndef CAIRN_D3D12ABI_BLOCK_COMPRESSION_H_
#define CAIRN_D3D12ABI_BLOCK_COMPRESSION_H_

#include <cstddef>
#include <cstdint>

#include "d3d12abi/d3d12_api.h"

namespace cairn {

// Texels of a block, row by row, as 8-bit red, green, blue and alpha. `bytes`: a whole block
// (LayoutOfFormat). False: a format that is not decoded here. Signed values are shown from 0 on.
bool DecodeBlock(DXGI_FORMAT format, const std::byte* bytes, uint8_t texels[16][4]);

}  // namespace cairn

#endif  // CAIRN_D3D12ABI_BLOCK_COMPRESSION_H_
