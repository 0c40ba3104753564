// SPDX-License-Identifier: Apache-2.0
//
// A d3d11.dll with Direct3D 11 on a device of Direct3D 12, which keeps what it is given.
#include "d3d12abi/com_ptr.h"
#include "tests/windows/layered/use_device.h"

namespace {

using cairn::IsWrapper;

// "wrapper" here is what no implementation knows.
unsigned wrappers_seen = 0;
void Look(IUnknown* object) {
  if (IsWrapper(object)) ++wrappers_seen;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"  // as all interfaces

// ID3D11On12Device2, as far as its methods go.
class Device : public IUnknown {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void** object) override {
    *object = this;
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return 2; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
  virtual HRESULT STDMETHODCALLTYPE CreateWrappedResource(IUnknown* resource, const void*, UINT,
                                                          UINT, REFIID riid, void** made) {
    Look(resource);
    resource_ = cairn::ComPtr<IUnknown>(resource);
    return resource->QueryInterface(riid, made);
  }
  virtual void STDMETHODCALLTYPE ReleaseWrappedResources(IUnknown* const*, UINT) {}
  virtual void STDMETHODCALLTYPE AcquireWrappedResources(IUnknown* const*, UINT) {}
  virtual HRESULT STDMETHODCALLTYPE GetD3D12Device(REFIID riid, void** device) {
    return device_.get()->QueryInterface(riid, device);
  }
  virtual HRESULT STDMETHODCALLTYPE UnwrapUnderlyingResource(IUnknown*, ID3D12CommandQueue* queue,
                                                             REFIID riid, void** resource) {
    Look(queue);
    return resource_.get()->QueryInterface(riid, resource);
  }
  virtual HRESULT STDMETHODCALLTYPE ReturnUnderlyingResource(IUnknown*, UINT count, UINT64*,
                                                             ID3D12Fence* const* fences) {
    for (UINT i = 0; i < count; ++i) Look(fences[i]);
    return S_OK;
  }

  void Start(IUnknown* device) { device_ = cairn::ComPtr<IUnknown>(device); }

 private:
  cairn::ComPtr<IUnknown> device_;
  cairn::ComPtr<IUnknown> resource_;
};

#pragma GCC diagnostic pop

}  // namespace

extern "C" HRESULT WINAPI FakeCreateOn12(IUnknown* device, UINT, const D3D_FEATURE_LEVEL*, UINT,
                                         IUnknown* const* queues, UINT count, UINT, IUnknown** made,
                                         void**, D3D_FEATURE_LEVEL*) {
  static Device& only = *new Device;
  Look(device);
  for (UINT i = 0; i < count; ++i) Look(queues[i]);
  only.Start(device);
  *made = &only;
  return S_OK;
}

extern "C" unsigned FakeWrappersSeen() {
  return wrappers_seen;
}
