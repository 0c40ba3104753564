// SPDX-License-Identifier: Apache-2.0
//
// Finds the Vulkan device below a device of Direct3D 12. Linux only.
#ifndef CAIRN_D3D12ABI_VULKAN_BELOW_H_
#define CAIRN_D3D12ABI_VULKAN_BELOW_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cairn {

struct VulkanBelow {
  VkInstance instance = VK_NULL_HANDLE;  // null where a release of libvkd3d does not tell it
  VkPhysicalDevice device = VK_NULL_HANDLE;
  std::string implementation;  // "libvkd3d" or "vkd3d-proton"
};

// `device`: an ID3D12Device of any implementation, known by the library of its code: libvkd3d is asked by its
// functions, a native vkd3d-proton by ID3D12DXVKInteropDevice. Others, and wrappers, have none. The handles are those of
// libvulkan.so.1, and live as long as the device.
std::optional<VulkanBelow> FindVulkanBelow(void* device);

// Returns the physical devices of an instance of libvulkan.so.1, in its order. Empty: it does not tell.
std::vector<VkPhysicalDevice> PhysicalDevicesOf(VkInstance instance);

}  // namespace cairn

#endif  // CAIRN_D3D12ABI_VULKAN_BELOW_H_
