// SPDX-License-Identifier: Apache-2.0
//
// Pipelines of devices with breadcrumbs.
#ifndef CAIRN_VULKAN_PIPELINES_H_
#define CAIRN_VULKAN_PIPELINES_H_

#include <vulkan/vulkan_core.h>

#include "cairn/breadcrumbs.h"

#include "vulkan/device.h"

namespace cairn {

// The pipeline's number in the device's Context, which it is registered with when it is first bound; 0
// where it is not known or there is no room. Without a lock once it is registered.
CairnPipeline PipelineNumberFor(DeviceState& device, VkPipeline pipeline);

}  // namespace cairn

#endif  // CAIRN_VULKAN_PIPELINES_H_
