// SPDX-License-Identifier: Apache-2.0
//
// Effects of a diagnostic feature on a driver beyond its specification. A feature that did harm on
// one driver is enabled only on drivers where it was shown to do none. docs/reference/vulkan-layer.md has the
// measurements.
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_DRIVER_FACTS_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_DRIVER_FACTS_H_

#include <vulkan/vulkan_core.h>

namespace cairn {

// Returns true if devices that enable the feature of VK_EXT_device_fault hide losses: the loss is
// never reported, faulting work counts as finished, including its write at the bottom of the pipe,
// and the next work never finishes.
constexpr bool DeviceFaultHidesLosses(VkDriverId driver) {
  return driver == VK_DRIVER_ID_NVIDIA_PROPRIETARY;
}

// Returns true if the feature is known to have no effect until the driver is asked.
constexpr bool DeviceFaultIsHarmless(VkDriverId driver) {
  return driver == VK_DRIVER_ID_MESA_RADV;
}

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_DRIVER_FACTS_H_
