// SPDX-License-Identifier: Apache-2.0
//
// Finds buffers in the program's own memory: those whose memory it has mapped.
//
// Threads: any.
#ifndef CAIRN_APP_VULKAN_HOST_MEMORY_H_
#define CAIRN_APP_VULKAN_HOST_MEMORY_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <span>

#include "app/vulkan/intercept.h"

namespace cairn {

// The buffer was bound. May throw std::bad_alloc.
void NoteBufferMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset);
void ForgetBufferMemory(VkDevice device, VkBuffer buffer);

// The address of a byte of the buffer in this process; 0 where its memory is not mapped, or not so far. Two locks.
uint64_t HostAddressOf(VkDevice device, VkBuffer buffer, VkDeviceSize offset);

// vkMapMemory and vkUnmapMemory, in all their versions.
std::span<const Intercept> HostMemoryIntercepts();

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_HOST_MEMORY_H_
