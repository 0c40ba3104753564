// SPDX-License-Identifier: Apache-2.0
#include "app/d3d11/layer.h"

#include <dxgi.h>

#include <mutex>
#include <new>

#include "app/breadcrumbs/d3d11_layer_hooks.h"
#include "app/d3d11/child_note.h"
#include "app/d3d11/device.h"
#include "app/d3d11/device_context.h"
#include "app/settings/log.h"

namespace cairn {
namespace {

void NoteRawMarker(void* context, uint32_t slots, const RawMarker& marker) {
  if (D3D11Context* const known = D3D11Context::Find(context)) known->NoteRawMarker(slots, marker);
}

void NoteOwnCalls(void* context, bool begin) {
  D3D11Context* const known = D3D11Context::Find(context);
  if (known == nullptr) return;
  if (begin) {
    known->BeginOwnCalls();
  } else {
    known->EndOwnCalls();
  }
}

}  // namespace

void NoteD3D11Device(IUnknown* device, bool labelled) try {
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  ID3D11Device* real = nullptr;
  if (FAILED(device->QueryInterface(__uuidof(ID3D11Device), reinterpret_cast<void**>(&real)))) {
    return;
  }
  if (D3D11Device::Find(real) == nullptr) {
    if (auto known = D3D11Device::Make(real, labelled)) {
      SetD3D11LayerHooks({NoteRawMarker, NoteOwnCalls});
      PrivateNote::GiveTo(real, new DeviceNote(std::move(known)));
    }
  }
  real->Release();
} catch (const std::bad_alloc&) {
  Log(LogLevel::kError, "this Direct3D 11 device works without the layer: out of memory");
}

D3D11Device* BeforeD3D11Present(IUnknown* swap_chain) {
  IDXGIDeviceSubObject* object = nullptr;
  ID3D11Device* real = nullptr;
  if (FAILED(swap_chain->QueryInterface(__uuidof(IDXGIDeviceSubObject),
                                        reinterpret_cast<void**>(&object)))) {
    return nullptr;
  }
  const HRESULT result = object->GetDevice(__uuidof(ID3D11Device), reinterpret_cast<void**>(&real));
  object->Release();
  if (FAILED(result)) return nullptr;
  D3D11Device* const device = D3D11Device::Find(real);
  real->Release();
  if (device != nullptr && device->immediate() != nullptr) device->immediate()->Submit();
  return device;
}

void AfterD3D11Present(D3D11Device* device, HRESULT result, const char* function, bool shown) {
  device->NoteFailure(result, function);
  if (device->immediate() != nullptr) device->immediate()->Look();
  if (shown && SUCCEEDED(result)) device->EndFrame();
}

}  // namespace cairn
