// SPDX-License-Identifier: Apache-2.0
//
// Objects of the fake device that hold a description or less, and do nothing with it.
#ifndef CAIRN_D3D12ABI_TESTING_FAKE_OBJECTS_H_
#define CAIRN_D3D12ABI_TESTING_FAKE_OBJECTS_H_

#include <cstddef>
#include <vector>

#include "d3d12abi/d3d12_api.h"
#include "d3d12abi/testing/fake_stubs.h"

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

class NoPipeline : public NoChild<ID3D12PipelineState> {
 public:
  HRESULT STDMETHODCALLTYPE GetCachedBlob(ID3DBlob**) override { return E_NOTIMPL; }

 protected:
  ~NoPipeline() = default;
};

class NoMetaCommand : public NoChild<ID3D12MetaCommand> {
 public:
  UINT64 STDMETHODCALLTYPE GetRequiredParameterResourceSize(D3D12_META_COMMAND_PARAMETER_STAGE,
                                                            UINT) override {
    return 0;
  }

 protected:
  ~NoMetaCommand() = default;
};

class NoPipelineLibrary : public NoChild<ID3D12PipelineLibrary> {
 public:
  HRESULT STDMETHODCALLTYPE StorePipeline(LPCWSTR, ID3D12PipelineState*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE LoadGraphicsPipeline(LPCWSTR, const D3D12_GRAPHICS_PIPELINE_STATE_DESC*,
                                                 REFIID, void**) override {
    return E_INVALIDARG;
  }
  HRESULT STDMETHODCALLTYPE LoadComputePipeline(LPCWSTR, const D3D12_COMPUTE_PIPELINE_STATE_DESC*,
                                                REFIID, void**) override {
    return E_INVALIDARG;
  }
  SIZE_T STDMETHODCALLTYPE GetSerializedSize() override { return 0; }
  HRESULT STDMETHODCALLTYPE Serialize(void*, SIZE_T) override { return E_NOTIMPL; }

 protected:
  ~NoPipelineLibrary() = default;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#pragma GCC diagnostic pop

#endif  // CAIRN_D3D12ABI_TESTING_FAKE_OBJECTS_H_
