// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <vulkan/vulkan_core.h>

#include <filesystem>
#include <optional>

#include "d3d12abi/vulkan_below.h"
#include "os/library.h"
#include "reader/replay/device.h"

namespace cairn {
namespace {

// The file that holds this code, links followed; "" if it is not known.
std::string FileOf(const void* code) {
  const std::string loaded = LibraryPathOf(code);
  if (loaded.empty()) return "";
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(loaded, error);
  return error ? loaded : path.string();
}

void AskVulkan(VkPhysicalDevice device, const Library& vulkan, DeviceFacts* facts) {
  const auto properties_of =
      vulkan.Find<PFN_vkGetPhysicalDeviceProperties>("vkGetPhysicalDeviceProperties");
  if (properties_of == nullptr) return;
  VkPhysicalDeviceProperties properties = {};
  properties_of(device, &properties);
  facts->name = fmt::format("{}, {:04x}:{:04x}", static_cast<const char*>(properties.deviceName),
                            properties.vendorID, properties.deviceID);
  facts->driver = fmt::format("version {:#x}", properties.driverVersion);
  const auto more_of =
      vulkan.Find<PFN_vkGetPhysicalDeviceProperties2>("vkGetPhysicalDeviceProperties2");
  if (more_of == nullptr || properties.apiVersion < VK_API_VERSION_1_2) return;
  // Zeros where the driver does not know it.
  VkPhysicalDeviceDriverProperties driver = {};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  VkPhysicalDeviceProperties2 both = {};
  both.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  both.pNext = &driver;
  more_of(device, &both);
  if (driver.driverName[0] == '\0') return;
  facts->driver =
      fmt::format("{} {}, version {:#x}", static_cast<const char*>(driver.driverName),
                  static_cast<const char*>(driver.driverInfo), properties.driverVersion);
}

}  // namespace

DeviceFacts DescribeDevice(const D3D12Library& library, void* device, uint64_t) {
  DeviceFacts facts;
  const std::string file = FileOf(library.create_device);
  facts.library = std::filesystem::path(file).filename();
  facts.library_paths = file;
  const void* const method = **static_cast<void***>(device);
  const std::string implementation = FileOf(method);
  if (!implementation.empty() && implementation != file) {
    facts.library_paths += (file.empty() ? "" : ", ") + implementation;
  }
  if (const std::optional<VulkanBelow> below = FindVulkanBelow(device)) {
    AskVulkan(below->device, Library::FindLoaded(LibraryFile("vulkan", 1)), &facts);
  }
  return facts;
}

}  // namespace cairn
