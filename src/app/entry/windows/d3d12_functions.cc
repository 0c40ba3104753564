// SPDX-License-Identifier: Apache-2.0
//
// The functions that create devices: D3D12CreateDevice, and the device factories that a program can
// ask D3D12GetInterface for.
#include "app/breadcrumbs/driver_half.h"
#include "app/d3d12/layer.h"
#include "app/entry/windows/dxgi_functions.h"
#include "app/entry/windows/functions.h"
#include "app/replacement/methods.h"
#include "app/replacement/replacement.h"
#include "d3d12abi/com_ptr.h"

namespace cairn {
namespace {

// `create` makes a device as the interface that it is given, at `real`.
template <typename Create>
HRESULT CreateWrapped(D3D_FEATURE_LEVEL level, const IID& iid, void** device,
                      const Create& create) {
  const InsideScope inside;
  // The Vulkan layer may be looking at what is created below.
  const DeviceCreationScope creating;
  // Without a place for the device this asks only whether one could be created.
  if (!inside.outermost() || device == nullptr) return create(iid, device);
  // A result that the implementation does not write keeps the program's value.
  void* real = *device;
  const HRESULT result = create(__uuidof(ID3D12Device), &real);
  if (FAILED(result) || real == nullptr) {
    *device = real;
    return result;
  }
  DeviceOrigin origin;
  origin.feature_level = static_cast<uint32_t>(level);
  origin.is_driven = creating.seen();
  ComPtr<ID3D12Device> wrapper;
  *wrapper.Receive() = WrapDevice(static_cast<ID3D12Device*>(real), origin);
  // Factories make swap chains, whose queues must be known.
  ReplaceMethodsOfFactories();
  const HRESULT wrapped = wrapper->QueryInterface(iid, device);
  return FAILED(wrapped) ? wrapped : result;
}

HRESULT OnCreateDevice(HRESULT (*next)(IUnknown*, D3D_FEATURE_LEVEL, const IID&, void**),
                       IUnknown* adapter, D3D_FEATURE_LEVEL level, const IID& iid, void** device) {
  return CreateWrapped(level, iid, device,
                       [&](const IID& as, void** made) { return next(adapter, level, as, made); });
}

HRESULT OnFactoryCreateDevice(HRESULT (*next)(ID3D12DeviceFactory*, IUnknown*, D3D_FEATURE_LEVEL,
                                              const IID&, void**),
                              ID3D12DeviceFactory* self, IUnknown* adapter, D3D_FEATURE_LEVEL level,
                              const IID& iid, void** device) {
  return CreateWrapped(level, iid, device, [&](const IID& as, void** made) {
    return next(self, adapter, level, as, made);
  });
}

void NoteConfiguration(IUnknown* object);

HRESULT OnCreateDeviceFactory(HRESULT (*next)(ID3D12SDKConfiguration1*, UINT, const char*,
                                              const IID&, void**),
                              ID3D12SDKConfiguration1* self, UINT version, const char* path,
                              const IID& iid, void** factory) {
  const HRESULT result = next(self, version, path, iid, factory);
  if (SUCCEEDED(result) && factory != nullptr) NoteConfiguration(static_cast<IUnknown*>(*factory));
  return result;
}

HRESULT OnGetInterface(HRESULT (*next)(const IID&, const IID&, void**), const IID& class_id,
                       const IID& iid, void** object) {
  const HRESULT result = next(class_id, iid, object);
  if (SUCCEEDED(result) && object != nullptr) NoteConfiguration(static_cast<IUnknown*>(*object));
  return result;
}

// The places of methods in their interfaces, in the order in which d3d12.h declares them.
constexpr ReplacedMethod kConfiguration1[] = {{4, &Replacement<&OnCreateDeviceFactory>::Over}};
constexpr ReplacedMethod kDeviceFactory[] = {{9, &Replacement<&OnFactoryCreateDevice>::Over}};

// Replaces the methods of objects that make devices, or that make such objects; other objects of
// D3D12GetInterface stay unchanged.
void NoteConfiguration(IUnknown* object) {
  if (object == nullptr) return;
  ComPtr<ID3D12SDKConfiguration1> configuration;
  if (SUCCEEDED(
          object->QueryInterface(__uuidof(ID3D12SDKConfiguration1), configuration.Receive()))) {
    ReplaceMethods(configuration.get(), kConfiguration1);
  }
  ComPtr<ID3D12DeviceFactory> factory;
  if (SUCCEEDED(object->QueryInterface(__uuidof(ID3D12DeviceFactory), factory.Receive()))) {
    ReplaceMethods(factory.get(), kDeviceFactory);
  }
}

}  // namespace

void* OverCreateDevice(void* function) {
  return Replacement<&OnCreateDevice>::Over(function);
}
void* OverGetInterface(void* function) {
  return Replacement<&OnGetInterface>::Over(function);
}

}  // namespace cairn
