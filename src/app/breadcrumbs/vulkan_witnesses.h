// SPDX-License-Identifier: Apache-2.0
//
// The measured barriers (format/witness/witnesses.h) in Vulkan's terms.
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_WITNESSES_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_WITNESSES_H_

#include <vulkan/vulkan_core.h>

#include <optional>

#include "app/breadcrumbs/backend.h"
#include "format/witness/witnesses.h"

namespace cairn {

// Returns the key of a device from the properties that its driver reports; nullopt if it reports
// none (`get_properties2` is null, or it has no UUID).
std::optional<WitnessKey> WitnessKeyOf(PFN_vkGetPhysicalDeviceProperties2 get_properties2,
                                       VkPhysicalDevice physical_device);

// kNone for methods that are not measured. The Vulkan layer writes in the same way for Direct3D.
WitnessMethod WitnessMethodOf(WriteMethod method);

// ---- Which kind a barrier is of -------------------------------------------------------------------
// It is of a kind if it demands at least what that kind was measured with. Barriers inside of a render pass are no
// business of these. Cost: BM_WitnessBarrier in vulkan_layer_bench.

// Without what memory it is of.
inline BarrierKind KindOfStages(VkPipelineStageFlags2 source, VkPipelineStageFlags2 destination) {
  constexpr VkPipelineStageFlags2 kAll = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  if ((source & destination & kAll) != 0) return {BarrierStrength::kExecution, kWaitsForAll};
  // These stages wait for no GPU work. The measurement of the first barrier covers this case.
  constexpr VkPipelineStageFlags2 kNoStages =
      VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT | VK_PIPELINE_STAGE_2_HOST_BIT;
  if ((source & ~kNoStages) == 0 || destination == 0) return {};
  constexpr VkPipelineStageFlags2 kOfDraws =
      VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT | VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT | kAll;
  BarrierKind kind = {BarrierStrength::kSome, 0};
  if ((source & (VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | kAll)) != 0) {
    kind.waits_for |= kWaitsForDispatches;
  }
  if ((source & kOfDraws) != 0) kind.waits_for |= kWaitsForDraws;
  if ((source & (VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT | kAll)) != 0) {
    kind.waits_for |= kWaitsForCopies;
  }
  return kind;
}

inline bool IsOfAllMemory(VkAccessFlags2 source, VkAccessFlags2 destination) {
  constexpr VkAccessFlags2 kReadWrite = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
  return (source & VK_ACCESS_2_MEMORY_WRITE_BIT) != 0 && (destination & kReadWrite) == kReadWrite;
}

// The arguments of vkCmdPipelineBarrier, and of vkCmdPipelineBarrier2.
inline BarrierKind KindOfBarrier(VkPipelineStageFlags source, VkPipelineStageFlags destination,
                                 VkDependencyFlags flags, uint32_t memory_count,
                                 const VkMemoryBarrier* memory, uint32_t,
                                 const VkBufferMemoryBarrier*, uint32_t,
                                 const VkImageMemoryBarrier*) {
  if (flags != 0) return {};
  BarrierKind kind = KindOfStages(source, destination);
  if (kind.strength != BarrierStrength::kExecution) return kind;
  for (uint32_t i = 0; i < memory_count; ++i) {
    if (IsOfAllMemory(memory[i].srcAccessMask, memory[i].dstAccessMask)) {
      kind.strength = BarrierStrength::kMemory;
    }
  }
  return kind;
}
BarrierKind KindOfBarrier(const VkDependencyInfo* info);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_WITNESSES_H_
