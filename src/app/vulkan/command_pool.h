// SPDX-License-Identifier: Apache-2.0
//
// Command pools: they reset and free their command buffers all at once.
#ifndef CAIRN_APP_VULKAN_COMMAND_POOL_H_
#define CAIRN_APP_VULKAN_COMMAND_POOL_H_

#include <vulkan/vulkan_core.h>

#include "app/vulkan/command_buffer.h"

namespace cairn {

// Threads: like the pool, one at a time; the list of a device's pools has a lock.
struct CommandPoolState {
  VkCommandPool handle = VK_NULL_HANDLE;
  DeviceState* device = nullptr;
  CairnQueueType queue_type = CAIRN_QUEUE_OTHER;
  const WitnessFlags* witnesses = nullptr;  // as in CommandBufferState
  bool exact_canary = false;                // ExactDevice::MayRunCanary
  bool silent = false;                      // protected, or of a queue that cannot write words
  CommandBufferState* first = nullptr;
  CommandPoolState* previous = nullptr;  // of the device
  CommandPoolState* next = nullptr;
};

// The recording is never submitted again: the buffer is begun anew, reset or freed, none of which may
// happen while the GPU runs it.
void ReleaseRecording(CommandBufferState& state) noexcept;

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_COMMAND_POOL_H_
