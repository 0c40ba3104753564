// SPDX-License-Identifier: Apache-2.0
//
// Direct3D 12 with video: as d3d12_api.h, for those who need every interface there is. Apart, for its
// declarations take as long to read as all the others.
#ifndef CAIRN_D3D12ABI_D3D12_VIDEO_API_H_
#define CAIRN_D3D12ABI_D3D12_VIDEO_API_H_

#include "d3d12abi/d3d12_api.h"

#if defined(_WIN32)

#include <d3d12video.h>

#else

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#define _WIN32 1
#include <directx/d3d12video.h>
#undef _WIN32
#pragma GCC diagnostic pop

#undef IN
#undef OUT
#undef CONST

#endif  // _WIN32

#endif  // CAIRN_D3D12ABI_D3D12_VIDEO_API_H_
