// SPDX-License-Identifier: Apache-2.0
//
// Selects the calling convention of an object's COM methods. Both live in one program: code that
// depends on the convention is compiled twice (d3d12abi/d3d12_api.h), and these functions choose
// between the two. No Direct3D header here.
#ifndef CAIRN_APP_BREADCRUMBS_D3D12_ABI_H_
#define CAIRN_APP_BREADCRUMBS_D3D12_ABI_H_

#include <cstdint>

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/layer_identity.h"

namespace cairn {

enum class D3D12Abi : uint8_t {
  kMicrosoft,  // of Windows, Wine and libvkd3d: namespace d3d12_ms
  kSystemV,    // of Linux itself, as vkd3d-proton is built: namespace d3d12_sysv
};

// The calling convention of the file that includes this header after d3d12abi/d3d12_api.h.
#if defined(CAIRN_D3D12_NAMESPACE)
#if defined(CAIRN_D3D12_SYSV_ABI)
constexpr D3D12Abi kThisD3D12Abi = D3D12Abi::kSystemV;
#else
constexpr D3D12Abi kThisD3D12Abi = D3D12Abi::kMicrosoft;
#endif
#endif

// Looks where the code of the object's methods lies, and calls nothing: libvkd3d has the Windows
// convention, every other library on Linux the platform's own, wrappers that of what they wrap. Any
// COM object, not null. Some hundred nanoseconds.
D3D12Abi AbiOfDevice(void* object);

// Registers a table of methods of the layer's wrappers of devices, at the first device that has it.
// Any thread; ignores known tables.
void NoteLayerVtable(const void* vtable, D3D12Abi abi);

// Returns the layer's data of its own device; null for any other device, and for wrappers of
// another copy of Cairn in this program.
const LayerDevice* FindLayerDevice(void* device);
// For Context::SetListFinder: the same for lists of devices with this convention.
using LayerListFinder = const LayerList* (*)(void* list);
LayerListFinder FinderOfLists(D3D12Abi abi);
// A reference on the device, until it is released.
Context::Hold HoldDevice(void* device);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D12_ABI_H_
