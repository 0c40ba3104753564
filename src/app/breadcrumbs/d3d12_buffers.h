// SPDX-License-Identifier: Apache-2.0
//
// The Direct3D 12 buffers that breadcrumbs need: mapped ones for words and values, and small ones on
// the device.
#ifndef CAIRN_APP_BREADCRUMBS_D3D12_BUFFERS_H_
#define CAIRN_APP_BREADCRUMBS_D3D12_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "d3d12abi/com_ptr.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// kDeviceLost for removed, hung and reset devices, else by meaning; the message is `what` and the code.
Status StatusFromHresult(HRESULT result, const std::string& what);

// The memory of a mapped buffer.
enum class MappedHeap {
  kUpload,     // the CPU writes values, the GPU copies from it; always readable by the GPU
  kReadback,   // the GPU copies words into it, the CPU reads them; always in state COPY_DEST
  kWriteBack,  // both read and write, shaders too: system memory in a custom heap; starts in COMMON
};

// A buffer mapped for its whole life. Empty until created.
struct D3D12MappedBuffer {
  ComPtr<ID3D12Resource> resource;
  std::byte* memory = nullptr;
  uint64_t gpu_address = 0;
  size_t size_bytes = 0;
};

Result<D3D12MappedBuffer> CreateMappedBuffer(ID3D12Device* device, MappedHeap heap,
                                             size_t size_bytes);

// A buffer in the device's own memory; starts in COMMON.
Result<ComPtr<ID3D12Resource>> CreateDeviceBuffer(ID3D12Device* device, size_t size_bytes);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D12_BUFFERS_H_
