// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/keep_alive_resets.h"

#include <algorithm>
#include <utility>

#include "app/vulkan/experiment_counts.h"
#include "app/vulkan/handle_map.h"
#include "app/vulkan/intercept.h"

namespace cairn {
namespace {

// The command buffers of all devices that are kept.
constinit HandleMap<VkCommandBuffer, RunningCommands> running_commands;

}  // namespace

RunningCommands::~RunningCommands() {
  for (const auto& [buffer, pool] : pools_) running_commands.Erase(buffer);
  DropEnded();
}

RunningCommands* RunningCommands::Of(VkCommandBuffer buffer) {
  return running_commands.Find(buffer);
}

bool RunningCommands::Allocated(VkCommandPool pool,
                                std::span<const VkCommandBuffer> buffers) noexcept {
  bool all_known = false;
  Quietly([&] {
    const std::lock_guard lock(mutex_);
    for (const VkCommandBuffer buffer : buffers) pools_.insert_or_assign(buffer, pool);
    all_known = std::ranges::all_of(
        buffers, [this](VkCommandBuffer buffer) { return running_commands.Set(buffer, this); });
  });
  if (!all_known) Freed(buffers);
  return all_known;
}

void RunningCommands::Freed(std::span<const VkCommandBuffer> buffers) {
  const std::lock_guard lock(mutex_);
  for (const VkCommandBuffer buffer : buffers) {
    running_commands.Erase(buffer);
    pools_.erase(buffer);
  }
}

void RunningCommands::Forget(VkCommandPool pool) {
  const std::lock_guard lock(mutex_);
  std::erase_if(pools_, [pool](const auto& known) {
    if (known.second != pool) return false;
    running_commands.Erase(known.first);
    return true;
  });
}

void RunningCommands::DropEnded() {
  std::erase_if(running_, [this](const Submission& one) {
    if (one.waits != 0) return false;
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
      running_.push_back({.fence = fence, .buffers = std::move(buffers)});
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
  std::vector<Submission*> meant;
  std::vector<VkFence> fences;
  {
    const std::lock_guard lock(mutex_);
    DropEnded();
    for (Submission& one : running_) {
      if (std::ranges::none_of(one.buffers, is_meant)) continue;
      meant.push_back(&one);
      fences.push_back(one.fence);
    }
    for (Submission* const one : meant) ++one->waits;
  }
  if (meant.empty()) return;
  const VkResult result = next_.WaitForFences(device_, static_cast<uint32_t>(fences.size()),
                                              fences.data(), VK_TRUE, kMostWaitNs);
  if (result == VK_SUCCESS) CountChange();
  if (result == VK_TIMEOUT) CountNotChanged();
  const std::lock_guard lock(mutex_);
  for (Submission* const one : meant) --one->waits;
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

void ReplacedPools::NoteSets(VkDescriptorPool pool, std::span<const VkDescriptorSet> sets) {
  const std::lock_guard lock(mutex_);
  const auto found = pools_.find(pool);
  if (found == pools_.end() || found->second.current == pool) return;
  found->second.sets.insert(sets.begin(), sets.end());
}

bool ReplacedPools::TakeSet(VkDescriptorPool pool, VkDescriptorSet set) {
  const std::lock_guard lock(mutex_);
  const auto found = pools_.find(pool);
  if (found == pools_.end() || found->second.current == pool) return true;
  return found->second.sets.erase(set) != 0;
}

void ReplacedPools::Forget(VkDescriptorPool pool) {
  const std::lock_guard lock(mutex_);
  pools_.erase(pool);
}

}  // namespace cairn
