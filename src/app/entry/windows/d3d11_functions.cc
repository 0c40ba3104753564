// SPDX-License-Identifier: Apache-2.0
//
// The functions that create devices of Direct3D 11.
#include <d3d11.h>

#include "app/breadcrumbs/driver_half.h"
#include "app/d3d11/layer.h"
#include "app/entry/windows/dxgi_functions.h"
#include "app/entry/windows/dxgi_swap_chain.h"
#include "app/entry/windows/functions.h"
#include "app/replacement/replacement.h"
#include "d3d12abi/com_ptr.h"

namespace cairn {
namespace {

// `create` makes a device, and writes it to `*device` if the program has a place for it.
template <typename Create>
HRESULT Created11(ID3D11Device** device, ID3D11DeviceContext** context, const Create& create) {
  const InsideScope inside;
  const LabelledDeviceScope labels;
  const HRESULT result = create();
  if (FAILED(result) || !inside.outermost()) return result;
  ComPtr<ID3D11Device> made;
  if (device != nullptr && *device != nullptr) {
    made = ComPtr<ID3D11Device>(*device);
  } else if (context != nullptr && *context != nullptr) {
    (*context)->GetDevice(reinterpret_cast<ID3D11Device**>(made.Receive()));
  }
  if (!made) return result;  // it was only asked whether one could be made
  NoteD3D11Device(made.get(), labels.seen());
  ReplaceMethodsOfFactoryOf(made.get());
  return result;
}

HRESULT OnCreateDevice11(PFN_D3D11_CREATE_DEVICE next, IDXGIAdapter* adapter, D3D_DRIVER_TYPE type,
                         HMODULE software, UINT flags, const D3D_FEATURE_LEVEL* levels,
                         UINT level_count, UINT version, ID3D11Device** device,
                         D3D_FEATURE_LEVEL* level, ID3D11DeviceContext** context) {
  return Created11(device, context, [&] {
    return next(adapter, type, software, flags, levels, level_count, version, device, level,
                context);
  });
}

HRESULT OnCreateDeviceAndSwapChain11(PFN_D3D11_CREATE_DEVICE_AND_SWAP_CHAIN next,
                                     IDXGIAdapter* adapter, D3D_DRIVER_TYPE type, HMODULE software,
                                     UINT flags, const D3D_FEATURE_LEVEL* levels, UINT level_count,
                                     UINT version, const DXGI_SWAP_CHAIN_DESC* desc,
                                     IDXGISwapChain** swap_chain, ID3D11Device** device,
                                     D3D_FEATURE_LEVEL* level, ID3D11DeviceContext** context) {
  const HRESULT result = Created11(device, context, [&] {
    return next(adapter, type, software, flags, levels, level_count, version, desc, swap_chain,
                device, level, context);
  });
  if (SUCCEEDED(result) && swap_chain != nullptr && *swap_chain != nullptr) {
    NoteD3D11SwapChain(*swap_chain);
  }
  return result;
}

}  // namespace

void* OverCreateDevice11(void* function) {
  return Replacement<&OnCreateDevice11>::Over(function);
}
void* OverCreateDeviceAndSwapChain11(void* function) {
  return Replacement<&OnCreateDeviceAndSwapChain11>::Over(function);
}

}  // namespace cairn
