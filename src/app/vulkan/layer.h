// SPDX-License-Identifier: Apache-2.0
//
// VK_LAYER_CAIRN_breadcrumbs: what the layer knows of instances, and how it finds its state. The layer
// wraps no handle: applications hold what the driver made, and commands and structures that the layer
// does not know pass by it.
//
// Threads: looking up is free of locks. States live from the creation of their object to its
// destruction, during which the application may not use it.
#ifndef CAIRN_APP_VULKAN_LAYER_H_
#define CAIRN_APP_VULKAN_LAYER_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/settings/layer_settings.h"

namespace cairn {

inline constexpr char kVulkanLayerName[] = "VK_LAYER_CAIRN_breadcrumbs";

struct InstanceState {
  VkInstance handle = VK_NULL_HANDLE;
  PFN_vkGetInstanceProcAddr next_get =
      nullptr;  // of the next layer; for others who ask. We ask Next()
  // The next layer's functions of physical devices that the loader does not know. Null for none.
  PFN_vkGetInstanceProcAddr next_get_physical_device = nullptr;

  // The next layer's function; null where the instance has no such function.
  PFN_vkDestroyInstance DestroyInstance = nullptr;
  PFN_vkEnumerateDeviceExtensionProperties EnumerateDeviceExtensionProperties = nullptr;
  PFN_vkGetPhysicalDeviceProperties GetPhysicalDeviceProperties = nullptr;
  PFN_vkGetPhysicalDeviceQueueFamilyProperties GetPhysicalDeviceQueueFamilyProperties = nullptr;
  PFN_vkGetPhysicalDeviceFeatures2 GetPhysicalDeviceFeatures2 = nullptr;            // or ...KHR
  PFN_vkGetPhysicalDeviceProperties2 GetPhysicalDeviceProperties2 = nullptr;        // or ...KHR
  PFN_vkGetPhysicalDeviceToolProperties GetPhysicalDeviceToolProperties = nullptr;  // or ...EXT

  uint32_t api_version = VK_API_VERSION_1_0;  // that the application asked for
  std::vector<std::string> extensions;        // enabled, with those that the layer added
  std::string application;                    // its name and its engine's, for reports
  MarkerMode mode = MarkerMode::kTop;         // as asked for; kOff: the layer only passes calls on
  DeviceFaultUse device_fault = DeviceFaultUse::kAuto;

  bool Enabled(std::string_view extension) const;
  // Keeps what Next() answers. To be called while the instance is made: once it is, the end of the chain answers with
  // functions of its top, which would lead through all layers again, with handles that theirs do not know.
  void KeepNext();
  // Returns the next layer's function; null if it has none, and for functions that instance.cc does
  // not list.
  PFN_vkVoidFunction Next(std::string_view name) const;

 private:
  std::vector<std::pair<std::string_view, PFN_vkVoidFunction>> kept_;
};

// Null for an instance that was made without the layer.
InstanceState* InstanceOf(VkInstance instance);
// Finds the instance by the pointer that the loader writes to the start of an instance and of all
// its physical devices.
InstanceState* InstanceOf(VkPhysicalDevice physical_device);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_LAYER_H_
