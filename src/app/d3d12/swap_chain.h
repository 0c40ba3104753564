// SPDX-License-Identifier: Apache-2.0
//
// Swap chains that an implementation makes itself, for a queue: vkd3d-proton's, without DXGI. Their images
// are resources that the program gets from them.
#ifndef CAIRN_APP_D3D12_SWAP_CHAIN_H_
#define CAIRN_APP_D3D12_SWAP_CHAIN_H_

#include "d3d12gen/thin/IDXGIVkSwapChain.h"
#include "d3d12gen/thin/IDXGIVkSwapChainFactory.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// The implementation keeps the images: their wrappers live as long, even if the program has no
// references.
class WrappedIDXGIVkSwapChain final : public ThinIDXGIVkSwapChain {
 public:
  WrappedIDXGIVkSwapChain(WrappedID3D12Device& device, void* real);
  ~WrappedIDXGIVkSwapChain() override;

  // Binds the chain to the queue that made it. The implementation counts a reference on that queue,
  // and through it on the device: so do the wrappers. Call it before other threads see the chain;
  // later calls do nothing.
  void BelongTo(Wrapper& queue);

  HRESULT STDMETHODCALLTYPE GetDevice(REFIID riid, void** device) override;
  HRESULT STDMETHODCALLTYPE GetImage(UINT index, REFIID riid, void** image) override;
  HRESULT STDMETHODCALLTYPE ChangeProperties(const DXGI_SWAP_CHAIN_DESC1* desc,
                                             const UINT* node_masks,
                                             IUnknown* const* queues) override;
  HRESULT STDMETHODCALLTYPE Present(UINT sync_interval, UINT flags,
                                    const DXGI_PRESENT_PARAMETERS* parameters) override;

 protected:
  void OnEnd() override;

 private:
  static constexpr UINT kMostImages = 16;

  UINT QueueCount(const DXGI_SWAP_CHAIN_DESC1* desc) const;

  Wrapper* queue_ = nullptr;
};

// The factory that a queue returns.
class WrappedIDXGIVkSwapChainFactory final : public ThinIDXGIVkSwapChainFactory {
 public:
  WrappedIDXGIVkSwapChainFactory(void* real, Wrapper& owner)
      : ThinIDXGIVkSwapChainFactory(real, &owner) {}

  HRESULT STDMETHODCALLTYPE CreateSwapChain(IDXGIVkSurfaceFactory* surfaces,
                                            const DXGI_SWAP_CHAIN_DESC1* desc,
                                            IDXGIVkSwapChain** swap_chain) override;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_SWAP_CHAIN_H_
