// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_VULKAN_NEGOTIATE_H_
#define CAIRN_APP_VULKAN_NEGOTIATE_H_

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan_core.h>

namespace cairn {

// The loader's first question. Version 2 of the interface between loaders and layers, which all loaders
// since 2017 speak; VK_ERROR_INITIALIZATION_FAILED for older ones.
VkResult NegotiateLayer(VkNegotiateLayerInterface* negotiation);

// The same for the layer under its own name, VK_LAYER_CAIRN_breadcrumbs; IsEnabledByName() until the chain's instance is
// made.
VkResult NegotiateNamedLayer(VkNegotiateLayerInterface* negotiation);
// The loader asks the layers of a chain one after the other, explicit ones before implicit ones unless the user orders
// them otherwise.
bool IsEnabledByName();
// Afterwards it is false: the chain's instance is being made.
void ForgetName();

// The library may stand in a chain under both of its names: the second one, next to the first, would lead back to that.
// Returns the last of them, from the first one's `link` on.
VkLayerInstanceLink* LastOfOurs(VkLayerInstanceLink* link);
VkLayerDeviceLink* LastOfOurs(VkLayerDeviceLink* link);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_NEGOTIATE_H_
