// SPDX-License-Identifier: Apache-2.0
#include "d3d12/swap_chain.h"

#include <utility>

#include "d3d12/device.h"
#include "d3d12/device_capture.h"
#include "d3d12/layer.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// Of the flags of Present: nothing is shown.
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
  const std::lock_guard lock(images_mutex_);
  if (queue_ != nullptr) return;
  queue_ = &queue;
  queue.AddReference();
  // The queue's counts for both; OnEnd() takes it back.
  static_cast<Wrapper*>(device())->ReleaseReference();
}

void WrappedIDXGIVkSwapChain::OnEnd() {
  if (queue_ != nullptr) static_cast<Wrapper*>(device())->AddReference();
  DropImages(Dropped::kAll);
}

HRESULT WrappedIDXGIVkSwapChain::GetDevice(REFIID riid, void** device) {
  CallScope call(*this, Method::IDXGIVkSwapChain_GetDevice, riid, device);
  const HRESULT result = device == nullptr
                             ? real()->GetDevice(riid, device)
                             : static_cast<Wrapper*>(this->device())->Query(riid, device);
  return call.Returns(result, riid, device);
}

HRESULT WrappedIDXGIVkSwapChain::GetImage(UINT index, REFIID riid, void** image) {
  CallScope call(*this, Method::IDXGIVkSwapChain_GetImage, index, riid, image);
  const HRESULT result =
      image == nullptr ? real()->GetImage(index, riid, image) : GiveImage(index, riid, image);
  return call.Returns(result, index, riid, image);
}

HRESULT WrappedIDXGIVkSwapChain::GiveImage(UINT index, REFIID riid, void** image) {
  void* found = &untouched_result;
  const HRESULT result = real()->GetImage(index, __uuidof(ID3D12Resource), &found);
  if (found == &untouched_result) return result;
  if (FAILED(result) || found == nullptr) {
    *image = found;
    return result;
  }
  const HRESULT given = GiveInterface(WrapImage(found), riid, image);
  return FAILED(given) ? given : result;
}

Wrapper* WrappedIDXGIVkSwapChain::WrapImage(void* real) {
  const std::lock_guard lock(images_mutex_);
  Wrapper** place = nullptr;
  for (Wrapper*& held : images_) {
    if (held == nullptr) {
      place = &held;
      break;
    }
    if (held->real_pointer() != real) continue;
    static_cast<IUnknown*>(real)->Release();
    held->AddReference();
    return held;
  }
  const CapturedImage facts;
  const ImageScope scope(facts);
  Wrapper* const made = WrapNew(*this, Chain::kID3D12Resource, real);
  if (made != nullptr && place != nullptr) {
    made->Hold();
    *place = made;
  }
  return made;
}

void WrappedIDXGIVkSwapChain::DropImages(Dropped which) {
  std::array<Wrapper*, kMostImages> dropped = {};
  {
    const std::lock_guard lock(images_mutex_);
    std::swap(dropped, images_);
    size_t kept = 0;
    for (Wrapper*& image : dropped) {
      if (image == nullptr || which == Dropped::kAll || !image->AddReferenceIfAlive()) continue;
      image->ReleaseReference();
      images_[kept++] = std::exchange(image, nullptr);
    }
  }
  // Without the lock: an image may end, and call what the program registered for that.
  for (Wrapper* const image : dropped) {
    if (image != nullptr) image->Drop();
  }
}

// One for each image. None in the description: as many as there were.
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
  // More than there can be is refused: then nobody looks at the queues, and their array may be shorter.
  IUnknown* const* const real_queues =
      count > kMostImages ? queues : UnwrapArray(scratch, queues, count);
  // As long as anybody holds an image, the implementation refuses.
  DropImages(Dropped::kUnused);
  const HRESULT result = real()->ChangeProperties(desc, node_masks, real_queues);
  if (SUCCEEDED(result)) DropImages(Dropped::kAll);
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
