// SPDX-License-Identifier: Apache-2.0
#include "app/entry/windows/dxgi_functions.h"

#include <dxgi1_4.h>

#include <atomic>

#include "app/d3d12/layer.h"
#include "app/entry/windows/dxgi_swap_chain.h"
#include "app/entry/windows/functions.h"
#include "app/replacement/methods.h"
#include "app/replacement/replacement.h"
#include "app/settings/log.h"
#include "d3d12abi/com_ptr.h"
#include "os/library.h"

namespace cairn {
namespace {

std::atomic<bool> factories_are_seen{false};

// `create` makes a swap chain for the device that it is given, at `made`.
template <typename Made, typename Create>
HRESULT Created(IUnknown* device, Made** made, const Create& create) {
  const InsideScope inside;
  const HRESULT result = create(RealObject(device));
  if (SUCCEEDED(result) && made != nullptr) NoteSwapChain(device, *made);
  return result;
}

HRESULT OnCreateSwapChain(HRESULT (*next)(IDXGIFactory*, IUnknown*, DXGI_SWAP_CHAIN_DESC*,
                                          IDXGISwapChain**),
                          IDXGIFactory* self, IUnknown* device, DXGI_SWAP_CHAIN_DESC* desc,
                          IDXGISwapChain** made) {
  return Created(device, made, [&](IUnknown* real) { return next(self, real, desc, made); });
}

HRESULT OnCreateForHwnd(
    HRESULT (*next)(IDXGIFactory2*, IUnknown*, HWND, const DXGI_SWAP_CHAIN_DESC1*,
                    const DXGI_SWAP_CHAIN_FULLSCREEN_DESC*, IDXGIOutput*, IDXGISwapChain1**),
    IDXGIFactory2* self, IUnknown* device, HWND window, const DXGI_SWAP_CHAIN_DESC1* desc,
    const DXGI_SWAP_CHAIN_FULLSCREEN_DESC* fullscreen, IDXGIOutput* output,
    IDXGISwapChain1** made) {
  return Created(device, made, [&](IUnknown* real) {
    return next(self, real, window, desc, fullscreen, output, made);
  });
}

HRESULT OnCreateForCoreWindow(HRESULT (*next)(IDXGIFactory2*, IUnknown*, IUnknown*,
                                              const DXGI_SWAP_CHAIN_DESC1*, IDXGIOutput*,
                                              IDXGISwapChain1**),
                              IDXGIFactory2* self, IUnknown* device, IUnknown* window,
                              const DXGI_SWAP_CHAIN_DESC1* desc, IDXGIOutput* output,
                              IDXGISwapChain1** made) {
  return Created(device, made,
                 [&](IUnknown* real) { return next(self, real, window, desc, output, made); });
}

HRESULT OnCreateForComposition(HRESULT (*next)(IDXGIFactory2*, IUnknown*,
                                               const DXGI_SWAP_CHAIN_DESC1*, IDXGIOutput*,
                                               IDXGISwapChain1**),
                               IDXGIFactory2* self, IUnknown* device,
                               const DXGI_SWAP_CHAIN_DESC1* desc, IDXGIOutput* output,
                               IDXGISwapChain1** made) {
  return Created(device, made,
                 [&](IUnknown* real) { return next(self, real, desc, output, made); });
}

HRESULT OnCreateForSurface(HRESULT (*next)(IDXGIFactoryMedia*, IUnknown*, HANDLE,
                                           const DXGI_SWAP_CHAIN_DESC1*, IDXGIOutput*,
                                           IDXGISwapChain1**),
                           IDXGIFactoryMedia* self, IUnknown* device, HANDLE surface,
                           const DXGI_SWAP_CHAIN_DESC1* desc, IDXGIOutput* output,
                           IDXGISwapChain1** made) {
  return Created(device, made,
                 [&](IUnknown* real) { return next(self, real, surface, desc, output, made); });
}

// The places of methods in their interfaces, in the order in which dxgi.h declares them.
constexpr ReplacedMethod kFactory[] = {{10, &Replacement<&OnCreateSwapChain>::Over}};
constexpr ReplacedMethod kFactory2[] = {{15, &Replacement<&OnCreateForHwnd>::Over},
                                        {16, &Replacement<&OnCreateForCoreWindow>::Over},
                                        {24, &Replacement<&OnCreateForComposition>::Over}};
constexpr ReplacedMethod kFactoryMedia[] = {{3, &Replacement<&OnCreateForSurface>::Over}};

void NoteFactory(IUnknown* factory) {
  ReplaceMethodsAs(factory, __uuidof(IDXGIFactory), kFactory);
  ReplaceMethodsAs(factory, __uuidof(IDXGIFactory2), kFactory);
  ReplaceMethodsAs(factory, __uuidof(IDXGIFactory2), kFactory2);
  ReplaceMethodsAs(factory, __uuidof(IDXGIFactory4), kFactory);
  ReplaceMethodsAs(factory, __uuidof(IDXGIFactory4), kFactory2);
  ReplaceMethodsAs(factory, __uuidof(IDXGIFactoryMedia), kFactoryMedia);
  factories_are_seen.store(true, std::memory_order_relaxed);
}

HRESULT OnCreateFactory(HRESULT (*next)(const IID&, void**), const IID& riid, void** factory) {
  const InsideScope inside;
  const HRESULT result = next(riid, factory);
  if (inside.outermost() && SUCCEEDED(result)) NoteFactory(static_cast<IUnknown*>(*factory));
  return result;
}

HRESULT OnCreateFactory2(HRESULT (*next)(UINT, const IID&, void**), UINT flags, const IID& riid,
                         void** factory) {
  const InsideScope inside;
  const HRESULT result = next(flags, riid, factory);
  if (inside.outermost() && SUCCEEDED(result)) NoteFactory(static_cast<IUnknown*>(*factory));
  return result;
}

}  // namespace

void* OverCreateFactory(void* function) {
  return Replacement<&OnCreateFactory>::Over(function);
}
void* OverCreateFactory2(void* function) {
  return Replacement<&OnCreateFactory2>::Over(function);
}

void ReplaceMethodsOfFactories() {
  if (factories_are_seen.load(std::memory_order_relaxed)) return;
  const Result<Library> dxgi = Library::Load("dxgi.dll");
  const auto create =
      dxgi.ok() ? dxgi->Find<HRESULT (*)(const IID&, void**)>("CreateDXGIFactory1") : nullptr;
  ComPtr<IDXGIFactory1> factory;
  if (create == nullptr || FAILED(create(__uuidof(IDXGIFactory1), factory.Receive()))) {
    LogOnce(LogLevel::kInfo, "dxgi",
            "dxgi.dll makes no factory: swap chains of this program are not seen, and frames are "
            "counted by submissions");
    return;
  }
  NoteFactory(factory.get());
}

void ReplaceMethodsOfFactoryOf(IUnknown* device) {
  const InsideScope inside;
  ComPtr<IDXGIDevice> dxgi;
  ComPtr<IDXGIAdapter> adapter;
  ComPtr<IDXGIFactory> factory;
  if (SUCCEEDED(device->QueryInterface(__uuidof(IDXGIDevice), dxgi.Receive())) &&
      SUCCEEDED(dxgi->GetParent(__uuidof(IDXGIAdapter), adapter.Receive())) &&
      SUCCEEDED(adapter->GetParent(__uuidof(IDXGIFactory), factory.Receive()))) {
    NoteFactory(factory.get());
  }
}

}  // namespace cairn
