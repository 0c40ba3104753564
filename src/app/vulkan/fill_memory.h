// SPDX-License-Identifier: Apache-2.0
//
// The experiment "memory" (docs/internals/why.md): memory that a program allocates holds one byte everywhere before the
// program has it. In every other run DeviceState::memory_filler is null, and nothing of this is used.
//
//   fill_memory.h  the device
//   fill_calls.cc  the calls that allocate, bind and wait
//   fill_queue.h   what a device has to be made with
//
// It stands between the intercepts of the layer, those of exact.h too, and the next layer.
#ifndef CAIRN_APP_VULKAN_FILL_MEMORY_H_
#define CAIRN_APP_VULKAN_FILL_MEMORY_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "app/vulkan/device.h"
#include "vulkangen/device_functions.h"

namespace cairn {

// One device whose new memory is filled. Threads: any.
class MemoryFiller {
 public:
  // A fill that the GPU has not made by then will not be made.
  static constexpr uint64_t kMostNs = uint64_t{10} * 1'000'000'000;

  // `device` outlives it.
  MemoryFiller(const DeviceState& device, uint8_t byte);
  ~MemoryFiller();
  MemoryFiller(const MemoryFiller&) = delete;
  MemoryFiller& operator=(const MemoryFiller&) = delete;

  // The outcome for memory that was allocated.
  enum class Answer : uint8_t {
    kFilled,
    kNotFilled,  // it stays as it is
    kOnceBound,  // it is for one buffer alone, and will be filled through that: see TakeWaiting
  };

  bool has_queue() const { return queue_ != VK_NULL_HANDLE; }
  // Returns the functions of the next layer.
  const DeviceFunctions& next() const { return next_; }
  // Fills memory that was allocated so, by the CPU where it can map it, else by the GPU, and waits for it.
  Answer Fill(const VkMemoryAllocateInfo& info, VkDeviceMemory memory);

  // The additions to a buffer that is made so, with which memory for it alone can be filled: flags of usage, and the
  // families that share it, with that of the layer's queue; none if there is nothing to change. May throw std::bad_alloc.
  static VkBufferUsageFlags UsageForFills(const VkBufferCreateInfo& info);
  std::vector<uint32_t> FamiliesWithOwn(const VkBufferCreateInfo& info) const;
  // A buffer was made, with VK_BUFFER_USAGE_TRANSFER_DST_BIT or without it, which a fill needs.
  void NoteBuffer(VkBuffer buffer, bool can_be_filled) noexcept;
  // The buffer was bound to the memory: returns true, once, if that waited for it.
  bool TakeWaiting(VkBuffer buffer, VkDeviceMemory memory);
  // Fills the memory that the buffer alone is bound to, and waits for it. Returns false if that stays as it is.
  bool FillBound(VkBuffer buffer);

 private:
  // The queue, and what takes its work there; without a queue where there is none.
  void MakeOwnQueue(const DeviceState& device);
  bool FillMapped(const VkMemoryAllocateInfo& info, VkMemoryPropertyFlags flags,
                  VkDeviceMemory memory) const;
  bool FillOnGpu(const VkMemoryAllocateInfo& info, VkDeviceMemory memory);
  bool WaitForBind(VkBuffer buffer, VkDeviceMemory memory);
  bool Run(VkBuffer buffer);

  const VkDevice device_;
  const DeviceFunctions next_;
  const uint8_t byte_;
  VkPhysicalDeviceMemoryProperties memory_properties_ = {};
  VkQueue queue_ = VK_NULL_HANDLE;
  uint32_t family_ = 0;  // of the queue
  std::mutex mutex_;     // what follows, and work of the queue
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
  std::unordered_map<VkDeviceMemory, VkBuffer> waiting_;  // memory that is not bound yet
  std::unordered_set<VkBuffer> unfillable_;
  bool stuck_ = false;  // a fill did not end: the GPU may have what it uses
};

// For a device whose functions are those of the next layer; nothing unless the run asks for it. May throw std::bad_alloc.
void StartFillingMemory(DeviceState& device);

// Ours of that name, for a device with DeviceState::memory_filler; or null.
PFN_vkVoidFunction FindFillFunction(std::string_view name);
// Puts ours in front of the functions.
void InstallFillFunctions(DeviceFunctions& functions);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_FILL_MEMORY_H_
