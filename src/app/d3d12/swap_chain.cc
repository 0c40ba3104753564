// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/swap_chain.h"

#include "app/d3d12/capture/device_capture.h"
#include "app/d3d12/device.h"
#include "app/d3d12/layer.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// A flag of Present: nothing is shown.
constexpr UINT kPresentTest = 1;

}  // namespace

WrappedIDXGIVkSwapChain::WrappedIDXGIVkSwapChain(WrappedID3D12Device& device, void* real)
    : ThinIDXGIVkSwapChain(real) {
  Join(device);
}

// The real swap chain is gone, and its reference on the real queue.
WrappedIDXGIVkSwapChain::~WrappedIDXGIVkSwapChain() {
  if (queue_ != nullptr) queue_->ReleaseReference();
}

void WrappedIDXGIVkSwapChain::BelongTo(Wrapper& queue) {
  if (queue_ != nullptr) return;
  queue_ = &queue;
  queue.AddReference();
  // The queue's counts for both; OnEnd() takes it back.
  static_cast<Wrapper*>(device())->ReleaseReference();
}

void WrappedIDXGIVkSwapChain::OnEnd() {
  if (queue_ != nullptr) static_cast<Wrapper*>(device())->AddReference();
}

HRESULT WrappedIDXGIVkSwapChain::GetDevice(REFIID riid, void** device) {
  CallScope call(*this, Method::IDXGIVkSwapChain_GetDevice, riid, device);
  const HRESULT result = device == nullptr || PointerTo(riid) == nullptr
                             ? real()->GetDevice(riid, device)
                             : static_cast<Wrapper*>(this->device())->Query(riid, device);
  return call.Returns(result, riid, device);
}

HRESULT WrappedIDXGIVkSwapChain::GetImage(UINT index, REFIID riid, void** image) {
  CallScope call(*this, Method::IDXGIVkSwapChain_GetImage, index, riid, image);
  const HRESULT result = WrapReturned<ID3D12Resource>(
      *this, riid, image,
      [&](REFIID real_iid, void** made) { return real()->GetImage(index, real_iid, made); },
      {.is_image = true});
  return call.Returns(result, index, riid, image);
}

// Returns the number of queues: one for each image. Without a number in the description, as many as
// there were.
UINT WrappedIDXGIVkSwapChain::QueueCount(const DXGI_SWAP_CHAIN_DESC1* desc) const {
  if (desc == nullptr) return 0;
  if (desc->BufferCount != 0) return desc->BufferCount;
  DXGI_SWAP_CHAIN_DESC1 now = {};
  return SUCCEEDED(real()->GetDesc(&now)) ? now.BufferCount : 0;
}

HRESULT WrappedIDXGIVkSwapChain::ChangeProperties(const DXGI_SWAP_CHAIN_DESC1* desc,
                                                  const UINT* node_masks, IUnknown* const* queues) {
  CallScope call(*this, Method::IDXGIVkSwapChain_ChangeProperties, desc, node_masks, queues);
  Scratch scratch;
  const UINT count = queues == nullptr ? 0 : QueueCount(desc);
  // A larger count is refused without reading the queues, whose array may be shorter.
  IUnknown* const* const real_queues =
      count > kMostImages ? queues : UnwrapArray(scratch, queues, count);
  const HRESULT result = real()->ChangeProperties(desc, node_masks, real_queues);
  return call.Returns(result, desc, node_masks, queues);
}

HRESULT WrappedIDXGIVkSwapChain::Present(UINT sync_interval, UINT flags,
                                         const DXGI_PRESENT_PARAMETERS* parameters) {
  if (device()->capture() != nullptr) [[unlikely]]
    device()->capture()->BeforePresent();
  const HRESULT result = ThinIDXGIVkSwapChain::Present(sync_interval, flags, parameters);
  device()->NoteResult(result, "IDXGIVkSwapChain::Present");
  if (SUCCEEDED(result) && (flags & kPresentTest) == 0) EndFrame();
  return result;
}

HRESULT WrappedIDXGIVkSwapChainFactory::CreateSwapChain(IDXGIVkSurfaceFactory* surfaces,
                                                        const DXGI_SWAP_CHAIN_DESC1* desc,
                                                        IDXGIVkSwapChain** swap_chain) {
  CallScope call(*this, Method::IDXGIVkSwapChainFactory_CreateSwapChain, surfaces, desc,
                 swap_chain);
  const HRESULT result = CreateAs(
      *this, Chain::kIDXGIVkSwapChain, __uuidof(IDXGIVkSwapChain), __uuidof(IDXGIVkSwapChain),
      reinterpret_cast<void**>(swap_chain),
      [&](REFIID, void** made) {
        return real()->CreateSwapChain(surfaces, desc, reinterpret_cast<IDXGIVkSwapChain**>(made));
      },
      [&](Wrapper& made) { static_cast<WrappedIDXGIVkSwapChain&>(made).BelongTo(owner()); });
  return call.Returns(result, surfaces, desc, swap_chain);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
