// SPDX-License-Identifier: Apache-2.0
//
// The experiment "keep-alive" (docs/internals/why.md): what a program destroys or frees lives until its device ends. In
// every other run DeviceState::keep_alive is null, and nothing of this is used.
//
//   keep_alive.h         what is kept, and how much of it
//   keep_alive_calls.cc  the calls that destroy and free, and those that may need the room
//   keep_alive_resets.h  what becomes of resets
//
// It stands between the intercepts of the layer and the next layer, as mode exact does (exact.h): for the layer, and so
// in reports, the objects end when the program says so.
#ifndef CAIRN_APP_VULKAN_KEEP_ALIVE_H_
#define CAIRN_APP_VULKAN_KEEP_ALIVE_H_

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "app/vulkan/device.h"
#include "app/vulkan/keep_alive_resets.h"
#include "vulkangen/device_functions.h"

namespace cairn {

// The limits beside the number of all objects.
enum class KeptKind : uint8_t { kOther, kMemory, kSampler, kPool };
inline constexpr size_t kKeptKinds = 4;

// So much is kept at once. Beyond it what was kept longest ends.
struct KeepLimits {
  uint64_t memory_bytes = uint64_t{2} << 30;
  uint32_t memories = 2048;
  uint32_t samplers = 2000;
  uint32_t pools =
      1024;  // of commands, descriptors and queries: the driver has memory in each of them
  uint32_t objects = 65536;
  uint32_t of_pool = 1024;  // command buffers or descriptor sets of one pool

  // Leaves the program half of the memories and samplers that the device can have.
  static KeepLimits For(const VkPhysicalDeviceLimits& limits);
};

struct KeptObject {
  KeptKind kind = KeptKind::kOther;
  uint64_t bytes = 0;   // kMemory
  uint64_t handle = 0;  // HandleValue
  // Destroys it by the next layer's function.
  void (*destroy)(const DeviceFunctions& next, VkDevice device, uint64_t handle) = nullptr;
};

// One device whose objects are kept. Threads: any, and of one pool one at a time, as Vulkan demands of its callers.
class KeepAliveDevice {
 public:
  // `device` outlives it, and what its functions lead to.
  KeepAliveDevice(const DeviceState& device, const KeepLimits& limits);
  // Destroys what is kept, in the order in which the program did.
  ~KeepAliveDevice();
  KeepAliveDevice(const KeepAliveDevice&) = delete;
  KeepAliveDevice& operator=(const KeepAliveDevice&) = delete;

  // Returns the functions of the next layer, or of exact.h.
  const DeviceFunctions& next() const { return next_; }

  // The program has ended with the object. Without memory for the note it ends at once.
  void Keep(const KeptObject& object) noexcept;
  // Ends what was kept longest, until there is memory among it; false if nothing is kept.
  bool MakeRoom() noexcept;

  // The memory was allocated, without callbacks. May throw std::bad_alloc.
  void NoteMemory(VkDeviceMemory memory, const VkMemoryAllocateInfo& info);
  // It is to be freed: returns its size; nothing for memory that is not to be kept.
  std::optional<uint64_t> ForgetMemory(VkDeviceMemory memory);

  // Command buffers and descriptor sets that the program has freed, by pool. A pool ends with what it has.
  template <typename Pool, typename Item>
  class PoolItems {
   public:
    // Returns what has to be freed now, in place of the item or beyond the limit; null for nothing.
    Item Keep(Pool pool, Item item, size_t most) noexcept;
    // Returns the one of this pool that was kept longest, which the caller frees; null for none.
    Item TakeOldest(Pool pool);
    // The pool ends, or has nothing any more.
    void Forget(Pool pool);

   private:
    std::mutex mutex_;
    std::unordered_map<Pool, std::deque<Item>> items_;
  };
  PoolItems<VkCommandPool, VkCommandBuffer>& command_buffers() { return command_buffers_; }
  PoolItems<VkDescriptorPool, VkDescriptorSet>& descriptor_sets() { return descriptor_sets_; }
  RunningCommands& running() { return running_; }
  ReplacedPools& descriptor_pools() { return descriptor_pools_; }
  const KeepLimits& limits() const { return limits_; }
  // Returns true if a pool without room says so: its sets can be kept, and freed when their room is needed.
  bool pools_tell_when_full() const { return pools_tell_when_full_; }

 private:
  bool IsBeyondLimits() const;
  std::optional<KeptObject> TakeOldest(bool beyond_limits);
  void End(const KeptObject& object) const;

  const VkDevice device_;
  const DeviceFunctions next_;
  const KeepLimits limits_;
  const bool pools_tell_when_full_;
  const bool keeps_mapped_;
  VkPhysicalDeviceMemoryProperties memory_properties_ = {};
  std::mutex mutex_;  // what follows
  std::deque<KeptObject> kept_;
  uint64_t kept_bytes_ = 0;
  uint32_t kept_of_kind_[kKeptKinds] = {};
  std::unordered_map<uint64_t, uint64_t> memory_bytes_;  // by handle, of memory that is to be kept
  PoolItems<VkCommandPool, VkCommandBuffer> command_buffers_;
  PoolItems<VkDescriptorPool, VkDescriptorSet> descriptor_sets_;
  RunningCommands running_;
  ReplacedPools descriptor_pools_;
};

template <typename Pool, typename Item>
Item KeepAliveDevice::PoolItems<Pool, Item>::Keep(Pool pool, Item item, size_t most) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    std::deque<Item>& items = items_[pool];
    items.push_back(item);
    if (items.size() <= most) return VK_NULL_HANDLE;
    const Item oldest = items.front();
    items.pop_front();
    return oldest;
  } catch (...) {
    return item;
  }
}

template <typename Pool, typename Item>
Item KeepAliveDevice::PoolItems<Pool, Item>::TakeOldest(Pool pool) {
  const std::lock_guard lock(mutex_);
  const auto found = items_.find(pool);
  if (found == items_.end() || found->second.empty()) return VK_NULL_HANDLE;
  const Item oldest = found->second.front();
  found->second.pop_front();
  return oldest;
}

template <typename Pool, typename Item>
void KeepAliveDevice::PoolItems<Pool, Item>::Forget(Pool pool) {
  const std::lock_guard lock(mutex_);
  items_.erase(pool);
}

// For a device that has started, once all that calls the next layer for itself has its functions, or that works without
// breadcrumbs; nothing unless the run asks for it. May throw std::bad_alloc.
void StartKeepAlive(DeviceState& device);
// Destroys what is kept, and nothing is kept from now on. Call it before what else of the device ends.
void EndKeepAlive(DeviceState& device);

// Ours of that name, for a device with DeviceState::keep_alive; or null.
PFN_vkVoidFunction FindKeepAliveFunction(std::string_view name);
// Puts them in front of what `functions` has.
void InstallKeepAliveFunctions(DeviceFunctions& functions);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_KEEP_ALIVE_H_
