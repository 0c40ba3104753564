// SPDX-License-Identifier: Apache-2.0
//
// A device that was made in some way: whose it is.
#ifndef CAIRN_TESTS_WINDOWS_LAYERED_USE_DEVICE_H_
#define CAIRN_TESTS_WINDOWS_LAYERED_USE_DEVICE_H_

#include <cstring>

#include "app/breadcrumbs/layer_identity.h"
#include "d3d12abi/com_ptr.h"

namespace cairn {

// Returns true if the object is one of the layer's.
inline bool IsWrapper(IUnknown* object) {
  GUID id;
  std::memcpy(&id, &kRealObjectId, sizeof(id));
  ComPtr<IUnknown> real;
  return object != nullptr && SUCCEEDED(object->QueryInterface(id, real.Receive()));
}

using CreateDevice = HRESULT(WINAPI*)(IUnknown*, D3D_FEATURE_LEVEL, REFIID, void**);

// "layer": a wrapper. "plain": the implementation's own.
inline const char* Whose(IUnknown* object) {
  return object == nullptr ? "nobody's" : IsWrapper(object) ? "layer" : "plain";
}
inline const char* WhoseDevice(CreateDevice create) {
  ComPtr<ID3D12Device> device;
  create(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), device.Receive());
  return Whose(device.get());
}

}  // namespace cairn

#endif  // CAIRN_TESTS_WINDOWS_LAYERED_USE_DEVICE_H_
