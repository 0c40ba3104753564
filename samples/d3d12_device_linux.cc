// SPDX-License-Identifier: Apache-2.0
//
// Direct3D 12 on Linux is libvkd3d-utils. Its header and Microsoft's cannot both be included, so that
// the one function needed is declared here.
#include <stdlib.h>

#include <string>

#include "d3d12_device.h"

extern "C" HRESULT WINAPI D3D12CreateDeviceVKD3D(IUnknown* adapter, D3D_FEATURE_LEVEL level,
                                                 REFIID iid, void** device, int api_version);

namespace sample {

ComPtr<ID3D12Device> CreateDevice(uint32_t adapter) {
  constexpr int kApiVersion10 = 0;
  // Cairn's self-test calls stubs on purpose; libvkd3d would print a line for each. Errors still show.
  setenv("VKD3D_DEBUG", "err", /*overwrite=*/0);
  // libvkd3d takes no adapter; it reads the number of a Vulkan device whenever it creates one.
  if (adapter != 0) setenv("VKD3D_VULKAN_DEVICE", std::to_string(adapter).c_str(), 1);
  ComPtr<ID3D12Device> device;
  if (FAILED(D3D12CreateDeviceVKD3D(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device),
                                    device.Receive(), kApiVersion10))) {
    Fail(
        "libvkd3d found no Vulkan device with feature level 11_0; check with `vulkaninfo` that a "
        "Vulkan driver is installed");
  }
  return device;
}

}  // namespace sample
