// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/importer.h"

namespace cairn {

std::string MakeImporter(const DeviceState& device, VulkanDevice* importer) {
  const InstanceState& instance = *device.instance;
  const auto get_memory_properties = reinterpret_cast<PFN_vkGetPhysicalDeviceMemoryProperties>(
      instance.Next("vkGetPhysicalDeviceMemoryProperties"));
  if (get_memory_properties == nullptr || instance.GetPhysicalDeviceProperties2 == nullptr) {
    return "the Vulkan instance does not tell what memory can be imported";
  }
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT import = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 properties = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &import, {}};
  instance.GetPhysicalDeviceProperties2(device.physical_device, &properties);
  get_memory_properties(device.physical_device, &importer->memory_properties);
  importer->device = device.handle;
  importer->queue_families = device.queue_families;
  importer->import_alignment = import.minImportedHostPointerAlignment;
  VulkanFunctions& vk = importer->vk;
  vk.AllocateMemory = device.vk.AllocateMemory;
  vk.BindBufferMemory = device.vk.BindBufferMemory;
  vk.CreateBuffer = device.vk.CreateBuffer;
  vk.DestroyBuffer = device.vk.DestroyBuffer;
  vk.FreeMemory = device.vk.FreeMemory;
  vk.GetBufferMemoryRequirements = device.vk.GetBufferMemoryRequirements;
  vk.MapMemory = device.vk.MapMemory;
  vk.GetMemoryHostPointerPropertiesEXT = device.vk.GetMemoryHostPointerPropertiesEXT;
  return "";
}

}  // namespace cairn
