// SPDX-License-Identifier: Apache-2.0
//
// The calls with which the CPU looks after fences, semaphores and swapchain images.
#include <span>

#include "app/vulkan/device_objects.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/layer_chain.h"

namespace cairn {
namespace {

VkResult VKAPI_CALL WaitForFences(VkDevice device, uint32_t count, const VkFence* fences,
                                  VkBool32 wait_all, uint64_t timeout) {
  const DeviceState& state = *DeviceOf(device);
  Synchronisation& synchronisation = state.objects->synchronisation;
  const std::span<const VkFence> waited(fences, fences == nullptr ? 0 : count);
  // Without a timeout it is a question.
  if (timeout != 0) {
    Quietly([&] {
      for (const VkFence fence : waited) synchronisation.CpuWaits(fence);
    });
  }
  const VkResult result = state.vk.WaitForFences(device, count, fences, wait_all, timeout);
  if (result == VK_SUCCESS) {
    const bool all = wait_all != VK_FALSE || count == 1;
    Quietly([&] {
      for (const VkFence fence : waited) {
        if (all || state.vk.GetFenceStatus(device, fence) == VK_SUCCESS) {
          synchronisation.Signalled(fence);
        } else {
          synchronisation.CpuWaitsNoMore(fence);
        }
      }
    });
  }
  state.objects->loss.Note(result, "vkWaitForFences");
  return result;
}

VkResult VKAPI_CALL GetFenceStatus(VkDevice device, VkFence fence) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.GetFenceStatus(device, fence);
  if (result == VK_SUCCESS) Quietly([&] { state.objects->synchronisation.Signalled(fence); });
  state.objects->loss.Note(result, "vkGetFenceStatus");
  return result;
}

VkResult VKAPI_CALL CreateFence(VkDevice device, const VkFenceCreateInfo* info,
                                const VkAllocationCallbacks* allocator, VkFence* fence) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.CreateFence(device, info, allocator, fence);
  if (result == VK_SUCCESS && (info->flags & VK_FENCE_CREATE_SIGNALED_BIT) != 0) {
    Quietly([&] { state.objects->synchronisation.AddSignalled(*fence); });
  }
  return result;
}

VkResult VKAPI_CALL ImportFenceFdKHR(VkDevice device, const VkImportFenceFdInfoKHR* info) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.ImportFenceFdKHR(device, info);
  if (result == VK_SUCCESS) {
    Quietly([&] { state.objects->synchronisation.AddSignalled(info->fence); });
  }
  return result;
}

VkResult VKAPI_CALL ImportSemaphoreFdKHR(VkDevice device, const VkImportSemaphoreFdInfoKHR* info) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.ImportSemaphoreFdKHR(device, info);
  if (result == VK_SUCCESS) {
    Quietly([&] { state.objects->synchronisation.SignalledOutside(info->semaphore); });
  }
  return result;
}

// Before the call: afterwards a thread may have submitted the fence again.
VkResult VKAPI_CALL ResetFences(VkDevice device, uint32_t count, const VkFence* fences) {
  const DeviceState& state = *DeviceOf(device);
  for (uint32_t i = 0; fences != nullptr && i < count; ++i) {
    Quietly([&] { state.objects->synchronisation.Reset(fences[i]); });
  }
  return state.vk.ResetFences(device, count, fences);
}

void VKAPI_CALL DestroyFence(VkDevice device, VkFence fence,
                             const VkAllocationCallbacks* allocator) {
  const DeviceState& state = *DeviceOf(device);
  Quietly([&] { state.objects->synchronisation.Forget(fence); });
  state.objects->Forget(VK_OBJECT_TYPE_FENCE, HandleValue(fence));
  state.vk.DestroyFence(device, fence, allocator);
}

VkResult VKAPI_CALL CreateSemaphore(VkDevice device, const VkSemaphoreCreateInfo* info,
                                    const VkAllocationCallbacks* allocator,
                                    VkSemaphore* semaphore) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.CreateSemaphore(device, info, allocator, semaphore);
  if (result != VK_SUCCESS) return result;
  const auto* const type = FindInChain<VkSemaphoreTypeCreateInfo>(
      info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
  if (type != nullptr && type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE) {
    Quietly([&] { state.objects->synchronisation.AddTimeline(*semaphore, type->initialValue); });
  }
  return result;
}

void VKAPI_CALL DestroySemaphore(VkDevice device, VkSemaphore semaphore,
                                 const VkAllocationCallbacks* allocator) {
  const DeviceState& state = *DeviceOf(device);
  Quietly([&] { state.objects->synchronisation.Forget(semaphore); });
  state.objects->Forget(VK_OBJECT_TYPE_SEMAPHORE, HandleValue(semaphore));
  state.vk.DestroySemaphore(device, semaphore, allocator);
}

template <auto kNext>
VkResult VKAPI_CALL GetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore,
                                             uint64_t* value) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = (state.vk.*kNext)(device, semaphore, value);
  if (result == VK_SUCCESS) {
    Quietly([&] { state.objects->synchronisation.Reached(semaphore, *value); });
  }
  state.objects->loss.Note(result, "vkGetSemaphoreCounterValue");
  return result;
}

