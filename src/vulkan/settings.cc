// SPDX-License-Identifier: Apache-2.0
#include "vulkan/settings.h"

#include <cstring>
#include <utility>

#include "settings/layer_settings.h"
#include "vulkan/layer.h"
#include "vulkan/layer_chain.h"

namespace cairn {
namespace {

// VK_EXT_layer_settings, which is younger than some headers that this is built with. Source: the Vulkan
// specification, VkLayerSettingsCreateInfoEXT.
constexpr auto kLayerSettingsCreateInfo = static_cast<VkStructureType>(1000496000);
constexpr int32_t kSettingIsString = 7;
struct LayerSetting {
  const char* layer_name;
  const char* setting_name;
  int32_t type;
  uint32_t value_count;
  const void* values;
};
struct LayerSettingsCreateInfo {
  VkStructureType type;
  const void* next;
  uint32_t setting_count;
  const LayerSetting* settings;
};

bool Equal(const char* left, const char* right) {
  return left != nullptr && std::strcmp(left, right) == 0;
}

// The first one counts.
const char* FindBreadcrumbsSetting(const void* chain) {
  for (auto* info = FindInChain<LayerSettingsCreateInfo>(chain, kLayerSettingsCreateInfo);
       info != nullptr;
       info = FindInChain<LayerSettingsCreateInfo>(info->next, kLayerSettingsCreateInfo)) {
    for (uint32_t i = 0; i < info->setting_count; ++i) {
      const LayerSetting& setting = info->settings[i];
      if (setting.type == kSettingIsString && setting.value_count != 0 &&
          Equal(setting.layer_name, kVulkanLayerName) &&
          Equal(setting.setting_name, "breadcrumbs")) {
        return static_cast<const char* const*>(setting.values)[0];
      }
    }
  }
  return nullptr;
}

}  // namespace

MarkerMode ReadVulkanMode(const void* chain, const char* (*get)(const char* name),
                          std::vector<std::string>* complaints) {
  const char* const environment = get("CAIRN_BREADCRUMBS");
  const char* const word = FindBreadcrumbsSetting(chain);
  if (environment != nullptr && environment[0] != 0)
    return ReadLayerSettings(get, complaints).breadcrumbs;
  const std::pair<const char*, MarkerMode> words[] = {{"off", MarkerMode::kOff},
                                                      {"top", MarkerMode::kTop},
                                                      {"pass", MarkerMode::kPass},
                                                      {"full", MarkerMode::kFull}};
  for (const auto& [name, mode] : words) {
    if (Equal(word, name)) return mode;
  }
  if (word != nullptr) {
    complaints->push_back(std::string("the setting breadcrumbs of ") + kVulkanLayerName + " is '" +
                          word + "', which is none of off, top, pass and full: top is used");
  }
  return MarkerMode::kTop;
}

}  // namespace cairn
