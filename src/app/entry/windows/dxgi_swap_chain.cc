// SPDX-License-Identifier: Apache-2.0
#include "app/entry/windows/dxgi_swap_chain.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>

#include "app/breadcrumbs/layer_identity.h"
#include "app/d3d11/layer.h"
#include "app/d3d12/layer.h"
#include "app/replacement/methods.h"
#include "app/replacement/replacement.h"
#include "d3d12abi/com_ptr.h"

namespace cairn {
namespace {

constexpr GUID kNoteId = {
    0x7d1f02c7, 0x5be3, 0x4a0e, {0x9c, 0x41, 0x63, 0x61, 0x69, 0x72, 0x6e, 0x01}};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"  // as all interfaces

// Keeps the queue that a swap chain was made for, as long as the chain lives. The chain holds a
// reference to the real queue, and this note one to the wrapper.
class QueueNote final : public IUnknown {
 public:
  explicit QueueNote(ComPtr<ID3D12CommandQueue> queue) : queue_(std::move(queue)) {}

  ID3D12CommandQueue* queue() const { return queue_.get(); }
  // Another copy of Cairn keeps notes under the same name.
  bool is_ours() const { return token_ == LayerToken(); }

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    if (object == nullptr) return E_POINTER;
    *object = riid == __uuidof(IUnknown) ? this : nullptr;
    if (*object == nullptr) return E_NOINTERFACE;
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references_;
    if (left == 0) delete this;
    return left;
  }

 private:
  ~QueueNote() = default;

  const void* const token_ = LayerToken();
  const ComPtr<ID3D12CommandQueue> queue_;
  std::atomic<ULONG> references_{1};
};

#pragma GCC diagnostic pop

// Empty: it is no swap chain of a wrapper's, or this call comes from inside of another one.
ComPtr<QueueNote> NoteOf(const InsideScope& inside, IDXGIObject* swap_chain) {
  ComPtr<QueueNote> note;
  UINT bytes = sizeof(void*);
  if (!inside.outermost() || FAILED(swap_chain->GetPrivateData(kNoteId, &bytes, note.Receive())) ||
      !note || !note->is_ours()) {
    return {};
  }
  return note;
}

ComPtr<ID3D12Device> DeviceOf(const QueueNote& note) {
  ComPtr<ID3D12Device> device;
  note.queue()->GetDevice(__uuidof(ID3D12Device), device.Receive());
  return device;
}

template <typename Present>
HRESULT PresentedByD3D11(const InsideScope& inside, IDXGISwapChain* self, bool shown,
                         const char* function, const Present& present) {
  D3D11Device* const device = inside.outermost() ? BeforeD3D11Present(self) : nullptr;
  const HRESULT result = present();
  if (device != nullptr) AfterD3D11Present(device, result, function, shown);
  return result;
}

// `present` calls the swap chain.
template <typename Present>
HRESULT Presented(IDXGISwapChain* self, UINT flags, const char* function, const Present& present) {
  const InsideScope inside;
  const ComPtr<QueueNote> note = NoteOf(inside, self);
  const bool shown = (flags & DXGI_PRESENT_TEST) == 0;
  if (!note) return PresentedByD3D11(inside, self, shown, function, present);
  BeforePresent(note->queue());
  const HRESULT result = present();
  AfterPresent(note->queue(), result, function);
  if (SUCCEEDED(result) && shown) EndFrame();
  return result;
}

HRESULT OnPresent(HRESULT (*next)(IDXGISwapChain*, UINT, UINT), IDXGISwapChain* self, UINT interval,
                  UINT flags) {
  return Presented(self, flags, "IDXGISwapChain::Present",
                   [&] { return next(self, interval, flags); });
}

HRESULT OnPresent1(HRESULT (*next)(IDXGISwapChain1*, UINT, UINT, const DXGI_PRESENT_PARAMETERS*),
                   IDXGISwapChain1* self, UINT interval, UINT flags,
                   const DXGI_PRESENT_PARAMETERS* parameters) {
  return Presented(self, flags, "IDXGISwapChain1::Present1",
                   [&] { return next(self, interval, flags, parameters); });
}

HRESULT OnGetDevice(HRESULT (*next)(IDXGISwapChain*, const IID&, void**), IDXGISwapChain* self,
                    const IID& riid, void** device) {
  const InsideScope inside;
  const ComPtr<QueueNote> note = NoteOf(inside, self);
  if (!note || device == nullptr) return next(self, riid, device);
  ComPtr<IUnknown> real;
  // The pointer has the requested interface, so that it is a wrapper's or no known object.
  const HRESULT result = next(self, riid, real.Receive());
  if (FAILED(result) || !real) {
    *device = real.Detach();
    return result;
  }
  IUnknown* const wrapper = FindWrapper(real.get());
  if (wrapper != nullptr) return wrapper->QueryInterface(riid, device);
  *device = real.Detach();
  return result;
}

HRESULT OnGetBuffer(HRESULT (*next)(IDXGISwapChain*, UINT, const IID&, void**),
                    IDXGISwapChain* self, UINT index, const IID& riid, void** buffer) {
  const InsideScope inside;
  const ComPtr<QueueNote> note = NoteOf(inside, self);
  if (!note || buffer == nullptr) return next(self, index, riid, buffer);
  ComPtr<ID3D12Resource> real;
  if (FAILED(next(self, index, __uuidof(ID3D12Resource), real.Receive()))) {
    return next(self, index, riid, buffer);
  }
  // Images are in the state PRESENT at first, which is COMMON, and are presented in it.
  ComPtr<ID3D12Resource> image;
  *image.Receive() = WrapResource(DeviceOf(*note.get()).get(), real.Detach());
  if (!image) return E_OUTOFMEMORY;
  return image->QueryInterface(riid, buffer);
}

HRESULT OnResizeBuffers1(HRESULT (*next)(IDXGISwapChain3*, UINT, UINT, UINT, DXGI_FORMAT, UINT,
                                         const UINT*, IUnknown* const*),
                         IDXGISwapChain3* self, UINT count, UINT width, UINT height,
                         DXGI_FORMAT format, UINT flags, const UINT* node_masks,
                         IUnknown* const* queues) {
  const InsideScope inside;
  // A larger count is refused without reading the queues, whose array may be shorter.
  std::array<IUnknown*, DXGI_MAX_SWAP_CHAIN_BUFFERS> real = {};
  DXGI_SWAP_CHAIN_DESC1 now = {};
  UINT given = count;
  if (given == 0 && SUCCEEDED(self->GetDesc1(&now))) given = now.BufferCount;
  if (queues == nullptr || given > real.size()) {
    return next(self, count, width, height, format, flags, node_masks, queues);
  }
  std::transform(queues, queues + given, real.begin(),
                 [](IUnknown* queue) { return RealObject(queue); });
  return next(self, count, width, height, format, flags, node_masks, real.data());
}

// The places of methods in their interfaces, in the order in which dxgi.h declares them.
constexpr ReplacedMethod kSwapChain[] = {{7, &Replacement<&OnGetDevice>::Over},
                                         {8, &Replacement<&OnPresent>::Over},
                                         {9, &Replacement<&OnGetBuffer>::Over}};
constexpr ReplacedMethod kSwapChain1[] = {{22, &Replacement<&OnPresent1>::Over}};
constexpr ReplacedMethod kSwapChain3[] = {{39, &Replacement<&OnResizeBuffers1>::Over}};

}  // namespace

