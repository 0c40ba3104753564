// SPDX-License-Identifier: Apache-2.0
//
// Methods that return aggregates, callable the same way with every compiler: the header declares
// them with an explicit result pointer except for Microsoft's own compiler.
#ifndef CAIRN_D3D12ABI_AGGREGATES_H_
#define CAIRN_D3D12ABI_AGGREGATES_H_

#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

#if defined(_MSC_VER)
#define CAIRN_D3D12_AGGREGATE(type, call) return call()
#define CAIRN_D3D12_AGGREGATE_ARGS(type, call, ...) return call(__VA_ARGS__)
#else
#define CAIRN_D3D12_AGGREGATE(type, call) \
  type result = {};                       \
  call(&result);                          \
  return result
#define CAIRN_D3D12_AGGREGATE_ARGS(type, call, ...) \
  type result = {};                                 \
  call(&result, __VA_ARGS__);                       \
  return result
#endif

inline D3D12_RESOURCE_DESC GetDesc(ID3D12Resource* resource) {
  CAIRN_D3D12_AGGREGATE(D3D12_RESOURCE_DESC, resource->GetDesc);
}
inline D3D12_HEAP_DESC GetDesc(ID3D12Heap* heap) {
  CAIRN_D3D12_AGGREGATE(D3D12_HEAP_DESC, heap->GetDesc);
}
inline D3D12_DESCRIPTOR_HEAP_DESC GetDesc(ID3D12DescriptorHeap* heap) {
  CAIRN_D3D12_AGGREGATE(D3D12_DESCRIPTOR_HEAP_DESC, heap->GetDesc);
}
inline D3D12_COMMAND_QUEUE_DESC GetDesc(ID3D12CommandQueue* queue) {
  CAIRN_D3D12_AGGREGATE(D3D12_COMMAND_QUEUE_DESC, queue->GetDesc);
}
inline D3D12_CPU_DESCRIPTOR_HANDLE GetCpuStart(ID3D12DescriptorHeap* heap) {
  CAIRN_D3D12_AGGREGATE(D3D12_CPU_DESCRIPTOR_HANDLE, heap->GetCPUDescriptorHandleForHeapStart);
}
inline D3D12_GPU_DESCRIPTOR_HANDLE GetGpuStart(ID3D12DescriptorHeap* heap) {
  CAIRN_D3D12_AGGREGATE(D3D12_GPU_DESCRIPTOR_HANDLE, heap->GetGPUDescriptorHandleForHeapStart);
}
inline LUID GetAdapterLuid(ID3D12Device* device) {
  CAIRN_D3D12_AGGREGATE(LUID, device->GetAdapterLuid);
}
inline D3D12_RESOURCE_ALLOCATION_INFO GetAllocationInfo(ID3D12Device* device,
                                                        const D3D12_RESOURCE_DESC& desc) {
  CAIRN_D3D12_AGGREGATE_ARGS(D3D12_RESOURCE_ALLOCATION_INFO, device->GetResourceAllocationInfo, 0,
                             1, &desc);
}
inline D3D12_HEAP_PROPERTIES GetCustomHeapProperties(ID3D12Device* device, D3D12_HEAP_TYPE type) {
  CAIRN_D3D12_AGGREGATE_ARGS(D3D12_HEAP_PROPERTIES, device->GetCustomHeapProperties, 0, type);
}

#undef CAIRN_D3D12_AGGREGATE
#undef CAIRN_D3D12_AGGREGATE_ARGS

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12ABI_AGGREGATES_H_
