// SPDX-License-Identifier: Apache-2.0
//
// The Direct3D 12 declarations of cairn/annotations.h (ID3D12DeviceTools2, feature 73, ...), with the
// ABI of d3d12_api.h. That header has to come first, whatever was included before.
#ifndef CAIRN_APP_ANNOTATIONS_D3D12_TYPES_H_
#define CAIRN_APP_ANNOTATIONS_D3D12_TYPES_H_

// clang-format off
#include "d3d12abi/d3d12_api.h"
#include "cairn/annotations.h"
// clang-format on

#endif  // CAIRN_APP_ANNOTATIONS_D3D12_TYPES_H_
