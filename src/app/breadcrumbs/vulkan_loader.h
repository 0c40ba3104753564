// SPDX-License-Identifier: Apache-2.0
//
// The system's Vulkan loader, opened at run time.
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_LOADER_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_LOADER_H_

#include "base/status.h"

namespace cairn {

using VulkanVoidFunction = void (*)();
using VulkanGetInstanceProcAddr = VulkanVoidFunction (*)(void* instance, const char* name);

// vkGetInstanceProcAddr of the system's loader, which stays loaded. kNotFound if there is none.
Result<VulkanGetInstanceProcAddr> LoadVulkanLoader();

// A function that the loader exports by its name: those of physical devices and devices, of whatever
// instance. Null if there is no loader or no such function.
VulkanVoidFunction FindVulkanLoaderFunction(const char* name);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_LOADER_H_
