// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <vulkan/vulkan_core.h>

#include "app/breadcrumbs/d3d12_module.h"
#include "os/library.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

void* FirstMethodOf(ID3D12Device* device) {
  return **reinterpret_cast<void** const*>(device);
}

// Asks libvkd3d for its Vulkan device. Only for its own objects: it trusts the pointer.
void DescribeVulkanDevice(ID3D12Device* device, const std::string& library, D3D12Module* module) {
  using GetPhysicalDevice = VkPhysicalDevice (*)(ID3D12Device*);
  const Library vkd3d = Library::FindLoaded(library);
  const Library vulkan = Library::FindLoaded(LibraryFile("vulkan", 1));
  const auto get_device = vkd3d.Find<GetPhysicalDevice>("vkd3d_get_vk_physical_device");
  const auto get_properties =
      vulkan.Find<PFN_vkGetPhysicalDeviceProperties>("vkGetPhysicalDeviceProperties");
  if (get_device == nullptr || get_properties == nullptr) return;
  const VkPhysicalDevice physical_device = get_device(device);
  if (physical_device == VK_NULL_HANDLE) return;
  VkPhysicalDeviceProperties properties = {};
  get_properties(physical_device, &properties);
  module->device_name = properties.deviceName;
  module->driver_name = fmt::format(
      "libvkd3d on Vulkan {}.{}.{}, driver version 0x{:x}",
      VK_API_VERSION_MAJOR(properties.apiVersion), VK_API_VERSION_MINOR(properties.apiVersion),
      VK_API_VERSION_PATCH(properties.apiVersion), properties.driverVersion);
  module->vendor_id = properties.vendorID;
  module->device_id = properties.deviceID;
}

}  // namespace

D3D12Module IdentifyD3D12Module(ID3D12Device* device) {
  D3D12Module module;
  module.device_name = "Direct3D 12 device";
  const std::string name = LibraryNameOf(FirstMethodOf(device));
  module.driver_name = name;
  if (!name.starts_with("libvkd3d.so")) return module;
  module.device_name = "Direct3D 12 device (libvkd3d)";
  module.driver_name = "libvkd3d";
  DescribeVulkanDevice(device, LibraryPathOf(FirstMethodOf(device)), &module);
  return module;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
