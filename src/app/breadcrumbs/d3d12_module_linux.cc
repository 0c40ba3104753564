// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/breadcrumbs/d3d12_module.h"
#include "d3d12abi/vulkan_below.h"
#include "os/library.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

void DescribeVulkanDevice(const VulkanBelow& below, D3D12Module* module) {
  const Library vulkan = Library::FindLoaded(LibraryFile("vulkan", 1));
  const auto get_properties =
      vulkan.Find<PFN_vkGetPhysicalDeviceProperties>("vkGetPhysicalDeviceProperties");
  if (get_properties == nullptr) return;
  VkPhysicalDeviceProperties properties = {};
  get_properties(below.device, &properties);
  module->device_name = properties.deviceName;
  module->driver_name = fmt::format(
      "{} on Vulkan {}.{}.{}, driver version 0x{:x}", below.implementation,
      VK_API_VERSION_MAJOR(properties.apiVersion), VK_API_VERSION_MINOR(properties.apiVersion),
      VK_API_VERSION_PATCH(properties.apiVersion), properties.driverVersion);
  module->vendor_id = properties.vendorID;
  module->device_id = properties.deviceID;
}

}  // namespace

D3D12Module IdentifyD3D12Module(ID3D12Device* device) {
  D3D12Module module;
  module.device_name = "Direct3D 12 device";
  module.driver_name = LibraryNameOf(**reinterpret_cast<void** const*>(device));
  if (module.driver_name.starts_with("libvkd3d.so")) {
    module.device_name = "Direct3D 12 device (libvkd3d)";
    module.driver_name = "libvkd3d";
  }
  if (const std::optional<VulkanBelow> below = FindVulkanBelow(device)) {
    DescribeVulkanDevice(*below, &module);
  }
  return module;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
