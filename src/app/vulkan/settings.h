// SPDX-License-Identifier: Apache-2.0
//
// How much the GPU is asked to write for the devices of an instance, and what its driver is asked:
//   1. the environment: CAIRN_BREADCRUMBS (app/settings/layer_settings.h), CAIRN_DEVICE_FAULT
//   2. the application: the settings "breadcrumbs" and "device_fault" of VK_LAYER_CAIRN_breadcrumbs, by
//      VK_EXT_layer_settings, with the same words
//   3. top, auto
#ifndef CAIRN_APP_VULKAN_SETTINGS_H_
#define CAIRN_APP_VULKAN_SETTINGS_H_

#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

#include "app/vulkan/layer.h"
#include "format/block/block.h"

namespace cairn {

// `chain` is that of VkInstanceCreateInfo; `get` answers like getenv. A word that means nothing is
// ignored, and complained about.
MarkerMode ReadVulkanMode(const void* chain, const char* (*get)(const char* name),
                          std::vector<std::string>* complaints);

// Whether VK_EXT_device_fault and VK_KHR_device_fault are enabled for programs that do not ask for them:
// auto (where they were shown to do no harm), on, off. As above.
DeviceFaultUse ReadDeviceFaultUse(const void* chain, const char* (*get)(const char* name),
                                  std::vector<std::string>* complaints);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_SETTINGS_H_
