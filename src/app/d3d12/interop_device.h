// SPDX-License-Identifier: Apache-2.0
//
// ID3D12DXVKInteropDevice, by which programs record into the Vulkan command buffers of vkd3d-proton.
#ifndef CAIRN_APP_D3D12_INTEROP_DEVICE_H_
#define CAIRN_APP_D3D12_INTEROP_DEVICE_H_

#include "app/d3d12/graphics_command_list.h"
#include "d3d12gen/thin/ID3D12DXVKInteropDevice.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class WrappedID3D12DXVKInteropDevice final : public ThinID3D12DXVKInteropDevice {
 public:
  WrappedID3D12DXVKInteropDevice(void* real, Wrapper& owner)
      : ThinID3D12DXVKInteropDevice(real, &owner) {}

  HRESULT STDMETHODCALLTYPE BeginVkCommandBufferInterop(ID3D12CommandList* list,
                                                        HANDLE* command_buffer) override {
    const HRESULT result =
        ThinID3D12DXVKInteropDevice::BeginVkCommandBufferInterop(list, command_buffer);
    if (SUCCEEDED(result)) SetVulkanTaken(list, true);
    return result;
  }
  HRESULT STDMETHODCALLTYPE EndVkCommandBufferInterop(ID3D12CommandList* list) override {
    const HRESULT result = ThinID3D12DXVKInteropDevice::EndVkCommandBufferInterop(list);
    SetVulkanTaken(list, false);
    return result;
  }

 private:
  static void SetVulkanTaken(ID3D12CommandList* list, bool taken) {
    Wrapper* const wrapper = AsWrapper(list);
    if (wrapper == nullptr || wrapper->chain() != Chain::kID3D12GraphicsCommandList) return;
    static_cast<WrappedID3D12GraphicsCommandList*>(wrapper)->SetVulkanTaken(taken);
  }
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_INTEROP_DEVICE_H_
