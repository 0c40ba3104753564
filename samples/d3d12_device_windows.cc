// SPDX-License-Identifier: Apache-2.0
//
// Direct3D 12 on Windows is d3d12.dll, which these programs import.
#include "d3d12_device.h"

namespace sample {

ComPtr<ID3D12Device> CreateDevice() {
  ComPtr<ID3D12Device> device;
  if (FAILED(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device),
                               device.Receive()))) {
    Fail("d3d12.dll found no adapter with feature level 11_0");
  }
  return device;
}

}  // namespace sample
