// SPDX-License-Identifier: Apache-2.0
//
// For tests: a video process list that does nothing but remember what it was told of events. libvkd3d has
// none.
#ifndef CAIRN_APP_D3D12_TESTING_TEST_VIDEO_LIST_H_
#define CAIRN_APP_D3D12_TESTING_TEST_VIDEO_LIST_H_

#include <atomic>
#include <vector>

#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

#pragma GCC diagnostic push
// COM objects end in Release, not through a base's destructor.
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
// `metadata`: of each event and marker, -1 for an end.
class TestVideoProcessList final : public ID3D12VideoProcessCommandList {
 public:
  explicit TestVideoProcessList(std::vector<int>* metadata) : metadata_(metadata) {}
  virtual ~TestVideoProcessList() = default;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    *object = nullptr;
    for (const GUID& known :
         {__uuidof(IUnknown), __uuidof(ID3D12Object), __uuidof(ID3D12DeviceChild),
          __uuidof(ID3D12CommandList), __uuidof(ID3D12VideoProcessCommandList)}) {
      if (riid != known) continue;
      AddRef();
      *object = this;
      return S_OK;
    }
    return E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references_;
    if (left == 0) delete this;
    return left;
  }
  HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID, UINT*, void*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID, UINT, const void*) override { return S_OK; }
  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID, const IUnknown*) override {
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE SetName(LPCWSTR) override { return S_OK; }
  HRESULT STDMETHODCALLTYPE GetDevice(REFIID, void**) override { return E_NOTIMPL; }
  D3D12_COMMAND_LIST_TYPE STDMETHODCALLTYPE GetType() override {
    return D3D12_COMMAND_LIST_TYPE_VIDEO_PROCESS;
  }
  HRESULT STDMETHODCALLTYPE Close() override { return S_OK; }
  HRESULT STDMETHODCALLTYPE Reset(ID3D12CommandAllocator*) override { return S_OK; }
  void STDMETHODCALLTYPE ClearState() override {}
  void STDMETHODCALLTYPE ResourceBarrier(UINT, const D3D12_RESOURCE_BARRIER*) override {}
  void STDMETHODCALLTYPE DiscardResource(ID3D12Resource*, const D3D12_DISCARD_REGION*) override {}
  void STDMETHODCALLTYPE BeginQuery(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT) override {}
  void STDMETHODCALLTYPE EndQuery(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT) override {}
  void STDMETHODCALLTYPE ResolveQueryData(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT, UINT,
                                          ID3D12Resource*, UINT64) override {}
  void STDMETHODCALLTYPE SetPredication(ID3D12Resource*, UINT64, D3D12_PREDICATION_OP) override {}
  void STDMETHODCALLTYPE SetMarker(UINT metadata, const void*, UINT) override {
    metadata_->push_back(static_cast<int>(metadata));
  }
  void STDMETHODCALLTYPE BeginEvent(UINT metadata, const void*, UINT) override {
    metadata_->push_back(static_cast<int>(metadata));
  }
  void STDMETHODCALLTYPE EndEvent() override { metadata_->push_back(-1); }
  void STDMETHODCALLTYPE ProcessFrames(ID3D12VideoProcessor*,
                                       const D3D12_VIDEO_PROCESS_OUTPUT_STREAM_ARGUMENTS*, UINT,
                                       const D3D12_VIDEO_PROCESS_INPUT_STREAM_ARGUMENTS*) override {
  }
  void STDMETHODCALLTYPE WriteBufferImmediate(UINT, const D3D12_WRITEBUFFERIMMEDIATE_PARAMETER*,
                                              const D3D12_WRITEBUFFERIMMEDIATE_MODE*) override {}

 private:
  std::vector<int>* const metadata_;
  std::atomic<ULONG> references_{1};
};
#pragma GCC diagnostic pop

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_TESTING_TEST_VIDEO_LIST_H_
