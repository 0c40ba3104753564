// SPDX-License-Identifier: Apache-2.0
//
// Recording of commands that change buffers: fills, updates and copies are work that does what it
// says when it ends; buffer markers are stores.
#include <atomic>
#include <cstring>

#include "icd/entry.h"
#include "icd/recording.h"

namespace cairn::icd {
namespace {

void VKAPI_CALL CmdFillBuffer(VkCommandBuffer commands, VkBuffer handle, VkDeviceSize offset,
                              VkDeviceSize size, uint32_t value) {
  const Buffer& buffer = *From<Buffer>(handle);
  if (size == VK_WHOLE_SIZE) size = (buffer.size_bytes - offset) / sizeof(value) * sizeof(value);
  if (!CheckRange(commands, buffer, offset, size, "vkCmdFillBuffer")) return;
  auto* words = reinterpret_cast<uint32_t*>(buffer.data() + offset);
  RecordWork(commands, kTransferWork, [words, count = size / sizeof(value), value] {
    for (VkDeviceSize i = 0; i < count; ++i) {
      std::atomic_ref<uint32_t>(words[i]).store(value, std::memory_order_release);
    }
  });
}

void VKAPI_CALL CmdUpdateBuffer(VkCommandBuffer commands, VkBuffer handle, VkDeviceSize offset,
                                VkDeviceSize size, const void* data) {
  const Buffer& buffer = *From<Buffer>(handle);
  if (!CheckRange(commands, buffer, offset, size, "vkCmdUpdateBuffer")) return;
  const auto* bytes = static_cast<const std::byte*>(data);
  RecordWork(commands, kTransferWork,
             [target = buffer.data() + offset, copy = std::vector<std::byte>(bytes, bytes + size)] {
               std::memcpy(target, copy.data(), copy.size());
             });
}

void RecordCopy(VkCommandBuffer commands, const Buffer& source, const Buffer& target,
                VkDeviceSize source_offset, VkDeviceSize target_offset, VkDeviceSize size) {
  if (!CheckRange(commands, source, source_offset, size, "vkCmdCopyBuffer") ||
      !CheckRange(commands, target, target_offset, size, "vkCmdCopyBuffer")) {
    return;
  }
  RecordWork(commands, kTransferWork,
             [from = source.data() + source_offset, to = target.data() + target_offset, size] {
               std::memmove(to, from, size);
             });
}

void VKAPI_CALL CmdCopyBuffer(VkCommandBuffer commands, VkBuffer source, VkBuffer target,
                              uint32_t count, const VkBufferCopy* regions) {
  for (uint32_t i = 0; i < count; ++i) {
    RecordCopy(commands, *From<Buffer>(source), *From<Buffer>(target), regions[i].srcOffset,
               regions[i].dstOffset, regions[i].size);
  }
}

void VKAPI_CALL CmdCopyBuffer2(VkCommandBuffer commands, const VkCopyBufferInfo2* info) {
  for (uint32_t i = 0; i < info->regionCount; ++i) {
    const VkBufferCopy2& region = info->pRegions[i];
    RecordCopy(commands, *From<Buffer>(info->srcBuffer), *From<Buffer>(info->dstBuffer),
               region.srcOffset, region.dstOffset, region.size);
  }
}

void RecordMarker(VkCommandBuffer commands, bool is_top, VkBuffer handle, VkDeviceSize offset,
                  uint32_t value) {
  const Buffer& buffer = *From<Buffer>(handle);
  if (!CheckRange(commands, buffer, offset, sizeof(value), "vkCmdWriteBufferMarkerAMD")) return;
  Command command;
  command.kind = is_top ? CommandKind::kTopStore : CommandKind::kBottomStore;
  command.target = reinterpret_cast<uint32_t*>(buffer.data() + offset);
  command.value = value;
  Record(commands, std::move(command));
}

void VKAPI_CALL CmdWriteBufferMarkerAMD(VkCommandBuffer commands, VkPipelineStageFlagBits stage,
                                        VkBuffer buffer, VkDeviceSize offset, uint32_t value) {
  RecordMarker(commands, stage == VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, buffer, offset, value);
}

void VKAPI_CALL CmdWriteBufferMarker2AMD(VkCommandBuffer commands, VkPipelineStageFlags2 stage,
                                         VkBuffer buffer, VkDeviceSize offset, uint32_t value) {
  const bool is_top =
      stage == VK_PIPELINE_STAGE_2_NONE || stage == VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT;
  RecordMarker(commands, is_top, buffer, offset, value);
}

const Entry kEntries[] = {
    CAIRN_ICD_ENTRY(CmdFillBuffer),
    CAIRN_ICD_ENTRY(CmdUpdateBuffer),
    CAIRN_ICD_ENTRY(CmdCopyBuffer),
    CAIRN_ICD_ENTRY(CmdCopyBuffer2),
    CAIRN_ICD_EXTENSION(CmdWriteBufferMarkerAMD, VK_AMD_BUFFER_MARKER_EXTENSION_NAME),
    CAIRN_ICD_EXTENSION(CmdWriteBufferMarker2AMD, VK_AMD_BUFFER_MARKER_EXTENSION_NAME),
};

}  // namespace

bool CheckRange(VkCommandBuffer commands, const Buffer& buffer, VkDeviceSize offset,
                VkDeviceSize size_bytes, const char* function) {
  if (buffer.memory == nullptr) {
    RecordError(commands, std::string(function) + " with a buffer that has no memory");
    return false;
  }
  if (offset > buffer.size_bytes || size_bytes > buffer.size_bytes - offset ||
      offset % sizeof(uint32_t) != 0) {
    RecordError(commands, std::string(function) + ": " + std::to_string(size_bytes) +
                              " bytes at offset " + std::to_string(offset) + " of a buffer of " +
                              std::to_string(buffer.size_bytes));
    return false;
  }
  return true;
}

std::span<const Entry> TransferEntries() {
  return kEntries;
}

}  // namespace cairn::icd
