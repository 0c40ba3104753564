// SPDX-License-Identifier: Apache-2.0
//
// The facts of a resource's creating call that the resource itself does not report: for a capture.
#ifndef CAIRN_APP_D3D12_CAPTURE_CREATION_H_
#define CAIRN_APP_D3D12_CAPTURE_CREATION_H_

#include <cstdint>

#include "d3d12abi/d3d12_api.h"
#include "d3d12abi/resource_states.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

struct Creation {
  uint32_t initial_state = 0;  // D3D12_RESOURCE_STATES
  // The heap that the resource is placed in, as the application passed it; null for a resource with
  // a heap of its own.
  ID3D12Heap* heap = nullptr;
  uint64_t heap_offset_bytes = 0;
  // Made elsewhere: for a swap chain, or outside of Direct3D. A replay has something in its place.
  bool is_image = false;
  uint32_t present_state = 0;  // of an image, where its program said so
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_CAPTURE_CREATION_H_
