// SPDX-License-Identifier: Apache-2.0
//
// VK_NV_device_diagnostic_checkpoints: the last events that the GPU came by, as the driver tells after the
// loss of the device, in the block's CheckpointTable.
#ifndef CAIRN_APP_VULKAN_CHECKPOINTS_H_
#define CAIRN_APP_VULKAN_CHECKPOINTS_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <span>

#include "format/block/block.h"
#include "vulkangen/device_functions.h"

namespace cairn {

class BlockWriter;

struct CheckpointQueue {
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t record = kNoQueue;  // index into the block's queue table
};

// Reads the checkpoints of each queue and publishes them, once in the life of a context (`context`:
// the index of its record). Checkpoints that the application set itself look like any other: the
// reader of the table knows the recordings. May throw std::bad_alloc.
void ReadCheckpoints(const DeviceFunctions& vk, std::span<const CheckpointQueue> queues,
                     BlockWriter& block, uint32_t context);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_CHECKPOINTS_H_
