// SPDX-License-Identifier: Apache-2.0
//
// Mode exact: what a command buffer has bound for compute, and its push constants, so that all of it can be set
// again behind the canary.
#ifndef CAIRN_APP_VULKAN_EXACT_COMPUTE_STATE_H_
#define CAIRN_APP_VULKAN_EXACT_COMPUTE_STATE_H_

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vulkangen/device_functions.h"

namespace cairn {

// Threads: like the command buffer.
class ExactComputeState {
 public:
  // Forgets all bindings: at the start of a recording, and behind secondaries.
  void Clear();
  void BindPipeline(VkPipeline pipeline) { pipeline_ = pipeline; }
  void BindSets(VkPipelineLayout layout, uint32_t first, std::span<const VkDescriptorSet> sets,
                std::span<const uint32_t> dynamic_offsets) noexcept;
  // Records push descriptors of one set. Copies the data that they point to, if their type is known
  // here.
  void Push(VkPipelineLayout layout, uint32_t set,
            std::span<const VkWriteDescriptorSet> writes) noexcept;
  // Records push constants of any stage: stages share one memory.
  void PushConstants(VkPipelineLayout layout, VkShaderStageFlags stages, uint32_t offset,
                     std::span<const std::byte> values) noexcept;
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
  // One call. Calls are repeated in their order, as a whole, because only the layouts of the sets
  // assign offsets to sets.
  struct Bound {
    VkPipelineLayout layout;
    uint32_t first;
    std::vector<VkDescriptorSet> sets;
    std::vector<uint32_t> dynamic_offsets;
    std::vector<Pushed> pushed;  // of vkCmdPushDescriptorSetKHR, which has no sets

    size_t end() const { return first + (pushed.empty() ? sets.size() : 1); }
  };

  struct Constants {
    VkPipelineLayout layout;
    VkShaderStageFlags stages;
    uint32_t offset;
    std::vector<std::byte> values;
  };

  VkPipeline pipeline_ = VK_NULL_HANDLE;
  std::vector<Bound> bound_;          // the oldest first; none that later ones replace as a whole
  std::vector<Constants> constants_;  // likewise
  bool restorable_ = true;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_EXACT_COMPUTE_STATE_H_
