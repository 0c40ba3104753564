// SPDX-License-Identifier: Apache-2.0
#include "cli/vulkan_layer_check.h"

namespace cairn::cli {

void MakeVulkanLayerKnown() {}

VulkanLayerCheck CheckVulkanLayer() {
  return {.reason = "there is no such layer on this system yet"};
}

}  // namespace cairn::cli
