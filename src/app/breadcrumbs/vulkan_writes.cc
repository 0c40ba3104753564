// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_writes.h"

#include <cstring>

namespace cairn {
namespace {

void RecordBarrier(const VulkanFunctions& vk, VkCommandBuffer commands,
                   VkPipelineStageFlags source_stages, VkAccessFlags source_access,
                   VkPipelineStageFlags destination_stages, VkAccessFlags destination_access) {
  VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = source_access;
  barrier.dstAccessMask = destination_access;
  vk.CmdPipelineBarrier(commands, source_stages, destination_stages, 0, 1, &barrier, 0, nullptr, 0,
                        nullptr);
}

// A bottom-of-pipe write waits for everything: lavapipe, for one, rasterises draws while later
// commands run. A top-of-pipe write needs no barrier here; RecordAfterWrite of the one before orders
// the two.
void RecordBeforeWrite(const VulkanFunctions& vk, VkCommandBuffer commands, PipeLocation where) {
  if (where == PipeLocation::kTop) return;
  RecordBarrier(vk, commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, VK_PIPELINE_STAGE_TRANSFER_BIT,
                0);
}

// The host sees the word, and the next write to it comes later.
void RecordAfterWrite(const VulkanFunctions& vk, VkCommandBuffer commands) {
  RecordBarrier(vk, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT,
                VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT);
}

void RecordTransferBarrier(const VulkanFunctions& vk, VkCommandBuffer commands) {
  constexpr VkAccessFlags kBoth = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  RecordBarrier(vk, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, kBoth, VK_PIPELINE_STAGE_TRANSFER_BIT,
                kBoth);
}

}  // namespace

void RecordFillWrite(const VulkanFunctions& vk, VkCommandBuffer commands, PipeLocation where,
                     VkBuffer buffer, VkDeviceSize offset, uint32_t value) {
  RecordBeforeWrite(vk, commands, where);
  vk.CmdFillBuffer(commands, buffer, offset, sizeof(value), value);
  RecordAfterWrite(vk, commands);
}

void RecordUpdateWrite(const VulkanFunctions& vk, VkCommandBuffer commands, PipeLocation where,
                       VkBuffer buffer, VkDeviceSize offset, const void* data,
                       uint32_t size_bytes) {
  RecordBeforeWrite(vk, commands, where);
  vk.CmdUpdateBuffer(commands, buffer, offset, size_bytes, data);
  RecordAfterWrite(vk, commands);
}

void InitializeRunTable(std::byte* table) {
  for (uint32_t i = 0; i < kRunModulus; ++i) {
    std::memcpy(table + i * sizeof(uint32_t), &i, sizeof(i));
  }
}

void RecordRunStart(const VulkanFunctions& vk, VkCommandBuffer commands, VkBuffer table_buffer,
                    VkDeviceSize table_offset, VkBuffer words_buffer, VkDeviceSize words_offset) {
  constexpr VkDeviceSize kWord = sizeof(uint32_t);
  RecordBarrier(vk, commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
                VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
  const uint64_t cleared = 0;
  vk.CmdUpdateBuffer(commands, words_buffer, words_offset + offsetof(ProgressWords, reached),
                     sizeof(cleared), &cleared);
  const VkDeviceSize next_offset = table_offset + kRunRingBytes;
  const VkBufferCopy turn[] = {{table_offset + kWord, next_offset, kRunRingBytes - kWord},
                               {table_offset, next_offset + kRunRingBytes - kWord, kWord}};
  vk.CmdCopyBuffer(commands, table_buffer, table_buffer, 2, turn);
  RecordTransferBarrier(vk, commands);
  const VkBufferCopy keep = {next_offset, table_offset, kRunRingBytes};
  vk.CmdCopyBuffer(commands, table_buffer, table_buffer, 1, &keep);
  const VkBufferCopy count = {next_offset, words_offset + offsetof(ProgressWords, runs), kWord};
  vk.CmdCopyBuffer(commands, table_buffer, words_buffer, 1, &count);
  // The list's own writes follow: top-of-pipe markers, too, must not overtake the clearing.
  RecordBarrier(vk, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT,
                VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_READ_BIT);
}

static_assert(offsetof(ProgressWords, reached) == 0 && offsetof(ProgressWords, passed) == 4 &&
              offsetof(ProgressWords, runs) == 8);

}  // namespace cairn
