// SPDX-License-Identifier: Apache-2.0
//
// A queue of the layer's own, for the experiment "memory" (fill_memory.h): one that the program does not ask for, so that
// the layer may use it at any time, and what it has to do waits for nothing of the program's.
#ifndef CAIRN_APP_VULKAN_FILL_QUEUE_H_
#define CAIRN_APP_VULKAN_FILL_QUEUE_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "app/vulkan/device.h"
#include "app/vulkan/layer.h"

namespace cairn {

// Returns true for memory with these flags that the CPU cannot map, and that buffers of a device may have.
bool IsFilledByGpu(VkMemoryPropertyFlags flags);

class FillQueueRequest {
 public:
  // Asks for one more queue in `info`, a copy of the program's, where the device has memory that the CPU cannot map and
  // a queue that the program leaves and that fills buffers. `info` is valid as long as this. May throw std::bad_alloc.
  void Add(const InstanceState& instance, VkPhysicalDevice physical_device,
           VkDeviceCreateInfo* info);
  // The queue, if Add found one.
  const std::optional<OwnQueue>& queue() const { return queue_; }

 private:
  std::optional<OwnQueue> queue_;
  std::vector<VkDeviceQueueCreateInfo> infos_;
  std::vector<float> priorities_;  // of the family with the queue
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_FILL_QUEUE_H_
