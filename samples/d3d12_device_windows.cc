// SPDX-License-Identifier: Apache-2.0
//
// Direct3D 12 on Windows is d3d12.dll, which these programs import.
#include <dxgi.h>

#include "d3d12_device.h"

namespace sample {

ComPtr<ID3D12Device> CreateDevice(uint32_t adapter) {
  ComPtr<IDXGIFactory1> factory;
  ComPtr<IDXGIAdapter1> other;
  if (adapter != 0) {
    Check(CreateDXGIFactory1(__uuidof(IDXGIFactory1), factory.Receive()), "CreateDXGIFactory1");
    Check(factory->EnumAdapters1(adapter, reinterpret_cast<IDXGIAdapter1**>(other.Receive())),
          "IDXGIFactory1::EnumAdapters1");
  }
  ComPtr<ID3D12Device> device;
  if (FAILED(D3D12CreateDevice(other.get(), D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device),
                               device.Receive()))) {
    Fail("d3d12.dll has no such adapter with feature level 11_0");
  }
  return device;
}

}  // namespace sample
