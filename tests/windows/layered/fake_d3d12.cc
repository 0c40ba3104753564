// SPDX-License-Identifier: Apache-2.0
//
// A d3d12.dll whose devices run on the CPU at once.
#include "d3d12abi/testing/fake_device.h"

namespace {

unsigned calls = 0;

}  // namespace

// In fake_d3d12.def, under the number that the system's has.
extern "C" HRESULT WINAPI FakeCreateDevice(IUnknown*, D3D_FEATURE_LEVEL level, REFIID riid,
                                           void** device) {
  ++calls;
  if (level > D3D_FEATURE_LEVEL_12_0) return E_INVALIDARG;
  if (device == nullptr) return S_FALSE;
  ID3D12Device* const made = cairn::CreateFakeDevice();
  const HRESULT result = made->QueryInterface(riid, device);
  made->Release();
  return result;
}

namespace {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"  // as all interfaces

// One of each, for the life of the process.
template <typename Interface>
class Single : public Interface {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    const bool mine = riid == __uuidof(Interface) || riid == __uuidof(IUnknown);
    *object = mine ? this : nullptr;
    return mine ? S_OK : E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return 2; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
};

class Factory final : public Single<ID3D12DeviceFactory> {
  HRESULT STDMETHODCALLTYPE InitializeFromGlobalState() override { return S_OK; }
  HRESULT STDMETHODCALLTYPE ApplyToGlobalState() override { return S_OK; }
  HRESULT STDMETHODCALLTYPE SetFlags(D3D12_DEVICE_FACTORY_FLAGS) override { return S_OK; }
  D3D12_DEVICE_FACTORY_FLAGS STDMETHODCALLTYPE GetFlags() override {
    return D3D12_DEVICE_FACTORY_FLAG_NONE;
  }
  HRESULT STDMETHODCALLTYPE GetConfigurationInterface(REFCLSID, REFIID, void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE EnableExperimentalFeatures(UINT, const IID*, void*, UINT*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateDevice(IUnknown* adapter, D3D_FEATURE_LEVEL level, REFIID riid,
                                         void** device) override {
    return FakeCreateDevice(adapter, level, riid, device);
  }
};

class Configuration final : public Single<ID3D12SDKConfiguration1> {
  HRESULT STDMETHODCALLTYPE SetSDKVersion(UINT, LPCSTR) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE CreateDeviceFactory(UINT, LPCSTR, REFIID riid,
                                                void** factory) override {
    static Factory made;
    return made.QueryInterface(riid, factory);
  }
  void STDMETHODCALLTYPE FreeUnusedSDKs() override {}
};

#pragma GCC diagnostic pop

}  // namespace

extern "C" HRESULT WINAPI FakeGetInterface(REFCLSID, REFIID riid, void** object) {
  static Factory factory;
  static Configuration configuration;
  return riid == __uuidof(ID3D12DeviceFactory) ? factory.QueryInterface(riid, object)
                                               : configuration.QueryInterface(riid, object);
}

// Returns the number of requested devices.
extern "C" unsigned FakeCalls() {
  return calls;
}
