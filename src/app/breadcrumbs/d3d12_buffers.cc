// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/d3d12_buffers.h"

#include <fmt/format.h>

#include "d3d12abi/buffer_desc.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// Spelled out because the headers of different platforms define different subsets of them.
constexpr HRESULT kDeviceRemoved = static_cast<HRESULT>(0x887A0005u);
constexpr HRESULT kDeviceHung = static_cast<HRESULT>(0x887A0006u);
constexpr HRESULT kDeviceReset = static_cast<HRESULT>(0x887A0007u);

Result<ComPtr<ID3D12Resource>> CreateBuffer(ID3D12Device* device,
                                            const D3D12_HEAP_PROPERTIES& properties,
                                            size_t size_bytes, D3D12_RESOURCE_FLAGS flags,
                                            D3D12_RESOURCE_STATES state) {
  const D3D12_RESOURCE_DESC desc = BufferDesc(size_bytes, flags);
  ComPtr<ID3D12Resource> resource;
  const HRESULT result =
      device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr,
                                      __uuidof(ID3D12Resource), resource.Receive());
  if (FAILED(result)) {
    return StatusFromHresult(
        result, fmt::format("CreateCommittedResource of {} bytes (heap type {})", size_bytes,
                            static_cast<int>(properties.Type)));
  }
  return resource;
}

}  // namespace

Status StatusFromHresult(HRESULT result, const std::string& what) {
  if (SUCCEEDED(result)) return {};
  StatusCode code = StatusCode::kInternal;
  switch (result) {
    case E_OUTOFMEMORY: code = StatusCode::kOutOfMemory; break;
    case E_INVALIDARG: code = StatusCode::kInvalidArgument; break;
    case E_NOTIMPL:
    case E_NOINTERFACE: code = StatusCode::kUnsupported; break;
    case kDeviceRemoved:
    case kDeviceHung:
    case kDeviceReset: code = StatusCode::kDeviceLost; break;
    default: break;
  }
  return {code,
          fmt::format("{} failed with HRESULT 0x{:08X}", what, static_cast<uint32_t>(result))};
}

Result<D3D12MappedBuffer> CreateMappedBuffer(ID3D12Device* device, MappedHeap heap,
                                             size_t size_bytes) {
  D3D12_HEAP_PROPERTIES properties = {};
  D3D12_RESOURCE_STATES state = D3D12_RESOURCE_STATE_COMMON;
  D3D12_RESOURCE_FLAGS flags = D3D12_RESOURCE_FLAG_NONE;
  switch (heap) {
    case MappedHeap::kUpload:
      properties.Type = D3D12_HEAP_TYPE_UPLOAD;
      state = D3D12_RESOURCE_STATE_GENERIC_READ;
      break;
    case MappedHeap::kReadback:
      properties.Type = D3D12_HEAP_TYPE_READBACK;
      state = D3D12_RESOURCE_STATE_COPY_DEST;
      break;
    case MappedHeap::kWriteBack:
      properties.Type = D3D12_HEAP_TYPE_CUSTOM;
      properties.CPUPageProperty = D3D12_CPU_PAGE_PROPERTY_WRITE_BACK;
      properties.MemoryPoolPreference = D3D12_MEMORY_POOL_L0;
      flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
      break;
  }
  Result<ComPtr<ID3D12Resource>> resource =
      CreateBuffer(device, properties, size_bytes, flags, state);
  if (!resource.ok()) return resource.status();

  D3D12MappedBuffer buffer;
  buffer.resource = std::move(*resource);
  buffer.size_bytes = size_bytes;
  // A null range says that the CPU may read everything.
  void* memory = nullptr;
  const HRESULT result = buffer.resource->Map(0, nullptr, &memory);
  if (FAILED(result)) {
    return StatusFromHresult(result, fmt::format("Map of {} bytes", size_bytes));
  }
  buffer.memory = static_cast<std::byte*>(memory);
  buffer.gpu_address = buffer.resource->GetGPUVirtualAddress();
  return buffer;
}

Result<ComPtr<ID3D12Resource>> CreateDeviceBuffer(ID3D12Device* device, size_t size_bytes) {
  D3D12_HEAP_PROPERTIES properties = {};
  properties.Type = D3D12_HEAP_TYPE_DEFAULT;
  // Unordered access, because transitions into and out of that state are the barriers used.
  return CreateBuffer(device, properties, size_bytes, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
                      D3D12_RESOURCE_STATE_COMMON);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