void NoteD3D11SwapChain(IUnknown* swap_chain) {
  ReplaceMethodsAs(swap_chain, __uuidof(IDXGISwapChain), kSwapChain);
  ReplaceMethodsAs(swap_chain, __uuidof(IDXGISwapChain1), kSwapChain);
  ReplaceMethodsAs(swap_chain, __uuidof(IDXGISwapChain1), kSwapChain1);
}

void NoteSwapChain(IUnknown* device, IUnknown* swap_chain) {
  if (swap_chain == nullptr) return;
  if (RealObject(device) == device) return NoteD3D11SwapChain(swap_chain);
  ComPtr<ID3D12CommandQueue> queue;
  ComPtr<IDXGIObject> object;
  if (FAILED(device->QueryInterface(__uuidof(ID3D12CommandQueue), queue.Receive())) ||
      FAILED(swap_chain->QueryInterface(__uuidof(IDXGIObject), object.Receive()))) {
    return;
  }
  ComPtr<QueueNote> note;
  *note.Receive() = new (std::nothrow) QueueNote(std::move(queue));
  if (!note || FAILED(object->SetPrivateDataInterface(kNoteId, note.get()))) return;
  NoteD3D11SwapChain(swap_chain);
  ReplaceMethodsAs(swap_chain, __uuidof(IDXGISwapChain3), kSwapChain);
  ReplaceMethodsAs(swap_chain, __uuidof(IDXGISwapChain3), kSwapChain1);
  ReplaceMethodsAs(swap_chain, __uuidof(IDXGISwapChain3), kSwapChain3);
}

}  // namespace cairn
