// SPDX-License-Identifier: Apache-2.0
//
// Shared by the layer's tests: a device, with the layer or without it.
#ifndef CAIRN_APP_D3D12_TESTING_TEST_DEVICE_H_
#define CAIRN_APP_D3D12_TESTING_TEST_DEVICE_H_

#include <cstdint>
#include <map>
#include <string>

#include "d3d12abi/buffer_desc.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// The count that a program sees.
inline uint32_t CountOf(IUnknown* object) {
  object->AddRef();
  return object->Release();
}

inline HRESULT CreateBuffer(ID3D12Device* device, uint64_t size_bytes, REFIID riid, void** buffer,
                            D3D12_HEAP_TYPE type = D3D12_HEAP_TYPE_UPLOAD) {
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = type;
  const D3D12_RESOURCE_DESC desc = BufferDesc(size_bytes);
  return device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                         type == D3D12_HEAP_TYPE_UPLOAD
                                             ? D3D12_RESOURCE_STATE_GENERIC_READ
                                             : D3D12_RESOURCE_STATE_COPY_DEST,
                                         nullptr, riid, buffer);
}

// One object of each kind that the implementation at hand can make, by kind.
std::map<std::string, ComPtr<ID3D12DeviceChild>> OneOfEach(ID3D12Device* device);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_TESTING_TEST_DEVICE_H_
