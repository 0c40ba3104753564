// SPDX-License-Identifier: Apache-2.0
//
// The usage of a buffer, with what the layer itself needs of it.
#ifndef CAIRN_APP_VULKAN_BUFFER_USAGE_H_
#define CAIRN_APP_VULKAN_BUFFER_USAGE_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>

namespace cairn {

// Returns the usage that counts: VkBufferUsageFlags2CreateInfo stands in the place of VkBufferCreateInfo::usage. The bits
// are the same in both.
uint64_t BufferUsageOf(const VkBufferCreateInfo& info);

// A copy of what a buffer is made as, for more than the program asks for.
class BufferWithUsage {
 public:
  // The chain of `info` outlives it.
  BufferWithUsage(const VkBufferCreateInfo& info, VkBufferUsageFlags added);
  BufferWithUsage(const BufferWithUsage&) = delete;
  BufferWithUsage& operator=(const BufferWithUsage&) = delete;

  // Valid as long as this.
  const VkBufferCreateInfo* info() const { return &info_; }
  // Returns false if the buffer stays as the program wants it, and that is without the usage.
  bool has_usage() const { return has_usage_; }

 private:
  VkBufferCreateInfo info_;
  bool has_usage_ = true;
#ifdef VK_KHR_maintenance5
  VkBufferUsageFlags2CreateInfoKHR flags_ = {};
#endif
};

// Asks `next`, a vkGetDeviceBufferMemoryRequirements, about such a buffer.
inline void AskBufferNeeds(PFN_vkGetDeviceBufferMemoryRequirements next, VkDevice device,
                           const VkDeviceBufferMemoryRequirements& info, VkBufferUsageFlags added,
                           VkMemoryRequirements2* needs) {
  const BufferWithUsage buffer(*info.pCreateInfo, added);
  VkDeviceBufferMemoryRequirements asked = info;
  asked.pCreateInfo = buffer.info();
  next(device, &asked, needs);
}

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_BUFFER_USAGE_H_
