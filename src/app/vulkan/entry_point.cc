// SPDX-License-Identifier: Apache-2.0
//
// The exported function. It is no object of the static library, whose members are taken only where
// something refers to them: ../entry compiles it into libcairn-d3d12.so and cairn-d3d.dll.
#include "app/vulkan/negotiate.h"

extern "C" __attribute__((visibility("default"))) VkResult cairnNegotiateVulkanLayer(
    VkNegotiateLayerInterface* negotiation) {
  return cairn::NegotiateNamedLayer(negotiation);
}
