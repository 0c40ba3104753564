// SPDX-License-Identifier: Apache-2.0
//
// Objects of the fake device that hold a description, and do nothing with it.
#ifndef CAIRN_D3D12ABI_FAKE_OBJECTS_H_
#define CAIRN_D3D12ABI_FAKE_OBJECTS_H_

#include <cstddef>
#include <vector>

#include "d3d12abi/d3d12_api.h"
#include "d3d12abi/fake_stubs.h"

// The interfaces have no destructors; who derives from these adds a virtual one.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class NoHeap : public NoChild<ID3D12Heap> {
 public:
  D3D12_HEAP_DESC* STDMETHODCALLTYPE GetDesc(D3D12_HEAP_DESC*) override { return {}; }

 protected:
  ~NoHeap() = default;
};

class NoDescriptorHeap : public NoChild<ID3D12DescriptorHeap> {
 public:
  D3D12_DESCRIPTOR_HEAP_DESC* STDMETHODCALLTYPE GetDesc(D3D12_DESCRIPTOR_HEAP_DESC*) override {
    return {};
  }
  D3D12_CPU_DESCRIPTOR_HANDLE* STDMETHODCALLTYPE
  GetCPUDescriptorHandleForHeapStart(D3D12_CPU_DESCRIPTOR_HANDLE*) override {
    return {};
  }
  D3D12_GPU_DESCRIPTOR_HANDLE* STDMETHODCALLTYPE
  GetGPUDescriptorHandleForHeapStart(D3D12_GPU_DESCRIPTOR_HANDLE*) override {
    return {};
  }

 protected:
  ~NoDescriptorHeap() = default;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#pragma GCC diagnostic pop

#endif  // CAIRN_D3D12ABI_FAKE_OBJECTS_H_