template <auto kNext, auto kNextCounter>
VkResult VKAPI_CALL WaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo* info,
                                   uint64_t timeout) {
  const DeviceState& state = *DeviceOf(device);
  Synchronisation& synchronisation = state.objects->synchronisation;
  if (timeout != 0) {
    Quietly([&] {
      for (uint32_t i = 0; i < info->semaphoreCount; ++i) {
        synchronisation.CpuWaits(info->pSemaphores[i], info->pValues[i]);
      }
    });
  }
  const VkResult result = (state.vk.*kNext)(device, info, timeout);
  if (result == VK_SUCCESS) {
    const bool all = (info->flags & VK_SEMAPHORE_WAIT_ANY_BIT) == 0 || info->semaphoreCount == 1;
    Quietly([&] {
      for (uint32_t i = 0; i < info->semaphoreCount; ++i) {
        const VkSemaphore semaphore = info->pSemaphores[i];
        uint64_t value = info->pValues[i];
        if (!all && (state.vk.*kNextCounter)(device, semaphore, &value) != VK_SUCCESS) continue;
        synchronisation.Reached(semaphore, value);
        if (value < info->pValues[i]) synchronisation.CpuWaitsNoMore(semaphore, info->pValues[i]);
      }
    });
  }
  state.objects->loss.Note(result, "vkWaitSemaphores");
  return result;
}

template <auto kNext>
VkResult VKAPI_CALL SignalSemaphore(VkDevice device, const VkSemaphoreSignalInfo* info) {
  const DeviceState& state = *DeviceOf(device);
  Quietly([&] { state.objects->synchronisation.CpuSignals(info->semaphore, info->value); });
  return (state.vk.*kNext)(device, info);
}

// VK_SUBOPTIMAL_KHR gives an image as well.
void NoteAcquire(const DeviceState& device, VkResult result, VkSemaphore semaphore, VkFence fence,
                 const char* function) {
  if (result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR) {
    Quietly([&] { device.objects->synchronisation.Acquired(semaphore, fence); });
  }
  device.objects->loss.Note(result, function);
}

VkResult VKAPI_CALL AcquireNextImageKHR(VkDevice device, VkSwapchainKHR swapchain, uint64_t timeout,
                                        VkSemaphore semaphore, VkFence fence, uint32_t* image) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result =
      state.vk.AcquireNextImageKHR(device, swapchain, timeout, semaphore, fence, image);
  NoteAcquire(state, result, semaphore, fence, "vkAcquireNextImageKHR");
  return result;
}

VkResult VKAPI_CALL AcquireNextImage2KHR(VkDevice device, const VkAcquireNextImageInfoKHR* info,
                                         uint32_t* image) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.AcquireNextImage2KHR(device, info, image);
  NoteAcquire(state, result, info->semaphore, info->fence, "vkAcquireNextImage2KHR");
  return result;
}

}  // namespace

std::span<const Intercept> FenceIntercepts() {
  using Functions = DeviceFunctions;
  static const Intercept kTable[] = {
      InterceptOf<PFN_vkWaitForFences>("vkWaitForFences", WaitForFences),
      InterceptOf<PFN_vkGetFenceStatus>("vkGetFenceStatus", GetFenceStatus),
      InterceptOf<PFN_vkResetFences>("vkResetFences", ResetFences),
      InterceptOf<PFN_vkDestroyFence>("vkDestroyFence", DestroyFence),
      InterceptOf<PFN_vkCreateFence>("vkCreateFence", CreateFence),
      InterceptOf<PFN_vkImportFenceFdKHR>("vkImportFenceFdKHR", ImportFenceFdKHR),
      InterceptOf<PFN_vkImportSemaphoreFdKHR>("vkImportSemaphoreFdKHR", ImportSemaphoreFdKHR),
      InterceptOf<PFN_vkCreateSemaphore>("vkCreateSemaphore", CreateSemaphore),
      InterceptOf<PFN_vkDestroySemaphore>("vkDestroySemaphore", DestroySemaphore),
      InterceptOf<PFN_vkGetSemaphoreCounterValue>(
          "vkGetSemaphoreCounterValue",
          GetSemaphoreCounterValue<&Functions::GetSemaphoreCounterValue>),
      InterceptOf<PFN_vkGetSemaphoreCounterValue>(
          "vkGetSemaphoreCounterValueKHR",
          GetSemaphoreCounterValue<&Functions::GetSemaphoreCounterValueKHR>),
      InterceptOf<PFN_vkWaitSemaphores>(
          "vkWaitSemaphores",
          WaitSemaphores<&Functions::WaitSemaphores, &Functions::GetSemaphoreCounterValue>),
      InterceptOf<PFN_vkWaitSemaphores>(
          "vkWaitSemaphoresKHR",
          WaitSemaphores<&Functions::WaitSemaphoresKHR, &Functions::GetSemaphoreCounterValueKHR>),
      InterceptOf<PFN_vkSignalSemaphore>("vkSignalSemaphore",
                                         SignalSemaphore<&Functions::SignalSemaphore>),
      InterceptOf<PFN_vkSignalSemaphore>("vkSignalSemaphoreKHR",
                                         SignalSemaphore<&Functions::SignalSemaphoreKHR>),
      InterceptOf<PFN_vkAcquireNextImageKHR>("vkAcquireNextImageKHR", AcquireNextImageKHR),
      InterceptOf<PFN_vkAcquireNextImage2KHR>("vkAcquireNextImage2KHR", AcquireNextImage2KHR),
  };
  return kTable;
}

}  // namespace cairn
