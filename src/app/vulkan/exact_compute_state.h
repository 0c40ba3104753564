// SPDX-License-Identifier: Apache-2.0
//
// Mode exact: what a command buffer has bound for compute, so that it can be bound again behind the canary.
// Push constants need not be: docs/exact.md.
#ifndef CAIRN_APP_VULKAN_EXACT_COMPUTE_STATE_H_
#define CAIRN_APP_VULKAN_EXACT_COMPUTE_STATE_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <span>
#include <vector>

#include "vulkangen/device_functions.h"

namespace cairn {

// Threads: like the command buffer.
class ExactComputeState {
 public:
  // Nothing is bound: the start of a recording, and behind secondaries.
  void Clear();
  void BindPipeline(VkPipeline pipeline) { pipeline_ = pipeline; }
  void BindSets(VkPipelineLayout layout, uint32_t first, std::span<const VkDescriptorSet> sets,
                std::span<const uint32_t> dynamic_offsets) noexcept;
  // Something was bound that cannot be bound again, until Clear.
  void GiveUp() { restorable_ = false; }

  bool restorable() const { return restorable_; }
  // Binds it all again, with the next layer's functions.
  void Restore(const DeviceFunctions& next, VkCommandBuffer commands) const;

 private:
  // One call of vkCmdBindDescriptorSets. They are made again in their order, whole, because which of the
  // offsets belongs to which set only the layouts of the sets know.
  struct Bound {
    VkPipelineLayout layout;
    uint32_t first;
    std::vector<VkDescriptorSet> sets;
    std::vector<uint32_t> dynamic_offsets;
  };

  VkPipeline pipeline_ = VK_NULL_HANDLE;
  std::vector<Bound> bound_;  // the oldest first; none whose sets were all bound again later
  bool restorable_ = true;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_EXACT_COMPUTE_STATE_H_
