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

// How often the function above was called.
extern "C" unsigned FakeCalls() {
  return calls;
}
