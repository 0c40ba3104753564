// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/settings.h"

#include <cstring>
#include <utility>

#include "app/settings/layer_settings.h"
#include "app/vulkan/layer.h"
#include "app/vulkan/layer_chain.h"

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

MarkerMode ReadVulkanMode(const void* chain, const char* (*get)(const char* name),
                          std::vector<std::string>* complaints) {
  const char* const environment = get("CAIRN_BREADCRUMBS");
  const char* const word = FindSetting(chain, "breadcrumbs");
  if (environment != nullptr && environment[0] != 0)
    return ReadLayerSettings(get, complaints).breadcrumbs;
  const std::pair<const char*, MarkerMode> words[] = {{"off", MarkerMode::kOff},
                                                      {"top", MarkerMode::kTop},
                                                      {"pass", MarkerMode::kPass},
                                                      {"full", MarkerMode::kFull},
                                                      {"exact", MarkerMode::kExact}};
  for (const auto& [name, mode] : words) {
    if (Equal(word, name)) return mode;
  }
  if (word != nullptr) {
    complaints->push_back(std::string("the setting breadcrumbs of ") + kVulkanLayerName + " is '" +
                          word + "', which is none of off, top, pass, full and exact: top is used");
  }
  return MarkerMode::kTop;
}

DeviceFaultUse ReadDeviceFaultUse(const void* chain, const char* (*get)(const char* name),
                                  std::vector<std::string>* complaints) {
  const char* const environment = get("CAIRN_DEVICE_FAULT");
  const bool by_environment = environment != nullptr && environment[0] != 0;
  const char* const word = by_environment ? environment : FindSetting(chain, "device_fault");
  const std::pair<const char*, DeviceFaultUse> words[] = {
      {"auto", DeviceFaultUse::kAuto}, {"on", DeviceFaultUse::kOn}, {"off", DeviceFaultUse::kOff}};
  for (const auto& [name, use] : words) {
    if (Equal(word, name)) return use;
  }
  if (word != nullptr) {
    const std::string setting =
        by_environment ? "CAIRN_DEVICE_FAULT"
                       : std::string("the setting device_fault of ") + kVulkanLayerName;
    complaints->push_back(setting + " is '" + word +
                          "', which is none of auto, on and off: auto is used");
  }
  return DeviceFaultUse::kAuto;
}

}  // namespace cairn
