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

// `chain` is that of VkInstanceCreateInfo. `get` and `complaints` are those of ParseLayerSettings.
LayerSettings ReadVulkanSettings(const void* chain, const GetVariable& get,
                                 std::vector<std::string>* complaints);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_SETTINGS_H_
