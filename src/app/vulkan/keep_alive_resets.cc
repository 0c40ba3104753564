// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/keep_alive_resets.h"

#include <algorithm>
#include <utility>

#include "app/vulkan/experiment_counts.h"
#include "app/vulkan/intercept.h"

namespace cairn {

RunningCommands::~RunningCommands() {
  DropEnded();
}

void RunningCommands::Allocated(VkCommandPool pool, std::span<const VkCommandBuffer> buffers) {
  const std::lock_guard lock(mutex_);
  for (const VkCommandBuffer buffer : buffers) pools_.insert_or_assign(buffer, pool);
}

void RunningCommands::Forget(VkCommandPool pool) {
  const std::lock_guard lock(mutex_);
  std::erase_if(pools_, [pool](const auto& known) { return known.second == pool; });
}

void RunningCommands::DropEnded() {
  std::erase_if(running_, [this](const Submission& one) {
    // A lost device has no commands that run.
    if (next_.GetFenceStatus(device_, one.fence) == VK_NOT_READY) return false;
    next_.DestroyFence(device_, one.fence, nullptr);
    return true;
  });
}

void RunningCommands::Submitted(VkQueue queue, std::vector<VkCommandBuffer> buffers) noexcept {
  if (buffers.empty()) return;
  const VkFenceCreateInfo info = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VkFence fence = VK_NULL_HANDLE;
  if (next_.CreateFence(device_, &info, nullptr, &fence) != VK_SUCCESS) {
    CountNotChanged();
    return;
  }
  // It comes when everything before it on the queue has ended.
  bool noted = next_.QueueSubmit(queue, 0, nullptr, fence) == VK_SUCCESS;
  if (noted) {
    noted = false;
    Quietly([&] {
      const std::lock_guard lock(mutex_);
      DropEnded();
      running_.push_back({fence, std::move(buffers)});
      noted = true;
    });
    // The queue has it.
    if (!noted) CountNotChanged();
    return;
  }
  next_.DestroyFence(device_, fence, nullptr);
  CountNotChanged();
}

template <typename IsMeant>
void RunningCommands::WaitForAny(const IsMeant& is_meant) {
  const std::lock_guard lock(mutex_);
  DropEnded();
  for (const Submission& one : running_) {
    if (std::none_of(one.buffers.begin(), one.buffers.end(), is_meant)) continue;
    const VkResult result = next_.WaitForFences(device_, 1, &one.fence, VK_TRUE, kMostWaitNs);
    if (result == VK_SUCCESS) CountChange();
    if (result == VK_TIMEOUT) CountNotChanged();
  }
}

void RunningCommands::WaitFor(VkCommandBuffer buffer) noexcept {
  Quietly([&] { WaitForAny([buffer](VkCommandBuffer one) { return one == buffer; }); });
}

void RunningCommands::WaitFor(VkCommandPool pool) noexcept {
  Quietly([&] {
    WaitForAny([this, pool](VkCommandBuffer one) {
      const auto found = pools_.find(one);
      return found != pools_.end() && found->second == pool;
    });
  });
}

void ReplacedPools::Note(VkDescriptorPool pool, const VkDescriptorPoolCreateInfo& info) {
  if (info.pNext != nullptr) return;
  Pool known;
  known.info = info;
  known.sizes.assign(info.pPoolSizes, info.pPoolSizes + info.poolSizeCount);
  known.current = pool;
  const std::lock_guard lock(mutex_);
  pools_.insert_or_assign(pool, std::move(known));
}

VkDescriptorPool ReplacedPools::Current(VkDescriptorPool pool) {
  const std::lock_guard lock(mutex_);
  const auto found = pools_.find(pool);
  return found == pools_.end() ? pool : found->second.current;
}

void ReplacedPools::Forget(VkDescriptorPool pool) {
  const std::lock_guard lock(mutex_);
  pools_.erase(pool);
}

}  // namespace cairn
