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
  // Push descriptors of one set. What they point to is copied, if it is of a kind that is known here.
  void Push(VkPipelineLayout layout, uint32_t set,
            std::span<const VkWriteDescriptorSet> writes) noexcept;
  // Something was bound that cannot be bound again, until Clear.
  void GiveUp() { restorable_ = false; }

  bool restorable() const { return restorable_; }
  // Binds it all again, with the next layer's functions.
  void Restore(const DeviceFunctions& next, VkCommandBuffer commands) const;

 private:
  struct Pushed {
    explicit Pushed(const VkWriteDescriptorSet& from);
    VkWriteDescriptorSet Write() const;
    bool SamePlace(const VkWriteDescriptorSet& other) const;

    VkWriteDescriptorSet write;
    std::vector<VkDescriptorImageInfo> images;
    std::vector<VkDescriptorBufferInfo> buffers;
    std::vector<VkBufferView> views;
  };
  // One call. They are made again in their order, whole, because which of the offsets belongs to which set
  // only the layouts of the sets know.
  struct Bound {
    VkPipelineLayout layout;
    uint32_t first;
    std::vector<VkDescriptorSet> sets;
    std::vector<uint32_t> dynamic_offsets;
    std::vector<Pushed> pushed;  // of vkCmdPushDescriptorSetKHR, which has no sets

    size_t end() const { return first + (pushed.empty() ? sets.size() : 1); }
  };

  VkPipeline pipeline_ = VK_NULL_HANDLE;
  std::vector<Bound> bound_;  // the oldest first; none that later ones replace as a whole
  bool restorable_ = true;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_EXACT_COMPUTE_STATE_H_
