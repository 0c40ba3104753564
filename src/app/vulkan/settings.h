// SPDX-License-Identifier: Apache-2.0
//
// The settings of an instance:
//   1. the environment (format/settings/layer_settings.h)
//   2. the application: settings of VK_LAYER_CAIRN_breadcrumbs by VK_EXT_layer_settings, with the same words, where the
//      row of a setting names one
//   3. the default
#ifndef CAIRN_APP_VULKAN_SETTINGS_H_
#define CAIRN_APP_VULKAN_SETTINGS_H_

#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

#include "format/settings/layer_settings.h"

namespace cairn {

// VK_EXT_layer_settings, which is younger than some headers that this is built with. Source: the Vulkan
// specification, VkLayerSettingsCreateInfoEXT.
inline constexpr auto kLayerSettingsCreateInfo = static_cast<VkStructureType>(1000496000);
inline constexpr int32_t kSettingIsString = 7;
struct LayerSetting {
  const char* layer_name;
  const char* setting_name;
  int32_t type;
  uint32_t value_count;
  const void* values;
};
struct LayerSettingsCreateInfo {
  VkStructureType type = kLayerSettingsCreateInfo;
  const void* next = nullptr;
  uint32_t setting_count = 0;
  const LayerSetting* settings = nullptr;
};

// `chain` is that of VkInstanceCreateInfo. `get` and `complaints` are those of ParseLayerSettings.
LayerSettings ReadVulkanSettings(const void* chain, const GetVariable& get,
                                 std::vector<std::string>* complaints);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_SETTINGS_H_
