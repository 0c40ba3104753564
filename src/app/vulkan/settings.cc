// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/settings.h"

#include <cstring>

#include "app/vulkan/layer.h"
#include "app/vulkan/layer_chain.h"

namespace cairn {
namespace {

bool Equal(const char* left, const char* right) {
  return left != nullptr && std::strcmp(left, right) == 0;
}

// The first one counts.
const char* FindSetting(const void* chain, const char* name) {
  for (auto* info = FindInChain<LayerSettingsCreateInfo>(chain, kLayerSettingsCreateInfo);
       info != nullptr;
       info = FindInChain<LayerSettingsCreateInfo>(info->next, kLayerSettingsCreateInfo)) {
    for (uint32_t i = 0; i < info->setting_count; ++i) {
      const LayerSetting& setting = info->settings[i];
      if (setting.type == kSettingIsString && setting.value_count != 0 &&
          Equal(setting.layer_name, kVulkanLayerName) && Equal(setting.setting_name, name)) {
        return static_cast<const char* const*>(setting.values)[0];
      }
    }
  }
  return nullptr;
}

}  // namespace

LayerSettings ReadVulkanSettings(const void* chain, const GetVariable& get,
                                 std::vector<std::string>* complaints) {
  LayerSettings settings = ParseLayerSettings(get, complaints);
  for (const SettingRow& row : kSettingRows) {
    const char* const environment = get(row.variable);
    if (row.vulkan_setting == nullptr || (environment != nullptr && environment[0] != 0)) continue;
    ParseSetting(row, FindSetting(chain, row.vulkan_setting),
                 std::string("the setting ") + row.vulkan_setting + " of " + kVulkanLayerName,
                 &settings, complaints);
  }
  return settings;
}

}  // namespace cairn
