// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/command_pool.h"

#include <array>
#include <mutex>
#include <new>

#include "app/vulkan/device_objects.h"
#include "app/vulkan/exact.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/witnesses.h"

namespace cairn {
namespace {

constinit HandleMap<VkCommandPool, CommandPoolState> command_pools;

// Queues whose command buffers may fill and update buffers.
bool MayWriteWords(const DeviceState& device, uint32_t family) {
  constexpr VkQueueFlags kWriting =
      VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
  return family < device.queue_families.size() &&
         (device.queue_families[family].queueFlags & kWriting) != 0;
}

void Join(DeviceState& device, CommandPoolState& pool) {
  const std::lock_guard lock(device.command_pools_mutex);
  pool.next = device.command_pools;
  if (pool.next != nullptr) pool.next->previous = &pool;
  device.command_pools = &pool;
}

void Leave(DeviceState& device, CommandPoolState& pool) {
  const std::lock_guard lock(device.command_pools_mutex);
  (pool.previous == nullptr ? device.command_pools : pool.previous->next) = pool.next;
  if (pool.next != nullptr) pool.next->previous = pool.previous;
}

void Forget(CommandBufferState* state) noexcept {
  ReleaseRecording(*state);
  state->device->objects->Forget(VK_OBJECT_TYPE_COMMAND_BUFFER, HandleValue(state->handle));
  command_buffers.Erase(state->handle);
  CommandPoolState& pool = *state->pool;
  (state->previous == nullptr ? pool.first : state->previous->next) = state->next;
  if (state->next != nullptr) state->next->previous = state->previous;
  delete state;
}

void Forget(CommandPoolState* pool) noexcept {
  while (pool->first != nullptr) Forget(pool->first);
  pool->device->objects->Forget(VK_OBJECT_TYPE_COMMAND_POOL, HandleValue(pool->handle));
  command_pools.Erase(pool->handle);
  delete pool;
}

// Makes the state of mode exact. Returns false without memory.
bool MakeExact(CommandBufferState& state) noexcept {
  if (state.device->exact == nullptr) return true;
  try {
    const auto changed = [](void* owner) {
      UpdateSilence(*static_cast<CommandBufferState*>(owner));
    };
    state.exact = std::make_unique<ExactCommands>(
        *state.device->exact, ExactCommandsDesc{.handle = state.handle,
                                                .secondary = state.secondary,
                                                .canary = state.pool->exact_canary,
                                                .changed = changed,
                                                .owner = &state});
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// False without memory.
bool Remember(CommandPoolState& pool, VkCommandBuffer handle, VkCommandBufferLevel level) {
  auto* const state = new (std::nothrow) CommandBufferState;
  if (state == nullptr) return false;
  state->handle = handle;
  state->device = pool.device;
  state->vk = &pool.device->vk;
  state->checkpoints = pool.device->has_checkpoints && !pool.silent;
  state->witnesses = pool.witnesses;
  state->pool = &pool;
  state->secondary = level == VK_COMMAND_BUFFER_LEVEL_SECONDARY;
  state->identity = {LayerToken(), handle, nullptr};
  if (!MakeExact(*state) || !command_buffers.Set(handle, state)) {
    delete state;
    return false;
  }
  state->next = pool.first;
  if (pool.first != nullptr) pool.first->previous = state;
  pool.first = state;
  return true;
}

VKAPI_ATTR VkResult VKAPI_CALL CreateCommandPool(VkDevice device,
                                                 const VkCommandPoolCreateInfo* pCreateInfo,
                                                 const VkAllocationCallbacks* pAllocator,
                                                 VkCommandPool* pCommandPool) {
  DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.CreateCommandPool(device, pCreateInfo, pAllocator, pCommandPool);
  if (result != VK_SUCCESS) return result;
  auto* const pool = new (std::nothrow) CommandPoolState;
  if (pool == nullptr || !command_pools.Set(*pCommandPool, pool)) {
    delete pool;
    state.vk.DestroyCommandPool(device, *pCommandPool, pAllocator);
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  const uint32_t family = pCreateInfo->queueFamilyIndex;
  pool->handle = *pCommandPool;
  pool->device = &state;
  pool->exact_canary = state.exact != nullptr && state.exact->MayRunCanary(*pCreateInfo);
  pool->silent = (pCreateInfo->flags & VK_COMMAND_POOL_CREATE_PROTECTED_BIT) != 0 ||
                 !MayWriteWords(state, family);
  if (family < state.queue_families.size()) {
    pool->queue_type = QueueTypeOf(state.queue_families[family].queueFlags);
  }
  if (state.barriers != nullptr && !pool->silent) pool->witnesses = state.barriers->Of(family);
  Join(state, *pool);
  return result;
}

VKAPI_ATTR void VKAPI_CALL DestroyCommandPool(VkDevice device, VkCommandPool commandPool,
                                              const VkAllocationCallbacks* pAllocator) {
  DeviceState& state = *DeviceOf(device);
  if (CommandPoolState* const pool = command_pools.Find(commandPool); pool != nullptr) {
    Leave(state, *pool);
    Forget(pool);
  }
  state.vk.DestroyCommandPool(device, commandPool, pAllocator);
}

VKAPI_ATTR VkResult VKAPI_CALL ResetCommandPool(VkDevice device, VkCommandPool commandPool,
                                                VkCommandPoolResetFlags flags) {
  if (CommandPoolState* const pool = command_pools.Find(commandPool); pool != nullptr) {
    for (CommandBufferState* state = pool->first; state != nullptr; state = state->next) {
      ReleaseRecording(*state);
    }
  }
  return DeviceOf(device)->vk.ResetCommandPool(device, commandPool, flags);
}

VKAPI_ATTR VkResult VKAPI_CALL
AllocateCommandBuffers(VkDevice device, const VkCommandBufferAllocateInfo* pAllocateInfo,
                       VkCommandBuffer* pCommandBuffers) {
  DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.AllocateCommandBuffers(device, pAllocateInfo, pCommandBuffers);
  if (result != VK_SUCCESS) return result;
  CommandPoolState* const pool = command_pools.Find(pAllocateInfo->commandPool);
  const uint32_t count = pAllocateInfo->commandBufferCount;
  uint32_t known = 0;
  while (pool != nullptr && known < count &&
         Remember(*pool, pCommandBuffers[known], pAllocateInfo->level)) {
    ++known;
  }
  if (known == count) return result;
  // The intercepts of commands need the state: without it the buffer cannot be used.
  for (uint32_t i = 0; i < known; ++i) Forget(CommandBufferOf(pCommandBuffers[i]));
  state.vk.FreeCommandBuffers(device, pAllocateInfo->commandPool, count, pCommandBuffers);
  for (uint32_t i = 0; i < count; ++i) pCommandBuffers[i] = VK_NULL_HANDLE;
  return VK_ERROR_OUT_OF_HOST_MEMORY;
}

VKAPI_ATTR void VKAPI_CALL FreeCommandBuffers(VkDevice device, VkCommandPool commandPool,
                                              uint32_t commandBufferCount,
                                              const VkCommandBuffer* pCommandBuffers) {
  for (uint32_t i = 0; pCommandBuffers != nullptr && i < commandBufferCount; ++i) {
    if (CommandBufferState* const state = CommandBufferOf(pCommandBuffers[i]); state != nullptr) {
      Forget(state);
    }
  }
  DeviceOf(device)->vk.FreeCommandBuffers(device, commandPool, commandBufferCount, pCommandBuffers);
}

}  // namespace

void ForgetCommandPools(DeviceState& device) {
  while (device.command_pools != nullptr) {
    CommandPoolState* const pool = device.command_pools;
    Leave(device, *pool);
    Forget(pool);
  }
}

std::span<const Intercept> CommandPoolIntercepts() {
  static const std::array intercepts = {
      InterceptOf<PFN_vkCreateCommandPool>("vkCreateCommandPool", CreateCommandPool),
      InterceptOf<PFN_vkDestroyCommandPool>("vkDestroyCommandPool", DestroyCommandPool),
      InterceptOf<PFN_vkResetCommandPool>("vkResetCommandPool", ResetCommandPool),
      InterceptOf<PFN_vkAllocateCommandBuffers>("vkAllocateCommandBuffers", AllocateCommandBuffers),
      InterceptOf<PFN_vkFreeCommandBuffers>("vkFreeCommandBuffers", FreeCommandBuffers),
  };
  return intercepts;
}

}  // namespace cairn
