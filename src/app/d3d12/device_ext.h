// SPDX-License-Identifier: Apache-2.0
//
// ID3D12DeviceExt and ID3D12DXVKInteropDevice, by which programs that know vkd3d-proton reach the Vulkan below.
#ifndef CAIRN_APP_D3D12_DEVICE_EXT_H_
#define CAIRN_APP_D3D12_DEVICE_EXT_H_

#include "app/d3d12/graphics_command_list.h"
#include "d3d12gen/thin/ID3D12DXVKInteropDevice.h"
#include "d3d12gen/thin/ID3D12DeviceExt.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class WrappedID3D12DeviceExt final : public ThinID3D12DeviceExt {
 public:
  WrappedID3D12DeviceExt(void* real, Wrapper& owner) : ThinID3D12DeviceExt(real, &owner) {}

  // The contents were made elsewhere, like images of a window system: captures treat it as one.
  HRESULT STDMETHODCALLTYPE CreateResourceFromBorrowedHandle(const D3D12_RESOURCE_DESC1* desc,
                                                             UINT64 handle,
                                                             ID3D12Resource** resource) override {
    CallScope call(*this, Method::ID3D12DeviceExt1_CreateResourceFromBorrowedHandle, desc, handle,
                   resource);
    const HRESULT result = CreateTyped<ID3D12Resource>(
        *this, resource,
        [&](ID3D12Resource** made) {
          return real()->CreateResourceFromBorrowedHandle(desc, handle, made);
        },
        {.is_image = true});
    return call.Returns(result, desc, handle, resource);
  }
};

// Programs record by it into the Vulkan command buffers of vkd3d-proton.
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

#endif  // CAIRN_APP_D3D12_DEVICE_EXT_H_
