// SPDX-License-Identifier: Apache-2.0
//
// Command pools, and command buffers as objects.
#include <cstdio>

#include "icd/entry.h"
#include "icd/objects.h"

namespace cairn::icd {
namespace {

VkResult VKAPI_CALL CreateCommandPool(VkDevice, const VkCommandPoolCreateInfo*,
                                      const VkAllocationCallbacks*, VkCommandPool* pool) {
  *pool = To<VkCommandPool>(new CommandPool);
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyCommandPool(VkDevice, VkCommandPool pool, const VkAllocationCallbacks*) {
  delete From<CommandPool>(pool);
}

void Reset(CommandBuffer* commands) {
  commands->commands.clear();
  commands->error.clear();
}

VkResult VKAPI_CALL ResetCommandPool(VkDevice, VkCommandPool pool, VkCommandPoolResetFlags) {
  for (const auto& commands : From<CommandPool>(pool)->buffers) Reset(commands.get());
  return VK_SUCCESS;
}

VkResult VKAPI_CALL AllocateCommandBuffers(VkDevice device, const VkCommandBufferAllocateInfo* info,
                                           VkCommandBuffer* output) {
  CommandPool* pool = From<CommandPool>(info->commandPool);
  for (uint32_t i = 0; i < info->commandBufferCount; ++i) {
    auto commands = std::make_unique<CommandBuffer>();
    commands->device = Of(device);
    commands->pool = pool;
    output[i] = To<VkCommandBuffer>(commands.get());
    pool->buffers.insert(std::move(commands));
  }
  return VK_SUCCESS;
}

void VKAPI_CALL FreeCommandBuffers(VkDevice, VkCommandPool pool, uint32_t count,
                                   const VkCommandBuffer* handles) {
  for (uint32_t i = 0; i < count; ++i) {
    std::erase_if(From<CommandPool>(pool)->buffers,
                  [&](const auto& candidate) { return candidate.get() == Of(handles[i]); });
  }
}

VkResult VKAPI_CALL BeginCommandBuffer(VkCommandBuffer commands, const VkCommandBufferBeginInfo*) {
  Reset(Of(commands));
  return VK_SUCCESS;
}

VkResult VKAPI_CALL EndCommandBuffer(VkCommandBuffer commands) {
  const std::string& error = Of(commands)->error;
  if (error.empty()) return VK_SUCCESS;
  std::fprintf(stderr, "cairn test driver: %s\n", error.c_str());
  return VK_ERROR_UNKNOWN;
}

VkResult VKAPI_CALL ResetCommandBuffer(VkCommandBuffer commands, VkCommandBufferResetFlags) {
  Reset(Of(commands));
  return VK_SUCCESS;
}

const Entry kEntries[] = {
    CAIRN_ICD_ENTRY(CreateCommandPool),      CAIRN_ICD_ENTRY(DestroyCommandPool),
    CAIRN_ICD_ENTRY(ResetCommandPool),       CAIRN_ICD_NOTHING(TrimCommandPool),
    CAIRN_ICD_ENTRY(AllocateCommandBuffers), CAIRN_ICD_ENTRY(FreeCommandBuffers),
    CAIRN_ICD_ENTRY(BeginCommandBuffer),     CAIRN_ICD_ENTRY(EndCommandBuffer),
    CAIRN_ICD_ENTRY(ResetCommandBuffer),
};

}  // namespace

std::span<const Entry> CommandPoolEntries() {
  return kEntries;
}

}  // namespace cairn::icd
