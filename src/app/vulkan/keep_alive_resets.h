// SPDX-License-Identifier: Apache-2.0
//
// Resets in the experiment "keep-alive" (keep_alive.h). What a reset would end while the GPU needs it does not end:
//
//   RunningCommands  command buffers: a reset of one that was submitted waits until that submission has ended
//   ReplacedPools    descriptor pools: another pool takes the place of one that is reset
#ifndef CAIRN_APP_VULKAN_KEEP_ALIVE_RESETS_H_
#define CAIRN_APP_VULKAN_KEEP_ALIVE_RESETS_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "vulkangen/device_functions.h"

namespace cairn {

// Command buffers of one device, and where the primary ones run. Threads: any. Without memory it forgets submissions.
class RunningCommands {
 public:
  // The longest time that a reset waits.
  static constexpr uint64_t kMostWaitNs = uint64_t{5} * 1'000'000'000;

  // `next`: functions of the next layer, which outlive it.
  RunningCommands(VkDevice device, const DeviceFunctions& next) : device_(device), next_(next) {}
  // Submissions that have not ended keep their fences.
  ~RunningCommands();
  RunningCommands(const RunningCommands&) = delete;
  RunningCommands& operator=(const RunningCommands&) = delete;

  // Returns that of the device which allocated the command buffer; null for one that was freed, or is not known.
  static RunningCommands* Of(VkCommandBuffer buffer);
  const DeviceFunctions& next() const { return next_; }

  // Notes new command buffers, for Of(). Returns false without memory: none of them is known.
  bool Allocated(VkCommandPool pool, std::span<const VkCommandBuffer> buffers) noexcept;
  // Forgets command buffers that are freed next.
  void Freed(std::span<const VkCommandBuffer> buffers);
  // Forgets all command buffers of a pool that the program ends.
  void Forget(VkCommandPool pool);
  // They were submitted to the queue, which nobody else uses now.
  void Submitted(VkQueue queue, std::vector<VkCommandBuffer> buffers) noexcept;
  // Waits for submissions of the command buffer, or of any of the pool, kMostWaitNs in all. A wait counts as a change.
  void WaitFor(VkCommandBuffer buffer) noexcept;
  void WaitFor(VkCommandPool pool) noexcept;

 private:
  struct Submission {
    VkFence fence = VK_NULL_HANDLE;
    std::vector<VkCommandBuffer> buffers;
    uint32_t waits = 0;  // threads that wait for the fence now: it may not be destroyed
  };

  // With mutex_.
  void DropEnded();
  // Without mutex_. Calls is_meant(command buffer) with it.
  template <typename IsMeant>
  void WaitForAny(const IsMeant& is_meant);

  const VkDevice device_;
  const DeviceFunctions& next_;
  std::mutex mutex_;  // what follows
  std::unordered_map<VkCommandBuffer, VkCommandPool> pools_;
  std::list<Submission> running_;  // oldest first
};

// By the program's pools: those that allocate for them. Threads: any.
class ReplacedPools {
 public:
  // It was made so. A pool with a structure in its chain cannot be made again. May throw std::bad_alloc.
  void Note(VkDescriptorPool pool, const VkDescriptorPoolCreateInfo& info);
  // Returns the pool that allocates for the program's.
  VkDescriptorPool Current(VkDescriptorPool pool);
  // Notes sets that were allocated from Current(pool). May throw std::bad_alloc: those it missed count as earlier ones.
  void NoteSets(VkDescriptorPool pool, std::span<const VkDescriptorSet> sets);
  // Forgets a set that the program frees. Returns false for one that a pool before Current(pool) has.
  bool TakeSet(VkDescriptorPool pool, VkDescriptorSet set);
  // Calls create(info), which returns a new pool or null, and has that one allocate from now on. Returns the one that did
  // before; nothing if there is no new one.
  template <typename Create>
  std::optional<VkDescriptorPool> Replace(VkDescriptorPool pool, const Create& create);
  // The pool ends.
  void Forget(VkDescriptorPool pool);

 private:
  struct Pool {
    VkDescriptorPoolCreateInfo info = {};
    std::vector<VkDescriptorPoolSize> sizes;
    VkDescriptorPool current = VK_NULL_HANDLE;
    std::unordered_set<VkDescriptorSet> sets;  // of `current`, if it is not the program's own
  };
  std::mutex mutex_;
  std::unordered_map<VkDescriptorPool, Pool> pools_;
};

template <typename Create>
std::optional<VkDescriptorPool> ReplacedPools::Replace(VkDescriptorPool pool,
                                                       const Create& create) {
  const std::lock_guard lock(mutex_);
  const auto found = pools_.find(pool);
  if (found == pools_.end()) return std::nullopt;
  Pool& known = found->second;
  known.info.pPoolSizes = known.sizes.data();
  const VkDescriptorPool fresh = create(known.info);
  if (fresh == VK_NULL_HANDLE) return std::nullopt;
  const VkDescriptorPool before = known.current;
  known.current = fresh;
  known.sets.clear();
  return before;
}

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_KEEP_ALIVE_RESETS_H_
