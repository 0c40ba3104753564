// SPDX-License-Identifier: Apache-2.0
//
// A device of this system's own Direct3D 12, for tests that are linked with it (cairn_d3d12_system).
#ifndef CAIRN_D3D12ABI_TESTING_SYSTEM_DEVICE_H_
#define CAIRN_D3D12ABI_TESTING_SYSTEM_DEVICE_H_

#include <gtest/gtest.h>

#include "d3d12abi/com_ptr.h"
#include "d3d12abi/d3d12_api.h"

#if !defined(_WIN32)
// libvkd3d-utils; its header and Microsoft's cannot both be included.
extern "C" HRESULT WINAPI D3D12CreateDeviceVKD3D(IUnknown* adapter, D3D_FEATURE_LEVEL level,
                                                 REFIID iid, void** device, int api_version);
#endif

namespace cairn {

// Null on Windows where there is none, as under the Wine of Debian 12: the test is to be skipped then. Elsewhere that
// is a failure.
inline ComPtr<ID3D12Device> CreateSystemDevice() {
  ComPtr<ID3D12Device> device;
#if defined(_WIN32)
  (void)D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device),
                          device.Receive());
#else
  constexpr int kApiVersion10 = 0;
  EXPECT_EQ(D3D12CreateDeviceVKD3D(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device),
                                   device.Receive(), kApiVersion10),
            S_OK);
#endif
  return device;
}

}  // namespace cairn

#endif  // CAIRN_D3D12ABI_TESTING_SYSTEM_DEVICE_H_
