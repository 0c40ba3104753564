// SPDX-License-Identifier: Apache-2.0
//
// What was measured of barriers (format/witness/witnesses.h), in Vulkan's terms.
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_WITNESSES_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_WITNESSES_H_

#include <vulkan/vulkan_core.h>

#include <optional>

#include "app/breadcrumbs/backend.h"
#include "format/witness/witnesses.h"

namespace cairn {

// Of a device as its driver tells it to whoever asks; empty where it does not (`get_properties2` is null, or it
// has no UUID).
std::optional<WitnessKey> WitnessKeyOf(PFN_vkGetPhysicalDeviceProperties2 get_properties2,
                                       VkPhysicalDevice physical_device);

// kNone for methods that are not measured. The Vulkan layer writes in the same way for Direct3D.
WitnessMethod WitnessMethodOf(WriteMethod method);

// The arguments of vkCmdPipelineBarrier, and of vkCmdPipelineBarrier2. Barriers inside of a render pass are no
// business of these. A barrier is of a kind if it demands at least what that kind was measured with.
BarrierKind KindOfBarrier(VkPipelineStageFlags source, VkPipelineStageFlags destination,
                          VkDependencyFlags flags, uint32_t memory_count,
                          const VkMemoryBarrier* memory, uint32_t, const VkBufferMemoryBarrier*,
                          uint32_t, const VkImageMemoryBarrier*);
BarrierKind KindOfBarrier(const VkDependencyInfo* info);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_WITNESSES_H_
