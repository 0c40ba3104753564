// SPDX-License-Identifier: Apache-2.0
//
// Creation and destruction of instances, and what the layer says about itself.
#ifndef CAIRN_APP_VULKAN_INSTANCE_H_
#define CAIRN_APP_VULKAN_INSTANCE_H_

#include <vulkan/vulkan_core.h>

#include <string_view>

#include "app/vulkan/layer.h"

namespace cairn {

// For the look-ups of layer.h. False without memory.
bool RememberInstance(InstanceState& state);
void ForgetInstance(const InstanceState& state);

// From now on instances are made as with breadcrumbs off where the process has no watcher.
void WorkOnlyWithWatcher();
void WorkAlsoWithoutWatcher();

// Intercepts; the functions that the loader asks for before there is an instance among them.
VKAPI_ATTR VkResult VKAPI_CALL CreateInstance(const VkInstanceCreateInfo* pCreateInfo,
                                              const VkAllocationCallbacks* pAllocator,
                                              VkInstance* pInstance);
VKAPI_ATTR void VKAPI_CALL DestroyInstance(VkInstance instance,
                                           const VkAllocationCallbacks* pAllocator);

// The layer's properties and extensions, and tools: vkEnumerate...Properties and
// vkGetPhysicalDeviceToolProperties. Null for other names.
PFN_vkVoidFunction FindDescription(std::string_view name);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_INSTANCE_H_
