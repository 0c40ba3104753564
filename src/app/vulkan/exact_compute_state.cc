// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/exact_compute_state.h"

#include <new>

namespace cairn {

void ExactComputeState::Clear() {
  pipeline_ = VK_NULL_HANDLE;
  bound_.clear();
  restorable_ = true;
}

void ExactComputeState::BindSets(VkPipelineLayout layout, uint32_t first,
                                 std::span<const VkDescriptorSet> sets,
                                 std::span<const uint32_t> dynamic_offsets) noexcept {
  const size_t end = first + sets.size();
  std::erase_if(bound_, [first, end](const Bound& before) {
    return before.first >= first && before.first + before.sets.size() <= end;
  });
  try {
    bound_.push_back({layout,
                      first,
                      {sets.begin(), sets.end()},
                      {dynamic_offsets.begin(), dynamic_offsets.end()}});
  } catch (const std::bad_alloc&) {
    GiveUp();
  }
}

void ExactComputeState::Restore(const DeviceFunctions& next, VkCommandBuffer commands) const {
  if (pipeline_ != VK_NULL_HANDLE) {
    next.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
  }
  for (const Bound& bound : bound_) {
    next.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, bound.layout, bound.first,
                               static_cast<uint32_t>(bound.sets.size()), bound.sets.data(),
                               static_cast<uint32_t>(bound.dynamic_offsets.size()),
                               bound.dynamic_offsets.data());
  }
}

}  // namespace cairn
