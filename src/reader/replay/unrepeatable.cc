// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/unrepeatable.h"

namespace cairn {

const char* WhyUnrepeatable(Unrepeatable why) {
  switch (why) {
    case Unrepeatable::kNone: break;
    case Unrepeatable::kVulkanResource:
      return "the trace does not have the Vulkan resource; an empty one takes its place";
    case Unrepeatable::kVulkanQueueFamily:
      return "a replay has no queues for a family of Vulkan queues";
    case Unrepeatable::kVulkanQueue:
      return "the trace does not have what the program submits to the Vulkan queue itself";
    case Unrepeatable::kVulkanCommandBuffer:
      return "the trace does not have what the program records into the Vulkan command buffer "
             "itself";
    case Unrepeatable::kCuda: return "a replay has no CUDA kernels";
  }
  return "";
}

}  // namespace cairn
