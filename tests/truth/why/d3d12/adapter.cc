// SPDX-License-Identifier: Apache-2.0
#include "truth/why/d3d12/adapter.h"

#include <vulkan/vulkan.h>

#include <algorithm>
#include <vector>

#include "truth/why/command_line.h"

namespace cairn::truth::why::d3d12 {

bool AdapterIsCpu() {
  VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  VkInstance instance = VK_NULL_HANDLE;
  if (vkCreateInstance(&info, nullptr, &instance) != VK_SUCCESS) End(2, "Vulkan has no instance");
  uint32_t count = 0;
  vkEnumeratePhysicalDevices(instance, &count, nullptr);
  std::vector<VkPhysicalDevice> devices(count);
  vkEnumeratePhysicalDevices(instance, &count, devices.data());
  const bool is_cpu = std::none_of(devices.begin(), devices.end(), [](VkPhysicalDevice device) {
    VkPhysicalDeviceProperties properties = {};
    vkGetPhysicalDeviceProperties(device, &properties);
    return properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
  });
  vkDestroyInstance(instance, nullptr);
  return is_cpu;
}

}  // namespace cairn::truth::why::d3d12
