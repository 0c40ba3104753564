// SPDX-License-Identifier: Apache-2.0
//
// MemoryBudget: the heaps of a device, by VK_EXT_memory_budget where the driver has it, when a call fails for want of
// memory and when the device is lost; and vkAllocateMemory, which fails so.
//
// Threads: any.
#ifndef CAIRN_APP_VULKAN_MEMORY_BUDGET_H_
#define CAIRN_APP_VULKAN_MEMORY_BUDGET_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>

#include "app/recorder/memory_notes.h"
#include "app/vulkan/device.h"

namespace cairn {

class BlockWriter;

// True for results of calls that found no memory, of whatever kind.
constexpr bool IsOutOfMemory(VkResult result) {
  return result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY;
}

class MemoryBudget {
 public:
  // `context`: index of the device's context record. Device and block outlive it.
  MemoryBudget(const DeviceState& device, BlockWriter& block, uint32_t context)
      : device_(device), notes_(block, context) {}

  // `function` is a literal; `wanted_bytes`: 0 if that is not known. Asks the driver.
  void NoteFailure(VkResult result, const char* function, uint64_t wanted_bytes);
  // Asks the driver.
  void OnDeviceLost();

 private:
  struct Heaps {
    MemoryHeapRecord records[kMaxMemoryHeaps] = {};
    uint32_t count = 0;
  };
  Heaps Ask() const;

  const DeviceState& device_;
  MemoryNotes notes_;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_MEMORY_BUDGET_H_
