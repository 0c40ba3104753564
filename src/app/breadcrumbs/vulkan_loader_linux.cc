// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>

#include "app/breadcrumbs/vulkan_loader.h"

namespace cairn {

Result<VulkanGetInstanceProcAddr> LoadVulkanLoader() {
  void* library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Status(StatusCode::kNotFound,
                  fmt::format("no Vulkan loader ({}); install the package libvulkan1", dlerror()));
  }
  void* function = dlsym(library, "vkGetInstanceProcAddr");
  if (function == nullptr) {
    return Status(StatusCode::kNotFound, fmt::format("libvulkan.so.1 is no loader: {}", dlerror()));
  }
  return reinterpret_cast<VulkanGetInstanceProcAddr>(function);
}

VulkanVoidFunction FindVulkanLoaderFunction(const char* name) {
  static void* const library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  return reinterpret_cast<VulkanVoidFunction>(dlsym(library, name));
}

}  // namespace cairn
