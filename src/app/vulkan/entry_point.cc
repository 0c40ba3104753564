// SPDX-License-Identifier: Apache-2.0
//
// The exported function. It is no object of the static library, whose members are taken only where
// something refers to them: entry.cmake compiles it into libcairn-d3d12.so.
#include "app/vulkan/negotiate.h"

extern "C" __attribute__((visibility("default"))) VkResult cairnNegotiateVulkanLayer(
    VkNegotiateLayerInterface* interface) {
  return cairn::NegotiateLayer(interface);
}
