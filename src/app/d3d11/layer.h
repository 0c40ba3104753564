// SPDX-License-Identifier: Apache-2.0
//
// The Direct3D 11 layer as the entry points see it. Objects are the implementation's own: functions of ours stand in
// their tables of methods. docs/reference/d3d11-layer.md says why. No function throws. Any thread.
#ifndef CAIRN_APP_D3D11_LAYER_H_
#define CAIRN_APP_D3D11_LAYER_H_

#include <unknwn.h>

namespace cairn {

// A device was created. `labelled`: on a Vulkan device whose labels our layer sees (LabelledDeviceScope). From here on its
// methods are noted. A device that is known already is left as it is.
void NoteD3D11Device(IUnknown* device, bool labelled);

class D3D11Device;

// Around the real Present of a swap chain, on the thread that may use the device's immediate context. Null if the swap
// chain is of no device that is known here.
D3D11Device* BeforeD3D11Present(IUnknown* swap_chain);
// `function`: its name, for reports; it stays. `shown`: with success, a frame has ended.
void AfterD3D11Present(D3D11Device* device, HRESULT result, const char* function, bool shown);

}  // namespace cairn

#endif  // CAIRN_APP_D3D11_LAYER_H_
