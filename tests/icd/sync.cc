// SPDX-License-Identifier: Apache-2.0
//
// Fences and semaphores.
#include <algorithm>

#include "icd/entry.h"
#include "icd/waiting.h"

namespace cairn::icd {
namespace {

VkResult VKAPI_CALL CreateFence(VkDevice, const VkFenceCreateInfo* info,
                                const VkAllocationCallbacks*, VkFence* output) {
  auto fence = std::make_unique<Fence>();
  fence->signalled = (info->flags & VK_FENCE_CREATE_SIGNALED_BIT) != 0;
  *output = To<VkFence>(fence.release());
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyFence(VkDevice, VkFence fence, const VkAllocationCallbacks*) {
  delete From<Fence>(fence);
}

VkResult VKAPI_CALL ResetFences(VkDevice device, uint32_t count, const VkFence* fences) {
  std::lock_guard lock(Of(device)->mutex);
  for (uint32_t i = 0; i < count; ++i) From<Fence>(fences[i])->signalled = false;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL GetFenceStatus(VkDevice device, VkFence fence) {
  const VkResult result = StepUntil(Of(device), 0, [&] { return From<Fence>(fence)->signalled; });
  return result == VK_TIMEOUT ? VK_NOT_READY : result;
}

VkResult VKAPI_CALL WaitForFences(VkDevice device, uint32_t count, const VkFence* fences,
                                  VkBool32 all, uint64_t timeout_ns) {
  const auto signalled = [](VkFence fence) { return From<Fence>(fence)->signalled; };
  return StepUntil(Of(device), timeout_ns, [&] {
    return all == VK_TRUE ? std::all_of(fences, fences + count, signalled)
                          : std::any_of(fences, fences + count, signalled);
  });
}

VkResult VKAPI_CALL CreateSemaphore(VkDevice, const VkSemaphoreCreateInfo* info,
                                    const VkAllocationCallbacks*, VkSemaphore* output) {
  auto semaphore = std::make_unique<Semaphore>();
  if (const auto* type = Find<VkSemaphoreTypeCreateInfo>(
          info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO)) {
    semaphore->timeline = type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
    semaphore->value = semaphore->timeline ? type->initialValue : 0;
  }
  *output = To<VkSemaphore>(semaphore.release());
  return VK_SUCCESS;
}

void VKAPI_CALL DestroySemaphore(VkDevice, VkSemaphore semaphore, const VkAllocationCallbacks*) {
  delete From<Semaphore>(semaphore);
}

VkResult VKAPI_CALL GetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore,
                                             uint64_t* value) {
  const VkResult result = StepUntil(Of(device), 0, [] { return false; });
  std::lock_guard lock(Of(device)->mutex);
  *value = From<Semaphore>(semaphore)->value;
  return result == VK_ERROR_DEVICE_LOST ? result : VK_SUCCESS;
}

VkResult VKAPI_CALL WaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo* info,
                                   uint64_t timeout_ns) {
  return StepUntil(Of(device), timeout_ns, [&] {
    uint32_t reached = 0;
    for (uint32_t i = 0; i < info->semaphoreCount; ++i) {
      if (From<Semaphore>(info->pSemaphores[i])->value >= info->pValues[i]) ++reached;
    }
    const bool any = (info->flags & VK_SEMAPHORE_WAIT_ANY_BIT) != 0;
    return any ? reached > 0 : reached == info->semaphoreCount;
  });
}

VkResult VKAPI_CALL SignalSemaphore(VkDevice device, const VkSemaphoreSignalInfo* info) {
  {
    std::lock_guard lock(Of(device)->mutex);
    if (Of(device)->processor->lost()) return VK_ERROR_DEVICE_LOST;
    From<Semaphore>(info->semaphore)->value = info->value;
  }
  Proceed(Of(device));
  return VK_SUCCESS;
}

constexpr const char* kTimeline = VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME;

const Entry kEntries[] = {
    CAIRN_ICD_ENTRY(CreateFence),
    CAIRN_ICD_ENTRY(DestroyFence),
    CAIRN_ICD_ENTRY(ResetFences),
    CAIRN_ICD_ENTRY(GetFenceStatus),
    CAIRN_ICD_ENTRY(WaitForFences),
    CAIRN_ICD_ENTRY(CreateSemaphore),
    CAIRN_ICD_ENTRY(DestroySemaphore),
    CAIRN_ICD_ENTRY(GetSemaphoreCounterValue),
    CAIRN_ICD_ENTRY(WaitSemaphores),
    CAIRN_ICD_ENTRY(SignalSemaphore),
    CAIRN_ICD_NAMED(vkGetSemaphoreCounterValueKHR, GetSemaphoreCounterValue, kTimeline),
    CAIRN_ICD_NAMED(vkWaitSemaphoresKHR, WaitSemaphores, kTimeline),
    CAIRN_ICD_NAMED(vkSignalSemaphoreKHR, SignalSemaphore, kTimeline),
};

}  // namespace

std::span<const Entry> SyncEntries() {
  return kEntries;
}

}  // namespace cairn::icd
