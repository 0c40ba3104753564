// SPDX-License-Identifier: Apache-2.0
//
// Describes the layer: its properties, its extensions, and that it is a tool.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <span>

#include "app/vulkan/instance.h"
#include "app/vulkan/intercept.h"

namespace cairn {
namespace {

constexpr char kDescription[] = "Finds the command that killed the GPU";

template <size_t kSize>
void CopyText(char (&to)[kSize], const char* text) {
  std::snprintf(to, kSize, "%s", text);
}

// The idiom of all functions that fill arrays: how many there are without an array, else as many as fit.
template <typename T>
VkResult Fill(std::span<const T> all, uint32_t* count, T* properties) {
  const auto total = static_cast<uint32_t>(all.size());
  if (properties == nullptr) {
    *count = total;
    return VK_SUCCESS;
  }
  const uint32_t copied = std::min(*count, total);
  std::copy_n(all.begin(), copied, properties);
  *count = copied;
  return copied < total ? VK_INCOMPLETE : VK_SUCCESS;
}

bool IsOurs(const char* layer_name) {
  return layer_name != nullptr && std::strcmp(layer_name, kVulkanLayerName) == 0;
}

VkLayerProperties LayerProperties() {
  VkLayerProperties properties = {};
  CopyText(properties.layerName, kVulkanLayerName);
  CopyText(properties.description, kDescription);
  properties.specVersion = VK_HEADER_VERSION_COMPLETE;
  properties.implementationVersion = 1;
  return properties;
}

VKAPI_ATTR VkResult VKAPI_CALL EnumerateInstanceLayerProperties(uint32_t* pPropertyCount,
                                                                VkLayerProperties* pProperties) {
  const VkLayerProperties ours = LayerProperties();
  return Fill(std::span<const VkLayerProperties>(&ours, 1), pPropertyCount, pProperties);
}

VKAPI_ATTR VkResult VKAPI_CALL EnumerateDeviceLayerProperties(VkPhysicalDevice,
                                                              uint32_t* pPropertyCount,
                                                              VkLayerProperties* pProperties) {
  return EnumerateInstanceLayerProperties(pPropertyCount, pProperties);
}

VKAPI_ATTR VkResult VKAPI_CALL EnumerateInstanceExtensionProperties(
    const char* pLayerName, uint32_t* pPropertyCount, VkExtensionProperties* pProperties) {
  if (!IsOurs(pLayerName)) return VK_ERROR_LAYER_NOT_PRESENT;
  VkExtensionProperties ours = {};
  CopyText(ours.extensionName, "VK_EXT_layer_settings");
  ours.specVersion = 2;
  return Fill(std::span<const VkExtensionProperties>(&ours, 1), pPropertyCount, pProperties);
}

VKAPI_ATTR VkResult VKAPI_CALL
EnumerateDeviceExtensionProperties(VkPhysicalDevice physicalDevice, const char* pLayerName,
                                   uint32_t* pPropertyCount, VkExtensionProperties* pProperties) {
  if (IsOurs(pLayerName)) {
    VkExtensionProperties ours = {};
    CopyText(ours.extensionName, VK_EXT_TOOLING_INFO_EXTENSION_NAME);
    ours.specVersion = VK_EXT_TOOLING_INFO_SPEC_VERSION;
    return Fill(std::span<const VkExtensionProperties>(&ours, 1), pPropertyCount, pProperties);
  }
  const InstanceState* const instance = InstanceOf(physicalDevice);
  if (instance == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
  return instance->EnumerateDeviceExtensionProperties(physicalDevice, pLayerName, pPropertyCount,
                                                      pProperties);
}

void DescribeTool(VkPhysicalDeviceToolProperties* tool) {
  CopyText(tool->name, "Cairn");
  CopyText(tool->version, CAIRN_VERSION);
  tool->purposes = VK_TOOL_PURPOSE_TRACING_BIT | VK_TOOL_PURPOSE_ADDITIONAL_FEATURES_BIT;
  CopyText(tool->description, kDescription);
  CopyText(tool->layer, kVulkanLayerName);
}

VKAPI_ATTR VkResult VKAPI_CALL
GetPhysicalDeviceToolProperties(VkPhysicalDevice physicalDevice, uint32_t* pToolCount,
                                VkPhysicalDeviceToolProperties* pToolProperties) {
  const InstanceState* const instance = InstanceOf(physicalDevice);
  if (instance == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
  const auto next = instance->GetPhysicalDeviceToolProperties;
  if (pToolProperties == nullptr) {
    const VkResult result = next(physicalDevice, pToolCount, nullptr);
    ++*pToolCount;
    return result;
  }
  if (*pToolCount == 0) return VK_INCOMPLETE;
  DescribeTool(&pToolProperties[0]);
  uint32_t rest = *pToolCount - 1;
  const VkResult result = next(physicalDevice, &rest, pToolProperties + 1);
  *pToolCount = rest + 1;
  return result;
}

}  // namespace

PFN_vkVoidFunction FindDescription(std::string_view name) {
  static const std::array intercepts = {
      InterceptOf<PFN_vkEnumerateInstanceLayerProperties>("vkEnumerateInstanceLayerProperties",
                                                          EnumerateInstanceLayerProperties),
      InterceptOf<PFN_vkEnumerateInstanceExtensionProperties>(
          "vkEnumerateInstanceExtensionProperties", EnumerateInstanceExtensionProperties),
      InterceptOf<PFN_vkEnumerateDeviceLayerProperties>("vkEnumerateDeviceLayerProperties",
                                                        EnumerateDeviceLayerProperties),
      InterceptOf<PFN_vkEnumerateDeviceExtensionProperties>("vkEnumerateDeviceExtensionProperties",
                                                            EnumerateDeviceExtensionProperties),
      InterceptOf<PFN_vkGetPhysicalDeviceToolProperties>("vkGetPhysicalDeviceToolProperties",
                                                         GetPhysicalDeviceToolProperties),
      InterceptOf<PFN_vkGetPhysicalDeviceToolPropertiesEXT>("vkGetPhysicalDeviceToolPropertiesEXT",
                                                            GetPhysicalDeviceToolProperties),
  };
  for (const Intercept& intercept : intercepts) {
    if (name == intercept.name) return intercept.function;
  }
  return nullptr;
}

}  // namespace cairn
