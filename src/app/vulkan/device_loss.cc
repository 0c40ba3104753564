// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/device_loss.h"

#include "app/vulkan/device_objects.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/memory_budget.h"

namespace cairn {

void DeviceLoss::OnError(VkResult result, const char* function) noexcept {
  if (result == VK_ERROR_DEVICE_LOST) return OnLost(result, function);
  if (!IsOutOfMemory(result) || !no_memory_) return;
  Quietly([&] { no_memory_(result, function); });
}

void DeviceLoss::OnLost(VkResult result, const char* function) noexcept {
  std::unique_lock lock(mutex_);
  if (step_ != Step::kAlive) {
    changed_.wait_for(lock, kPatience, [this] { return step_ == Step::kDone; });
    return;
  }
  step_ = Step::kAsking;
  lock.unlock();
  Quietly([&] { ask_(result, function); });
  lock.lock();
  step_ = Step::kDone;
  changed_.notify_all();
}

namespace {

VkResult Noted(const DeviceState& device, VkResult result, const char* function) {
  device.objects->loss.Note(result, function);
  return result;
}

// Calls of which only the result is of interest.
VkResult VKAPI_CALL GetQueryPoolResults(VkDevice device, VkQueryPool pool, uint32_t first,
                                        uint32_t count, size_t size, void* data,
                                        VkDeviceSize stride, VkQueryResultFlags flags) {
  const DeviceState& state = *DeviceOf(device);
  return Noted(state,
               state.vk.GetQueryPoolResults(device, pool, first, count, size, data, stride, flags),
               "vkGetQueryPoolResults");
}

VkResult VKAPI_CALL GetEventStatus(VkDevice device, VkEvent event) {
  const DeviceState& state = *DeviceOf(device);
  return Noted(state, state.vk.GetEventStatus(device, event), "vkGetEventStatus");
}

VkResult VKAPI_CALL GetSwapchainStatusKHR(VkDevice device, VkSwapchainKHR swapchain) {
  const DeviceState& state = *DeviceOf(device);
  return Noted(state, state.vk.GetSwapchainStatusKHR(device, swapchain), "vkGetSwapchainStatusKHR");
}

VkResult VKAPI_CALL WaitForPresentKHR(VkDevice device, VkSwapchainKHR swapchain, uint64_t id,
                                      uint64_t timeout) {
  const DeviceState& state = *DeviceOf(device);
  return Noted(state, state.vk.WaitForPresentKHR(device, swapchain, id, timeout),
               "vkWaitForPresentKHR");
}

}  // namespace

std::span<const Intercept> DeviceLossIntercepts() {
  static const Intercept kTable[] = {
      InterceptOf<PFN_vkGetQueryPoolResults>("vkGetQueryPoolResults", GetQueryPoolResults),
      InterceptOf<PFN_vkGetEventStatus>("vkGetEventStatus", GetEventStatus),
      InterceptOf<PFN_vkGetSwapchainStatusKHR>("vkGetSwapchainStatusKHR", GetSwapchainStatusKHR),
      InterceptOf<PFN_vkWaitForPresentKHR>("vkWaitForPresentKHR", WaitForPresentKHR),
  };
  return kTable;
}

}  // namespace cairn
