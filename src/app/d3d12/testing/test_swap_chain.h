// SPDX-License-Identifier: Apache-2.0
//
// For tests: an implementation's swap chains on a queue of the fake device.
#ifndef CAIRN_APP_D3D12_TESTING_TEST_SWAP_CHAIN_H_
#define CAIRN_APP_D3D12_TESTING_TEST_SWAP_CHAIN_H_

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "d3d12abi/com_ptr.h"
#include "d3d12abi/testing/fake_device.h"
#include "d3d12gen/supplement.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

inline bool IsSame(REFIID a, REFIID b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

inline D3D12_RESOURCE_DESC ImageDesc(UINT width) {
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
  desc.Width = width;
  desc.Height = 16;
  desc.DepthOrArraySize = 1;
  desc.MipLevels = 1;
  desc.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
  desc.SampleDesc.Count = 1;
  desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET;
  return desc;
}

// Two images. Like those of vkd3d-proton: it has a public reference on its queue while it has any
// itself, its images live on without public references, and it cannot be changed while one of them
// is referenced.
class SwapChain final : public IDXGIVkSwapChain2 {
 public:
  explicit SwapChain(ID3D12CommandQueue* queue, ID3D12Device* device)
      : device_(device), queue_(queue) {
    queue_->AddRef();
    MakeImages(64);
  }

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    *object = nullptr;
    if (!IsSame(riid, __uuidof(IDXGIVkSwapChain)) && !IsSame(riid, __uuidof(IDXGIVkSwapChain1)) &&
        !IsSame(riid, __uuidof(IDXGIVkSwapChain2)) && !IsSame(riid, __uuidof(IUnknown))) {
      return E_NOINTERFACE;
    }
    AddRef();
    *object = this;
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references;
    if (left == 0) {
      images = {};
      queue_->Release();
    }
    return left;
  }
  HRESULT STDMETHODCALLTYPE GetDesc(DXGI_SWAP_CHAIN_DESC1* desc) override {
    *desc = {};
    desc->BufferCount = static_cast<UINT>(images.size());
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetAdapter(REFIID, void** adapter) override {
    *adapter = &adapter_;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetDevice(REFIID riid, void** device) override {
    if (device == nullptr) return E_POINTER;
    return device_->QueryInterface(riid, device);
  }
  HRESULT STDMETHODCALLTYPE GetImage(UINT index, REFIID riid, void** image) override {
    if (index >= images.size()) return E_INVALIDARG;
    if (image == nullptr) return E_POINTER;
    return images[index]->QueryInterface(riid, image);
  }
  UINT STDMETHODCALLTYPE GetImageIndex() override { return 1; }
  UINT STDMETHODCALLTYPE GetFrameLatency() override { return 3; }
  HANDLE STDMETHODCALLTYPE GetFrameLatencyEvent() override { return this; }
  HRESULT STDMETHODCALLTYPE ChangeProperties(const DXGI_SWAP_CHAIN_DESC1* desc, const UINT*,
                                             IUnknown* const* queues) override {
    queues_seen.clear();
    for (size_t i = 0; queues != nullptr && i < images.size(); ++i)
      queues_seen.push_back(queues[i]);
    if (desc->Width == 0) return E_INVALIDARG;
    for (const ComPtr<ID3D12Resource>& image : images) {
      image->AddRef();
      if (image->Release() != 1) return DXGI_ERROR_INVALID_CALL;  // somebody holds it
    }
    MakeImages(desc->Width);
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE SetPresentRegion(const RECT*) override { return S_OK; }
  HRESULT STDMETHODCALLTYPE SetGammaControl(UINT, const DXGI_RGB*) override { return S_OK; }
  HRESULT STDMETHODCALLTYPE SetFrameLatency(UINT) override { return S_OK; }
  HRESULT STDMETHODCALLTYPE Present(UINT, UINT, const DXGI_PRESENT_PARAMETERS*) override {
    return S_OK;
  }
  UINT STDMETHODCALLTYPE CheckColorSpaceSupport(DXGI_COLOR_SPACE_TYPE) override { return 1; }
  HRESULT STDMETHODCALLTYPE SetColorSpace(DXGI_COLOR_SPACE_TYPE) override { return S_OK; }
  HRESULT STDMETHODCALLTYPE SetHDRMetaData(const DXGI_VK_HDR_METADATA*) override { return S_OK; }
  void STDMETHODCALLTYPE GetLastPresentCount(UINT64* count) override { *count = 9; }
  void STDMETHODCALLTYPE GetFrameStatistics(DXGI_VK_FRAME_STATISTICS*) override {}
  void STDMETHODCALLTYPE SetTargetFrameRate(double) override {}

  void* adapter() { return &adapter_; }

  ULONG references = 1;
  std::array<ComPtr<ID3D12Resource>, 2> images;
  std::vector<IUnknown*> queues_seen;

 private:
  void MakeImages(UINT width) {
    D3D12_HEAP_PROPERTIES heap = {};
    heap.Type = D3D12_HEAP_TYPE_DEFAULT;
    const D3D12_RESOURCE_DESC desc = ImageDesc(width);
    for (ComPtr<ID3D12Resource>& image : images) {
      device_->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                       D3D12_RESOURCE_STATE_PRESENT, nullptr,
                                       __uuidof(ID3D12Resource), image.Receive());
    }
  }

  ID3D12Device* const device_;
  ID3D12CommandQueue* const queue_;
  int adapter_ = 0;
};

// Counts with the queue.
class SwapChainFactory final : public IDXGIVkSwapChainFactory {
 public:
  explicit SwapChainFactory(ID3D12CommandQueue* queue, ID3D12Device* device)
      : queue_(queue), device_(device) {}

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    return queue_->QueryInterface(riid, object);
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return queue_->AddRef(); }
  ULONG STDMETHODCALLTYPE Release() override { return queue_->Release(); }
  HRESULT STDMETHODCALLTYPE CreateSwapChain(IDXGIVkSurfaceFactory* surfaces,
                                            const DXGI_SWAP_CHAIN_DESC1* desc,
                                            IDXGIVkSwapChain** swap_chain) override {
    surfaces_seen = surfaces;
    // Success without a result: nothing that the caller may look at.
    if (desc == nullptr) return S_OK;
    if (desc->Width == 0) return E_INVALIDARG;
    made.push_back(std::make_unique<SwapChain>(queue_, device_));
    *swap_chain = made.back().get();
    return S_OK;
  }

  IDXGIVkSurfaceFactory* surfaces_seen = nullptr;
  std::vector<std::unique_ptr<SwapChain>> made;

 private:
  ID3D12CommandQueue* const queue_;
  ID3D12Device* const device_;
};

#pragma GCC diagnostic pop

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_TESTING_TEST_SWAP_CHAIN_H_
