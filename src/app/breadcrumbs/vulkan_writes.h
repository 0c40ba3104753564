// SPDX-License-Identifier: Apache-2.0
//
// The commands that make a Vulkan GPU store words. Shared by the backend and the self-test, so that
// what was tested is what is used.
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_WRITES_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_WRITES_H_

#include <cstdint>

#include "app/breadcrumbs/backend.h"
#include "app/breadcrumbs/vulkan_functions.h"

namespace cairn {

// vkCmdWriteBufferMarkerAMD: inside and outside render passes, on every queue.
inline void RecordMarkerWrite(const VulkanFunctions& vk, VkCommandBuffer commands,
                              PipeLocation where, VkBuffer buffer, VkDeviceSize offset,
                              uint32_t value) {
  vk.CmdWriteBufferMarkerAMD(commands,
                             where == PipeLocation::kTop ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT
                                                         : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                             buffer, offset, value);
}

// vkCmdFillBuffer between barriers: outside render passes only, on graphics and compute queues.
void RecordFillWrite(const VulkanFunctions& vk, VkCommandBuffer commands, PipeLocation where,
                     VkBuffer buffer, VkDeviceSize offset, uint32_t value);

// vkCmdUpdateBuffer between barriers: outside render passes only, on every queue (Vulkan 1.0 allows
// no fill on a transfer-only queue). `size_bytes` is 4 or 8.
void RecordUpdateWrite(const VulkanFunctions& vk, VkCommandBuffer commands, PipeLocation where,
                       VkBuffer buffer, VkDeviceSize offset, const void* data, uint32_t size_bytes);

// Counting the executions of a reusable list needs an addition, and no command of every queue adds.
// Instead each list owns a ring of kRunModulus words, 0 to kRunModulus - 1; every execution turns
// it by one, so that its first word is the number of executions modulo kRunModulus.
inline constexpr VkDeviceSize kRunRingBytes = kRunModulus * sizeof(uint32_t);
inline constexpr VkDeviceSize kRunTableBytes = 2 * kRunRingBytes;  // the ring and its next state

// Initializes the ring as the CPU must before the first execution.
void InitializeRunTable(std::byte* table);

// Waits for all earlier work of the queue, clears `reached` and `passed`, turns the ring, then
// stores its first word in `runs`; in this order, so that no reader sees the words of one execution
// beside the number of the next and takes it for finished. Outside render passes only.
void RecordRunStart(const VulkanFunctions& vk, VkCommandBuffer commands, VkBuffer table_buffer,
                    VkDeviceSize table_offset, VkBuffer words_buffer, VkDeviceSize words_offset);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_WRITES_H_
