// SPDX-License-Identifier: Apache-2.0
//
// A device that was made in some way: whose it is.
#ifndef CAIRN_TESTS_WINDOWS_LAYERED_USE_DEVICE_H_
#define CAIRN_TESTS_WINDOWS_LAYERED_USE_DEVICE_H_

#include <cstring>

#include "app/breadcrumbs/layer_identity.h"
#include "d3d12abi/com_ptr.h"

namespace cairn {

using CreateDevice = HRESULT(WINAPI*)(IUnknown*, D3D_FEATURE_LEVEL, REFIID, void**);

// "layer": a wrapper. "plain": the implementation's own.
inline const char* WhoseDevice(CreateDevice create) {
  ComPtr<ID3D12Device> device;
  if (FAILED(create(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), device.Receive()))) {
    return "no device";
  }
  GUID id;
  std::memcpy(&id, &kLayerDeviceId, sizeof(id));
  void* layer = nullptr;
  return SUCCEEDED(device->QueryInterface(id, &layer)) && layer != nullptr ? "layer" : "plain";
}

}  // namespace cairn

#endif  // CAIRN_TESTS_WINDOWS_LAYERED_USE_DEVICE_H_
