// SPDX-License-Identifier: Apache-2.0
//
// Interfaces that a program may ask any object for.
#ifndef CAIRN_TESTS_INVISIBLE_INTERFACES_H_
#define CAIRN_TESTS_INVISIBLE_INTERFACES_H_

#include "invisible/observer.h"

namespace observe {

struct NamedInterface {
  const char* name;
  GUID iid;
};

#define CAIRN_INTERFACE(name) \
  { #name, __uuidof(name) }
inline const NamedInterface kInterfaces[] = {
    CAIRN_INTERFACE(IUnknown),
    CAIRN_INTERFACE(ID3D12Object),
    CAIRN_INTERFACE(ID3D12DeviceChild),
    CAIRN_INTERFACE(ID3D12Pageable),
    CAIRN_INTERFACE(ID3D12Heap),
    CAIRN_INTERFACE(ID3D12Heap1),
    CAIRN_INTERFACE(ID3D12Resource),
    CAIRN_INTERFACE(ID3D12Resource1),
    CAIRN_INTERFACE(ID3D12Resource2),
    CAIRN_INTERFACE(ID3D12CommandAllocator),
    CAIRN_INTERFACE(ID3D12Fence),
    CAIRN_INTERFACE(ID3D12Fence1),
    CAIRN_INTERFACE(ID3D12PipelineState),
    CAIRN_INTERFACE(ID3D12DescriptorHeap),
    CAIRN_INTERFACE(ID3D12QueryHeap),
    CAIRN_INTERFACE(ID3D12CommandSignature),
    CAIRN_INTERFACE(ID3D12RootSignature),
    CAIRN_INTERFACE(ID3D12CommandList),
    CAIRN_INTERFACE(ID3D12GraphicsCommandList),
    CAIRN_INTERFACE(ID3D12GraphicsCommandList1),
    CAIRN_INTERFACE(ID3D12GraphicsCommandList2),
    CAIRN_INTERFACE(ID3D12GraphicsCommandList3),
    CAIRN_INTERFACE(ID3D12GraphicsCommandList4),
    CAIRN_INTERFACE(ID3D12GraphicsCommandList6),
    CAIRN_INTERFACE(ID3D12CommandQueue),
    CAIRN_INTERFACE(ID3D12Device),
    CAIRN_INTERFACE(ID3D12Device1),
    CAIRN_INTERFACE(ID3D12Device2),
    CAIRN_INTERFACE(ID3D12Device5),
    CAIRN_INTERFACE(ID3D12Device8),
    CAIRN_INTERFACE(ID3D12PipelineLibrary),
    CAIRN_INTERFACE(ID3D12StateObject),
    CAIRN_INTERFACE(ID3D12LifetimeTracker),
    CAIRN_INTERFACE(ID3D12ProtectedSession),
    CAIRN_INTERFACE(ID3D12DeviceRemovedExtendedData),
    // Known to nobody.
    {"an unknown interface", {0xdeadbeef, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}}},
    {"all zero", {}},
};
#undef CAIRN_INTERFACE

}  // namespace observe

#endif  // CAIRN_TESTS_INVISIBLE_INTERFACES_H_
