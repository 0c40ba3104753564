// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_VULKAN_OWN_MEMORY_H_
#define CAIRN_APP_VULKAN_OWN_MEMORY_H_

#include <vulkan/vulkan_core.h>

namespace cairn {

// Returns true if the device alone has memory that is allocated so: it is neither imported nor exported, and no
// structure says more of it than the layer knows.
bool IsOwnMemory(const VkMemoryAllocateInfo& info);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_OWN_MEMORY_H_
