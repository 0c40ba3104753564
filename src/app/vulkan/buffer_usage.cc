// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/buffer_usage.h"

#include "app/vulkan/layer_chain.h"

namespace cairn {
namespace {

#ifdef VK_KHR_maintenance5
const VkBufferUsageFlags2CreateInfoKHR* FlagsOf(const VkBufferCreateInfo& info) {
  return FindInChain<VkBufferUsageFlags2CreateInfoKHR>(
      info.pNext, VK_STRUCTURE_TYPE_BUFFER_USAGE_FLAGS_2_CREATE_INFO_KHR);
}
#endif

}  // namespace

uint64_t BufferUsageOf(const VkBufferCreateInfo& info) {
#ifdef VK_KHR_maintenance5
  if (const auto* const flags = FlagsOf(info)) return flags->usage;
#endif
  return info.usage;
}

BufferWithUsage::BufferWithUsage(const VkBufferCreateInfo& info, VkBufferUsageFlags added)
    : info_(info) {
  if ((BufferUsageOf(info) & added) == added) return;
#ifdef VK_KHR_maintenance5
  if (const auto* const flags = FlagsOf(info)) {
    // Structures in front of it would have to be copied, and their sizes are not known.
    has_usage_ = flags == info.pNext;
    if (!has_usage_) return;
    flags_ = *flags;
    flags_.usage |= added;
    info_.pNext = &flags_;
    return;
  }
#endif
  info_.usage |= added;
}

}  // namespace cairn
