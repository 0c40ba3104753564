// SPDX-License-Identifier: Apache-2.0
//
// The Direct3D 12 backend: progress words and raw markers written by WriteBufferImmediate where the
// self-test sees it work, otherwise by the Vulkan layer (driver_half.h) where it is there, otherwise by
// CopyBufferRegion from a table of values; chosen for each queue type.
//
//                        bottom of pipe                    while predication is set
//   WriteBufferImmediate MARKER_OUT                        written
//   the layer's marker   bottom of pipe                    written
//   the layer's fill     a full execution barrier          written
//   CopyBufferRegion     barriers that drain the pipe      skipped when the predicate says so
//
// None writes inside a render pass of ID3D12GraphicsCommandList4. An implementation on Vulkan draws
// inside render passes of its own, which a copy ends and a marker does not; where the layer has fills
// only, a write inside is left out if the list keeps render passes and it is one at the top of the pipe,
// and a copy otherwise.
//
// The words live in the block itself where ID3D12Device3::OpenExistingHeapFromAddress takes it or the
// Vulkan layer imports it, otherwise in a readback buffer that Mirror() copies into the block.
//
// Written against the COM interfaces only: any implementation of Direct3D 12 will do.
#ifndef CAIRN_APP_BREADCRUMBS_D3D12_BACKEND_H_
#define CAIRN_APP_BREADCRUMBS_D3D12_BACKEND_H_

#include <memory>

#include "app/breadcrumbs/backend.h"

namespace cairn {

// `device` is an ID3D12Device, not null, of either calling convention (AbiOfDevice); a reference is
// held. Does no work on the device before Initialize. Destroy it after the GPU has finished with every
// list. No Direct3D header is needed here.
std::unique_ptr<Backend> CreateD3D12Backend(void* device);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D12_BACKEND_H_
