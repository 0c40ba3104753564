// SPDX-License-Identifier: Apache-2.0
//
// many_devices NUMBER: so many Vulkan devices at once.
#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1;
  const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                         .apiVersion = VK_API_VERSION_1_1};
  const VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                              .pApplicationInfo = &application};
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  uint32_t one = 1;
  if (vkCreateInstance(&instance_info, NULL, &instance) != VK_SUCCESS ||
      vkEnumeratePhysicalDevices(instance, &one, &physical) < 0 || one == 0) {
    return 70;
  }
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                         .queueCount = 1,
                                         .pQueuePriorities = &priority};
  const VkDeviceCreateInfo device_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                          .queueCreateInfoCount = 1,
                                          .pQueueCreateInfos = &queue};
  int made = 0;
  while (made < count) {
    VkDevice device = VK_NULL_HANDLE;
    if (vkCreateDevice(physical, &device_info, NULL, &device) != VK_SUCCESS) break;
    ++made;
  }
  printf("%d devices\n", made);
  return made == count ? 0 : 70;
}
