// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/device.h"

#include <algorithm>

#include "app/vulkan/device_objects.h"
#include "app/vulkan/driver_half.h"
#include "app/vulkan/exact.h"
#include "app/vulkan/fill_memory.h"
#include "app/vulkan/handle_map.h"
#include "app/vulkan/keep_alive.h"
#include "app/vulkan/serial_queues.h"
#include "app/vulkan/shader_experiment.h"
#include "app/vulkan/witnesses.h"

namespace cairn {
namespace {

constinit HandleMap<VkDevice, DeviceState> devices;
constinit HandleMap<VkQueue, QueueState> queues;

}  // namespace

DeviceState::DeviceState() = default;
DeviceState::~DeviceState() = default;

bool DeviceState::Enabled(std::string_view extension) const {
  return std::find(enabled_extensions.begin(), enabled_extensions.end(), extension) !=
         enabled_extensions.end();
}

DeviceState* DeviceOf(VkDevice device) {
  return devices.Find(device);
}

QueueState* QueueOf(VkQueue queue) {
  return queues.Find(queue);
}

CairnQueueType QueueTypeOf(VkQueueFlags flags) {
  if ((flags & VK_QUEUE_GRAPHICS_BIT) != 0) return CAIRN_QUEUE_DIRECT;
  if ((flags & VK_QUEUE_COMPUTE_BIT) != 0) return CAIRN_QUEUE_COMPUTE;
  if ((flags & VK_QUEUE_TRANSFER_BIT) != 0) return CAIRN_QUEUE_COPY;
  return CAIRN_QUEUE_OTHER;
}

bool RememberDevice(DeviceState& state) {
  return devices.Set(state.handle, &state);
}

bool RememberQueues(DeviceState& state) {
  for (const auto& queue : state.queues) {
    if (!queues.Set(queue->handle, queue.get())) return false;
  }
  return true;
}

void ForgetDevice(const DeviceState& state) {
  for (const auto& queue : state.queues) queues.Erase(queue->handle);
  devices.Erase(state.handle);
}

}  // namespace cairn
