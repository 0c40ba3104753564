// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_VULKAN_IMPORTER_H_
#define CAIRN_APP_VULKAN_IMPORTER_H_

#include <string>

#include "app/breadcrumbs/vulkan_functions.h"
#include "app/vulkan/device.h"

namespace cairn {

// Fills in what VulkanBuffer needs to import memory into a device whose functions are those of the next layer. Returns "",
// or why it cannot be.
std::string MakeImporter(const DeviceState& device, VulkanDevice* importer);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_IMPORTER_H_
