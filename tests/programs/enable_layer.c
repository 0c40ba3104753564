// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into a Vulkan program, makes it enable Cairn's layer itself, as an engine with a setting for it does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

__attribute__((visibility("default"))) VkResult vkCreateInstance(
    const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator,
    VkInstance* instance) {
  const PFN_vkCreateInstance next = (PFN_vkCreateInstance)dlsym(RTLD_NEXT, "vkCreateInstance");
  if (next == NULL) abort();
  const char* layers[] = {"VK_LAYER_CAIRN_breadcrumbs"};
  VkInstanceCreateInfo more = *info;
  if (more.enabledLayerCount != 0) abort();
  more.enabledLayerCount = 1;
  more.ppEnabledLayerNames = layers;
  return next(&more, allocator, instance);
}
