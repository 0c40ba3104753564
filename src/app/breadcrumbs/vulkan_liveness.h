// SPDX-License-Identifier: Apache-2.0
//
// Checks that the Vulkan devices of this machine do their work. Loads the Vulkan loader itself;
// includes no Vulkan header.
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_LIVENESS_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_LIVENESS_H_

#include <cstdint>

#include "base/status.h"

namespace cairn {

enum class LivenessWork : uint8_t { kDispatches, kDispatchesAndDraws };

// Lets each device run a dispatch and, if requested, a draw, as far as it takes them, and waits for
// them without a limit: for a process of its own. Returns the number of devices that finished.
// Errors: kNotFound: no loader, or no device; kDeviceLost: one was lost, and may keep this process
// from ever ending by itself.
Result<uint32_t> TryVulkanDevices(LivenessWork work);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_LIVENESS_H_
