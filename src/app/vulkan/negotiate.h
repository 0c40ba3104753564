// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_VULKAN_NEGOTIATE_H_
#define CAIRN_APP_VULKAN_NEGOTIATE_H_

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan_core.h>

namespace cairn {

// The loader's first question. Version 2 of the interface between loaders and layers, which all loaders
// since 2017 speak; VK_ERROR_INITIALIZATION_FAILED for older ones.
VkResult NegotiateLayer(VkNegotiateLayerInterface* negotiation);

// The same for the layer under its own name, VK_LAYER_CAIRN_breadcrumbs; afterwards IsEnabledByName().
VkResult NegotiateNamedLayer(VkNegotiateLayerInterface* negotiation);
// The loader asks the layers of a chain one after the other, explicit ones before implicit ones.
bool IsEnabledByName();

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_NEGOTIATE_H_
