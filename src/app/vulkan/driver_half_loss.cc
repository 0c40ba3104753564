// SPDX-License-Identifier: Apache-2.0
//
// A driven device is lost: that, and what its driver knows of a fault, goes into the record of the Direct3D device's
// context, before the implementation of Direct3D, and then the application, gets to hear of the loss and may end the
// process. An implementation may keep the loss to itself: vkd3d lets the application wait for ever. Where it does not, the
// Direct3D layer says afterwards what the application was told.
#include <algorithm>
#include <atomic>
#include <new>
#include <utility>
#include <vector>

#include "app/breadcrumbs/context.h"
#include "app/recorder/block_writer.h"
#include "app/recorder/watcher_link.h"
#include "app/vulkan/driver_half.h"
#include "app/vulkan/faults.h"
#include "app/vulkan/memory_budget.h"

namespace cairn {
namespace {

template <typename Function>
Function NextFunction(const DeviceState& device, const char* name) {
  return reinterpret_cast<Function>(device.next_get(device.handle, name));
}

Faults::Functions FaultFunctions(const DeviceState& device) {
  Faults::Functions functions;
  if (device.has_device_fault) functions.get_info = device.vk.GetDeviceFaultInfoEXT;
  functions.has_vendor_binary = device.has_device_fault_vendor_binary;
  if (device.owns_khr_device_fault) {
    functions.get_reports =
        NextFunction<PfnGetDeviceFaultReportsKhr>(device, "vkGetDeviceFaultReportsKHR");
    functions.get_debug_info =
        NextFunction<PfnGetDeviceFaultDebugInfoKhr>(device, "vkGetDeviceFaultDebugInfoKHR");
  }
  return functions;
}

// The context whose progress words lie at `words`; kMaxContexts if there is none.
uint32_t ContextWithWords(const BlockWriter& block, const std::byte* words) {
  for (uint32_t i = 0; i < kMaxContexts; ++i) {
    const ContextRecord& record = block.contexts()[i];
    if (IsPublished(record.state) && block.data() + record.progress_offset == words) {
      return i;
    }
  }
  return kMaxContexts;
}

// Reports the loss if the Direct3D layer has not learned of it.
void ReportLost(BlockWriter& block, uint32_t context, const char* function) {
  ContextRecord& record = block.contexts()[context];
  if (record.device_lost.load(std::memory_order_relaxed) != 0) return;
  record.device_lost_where = block.AddName(function);
  record.device_lost_code.store(VK_ERROR_DEVICE_LOST, std::memory_order_relaxed);
  record.device_lost.store(1, std::memory_order_release);
}

VkResult Noted(const DeviceState& device, VkResult result, const char* function) {
  if (result == VK_ERROR_DEVICE_LOST) [[unlikely]]
    device.driver_half->OnLost(function);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL QueueSubmit(VkQueue queue, uint32_t count,
                                           const VkSubmitInfo* submits, VkFence fence) {
  const DeviceState& device = *QueueOf(queue)->device;
  return Noted(device, device.vk.QueueSubmit(queue, count, submits, fence), "vkQueueSubmit");
}

VKAPI_ATTR VkResult VKAPI_CALL QueueSubmit2(VkQueue queue, uint32_t count,
                                            const VkSubmitInfo2* submits, VkFence fence) {
  const DeviceState& device = *QueueOf(queue)->device;
  const auto next =
      device.vk.QueueSubmit2 != nullptr ? device.vk.QueueSubmit2 : device.vk.QueueSubmit2KHR;
  return Noted(device, next(queue, count, submits, fence), "vkQueueSubmit2");
}

VKAPI_ATTR VkResult VKAPI_CALL QueueBindSparse(VkQueue queue, uint32_t count,
                                               const VkBindSparseInfo* binds, VkFence fence) {
  const DeviceState& device = *QueueOf(queue)->device;
  return Noted(device, device.vk.QueueBindSparse(queue, count, binds, fence), "vkQueueBindSparse");
}

VKAPI_ATTR VkResult VKAPI_CALL QueueWaitIdle(VkQueue queue) {
  const DeviceState& device = *QueueOf(queue)->device;
  return Noted(device, device.vk.QueueWaitIdle(queue), "vkQueueWaitIdle");
}

VKAPI_ATTR VkResult VKAPI_CALL DeviceWaitIdle(VkDevice handle) {
  const DeviceState& device = *DeviceOf(handle);
  return Noted(device, device.vk.DeviceWaitIdle(handle), "vkDeviceWaitIdle");
}

VKAPI_ATTR VkResult VKAPI_CALL WaitForFences(VkDevice handle, uint32_t count, const VkFence* fences,
                                             VkBool32 wait_all, uint64_t timeout) {
  const DeviceState& device = *DeviceOf(handle);
  return Noted(device, device.vk.WaitForFences(handle, count, fences, wait_all, timeout),
               "vkWaitForFences");
}

VKAPI_ATTR VkResult VKAPI_CALL GetFenceStatus(VkDevice handle, VkFence fence) {
  const DeviceState& device = *DeviceOf(handle);
  return Noted(device, device.vk.GetFenceStatus(handle, fence), "vkGetFenceStatus");
}

VKAPI_ATTR VkResult VKAPI_CALL WaitSemaphores(VkDevice handle, const VkSemaphoreWaitInfo* info,
                                              uint64_t timeout) {
  const DeviceState& device = *DeviceOf(handle);
  const auto next =
      device.vk.WaitSemaphores != nullptr ? device.vk.WaitSemaphores : device.vk.WaitSemaphoresKHR;
  return Noted(device, next(handle, info, timeout), "vkWaitSemaphores");
}

}  // namespace

bool DriverHalfDevice::NoteWords(const std::byte* words) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    words_.push_back(words);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void DriverHalfDevice::ForgetWords(const std::byte* words) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(words_.begin(), words_.end(), words);
  if (found != words_.end()) words_.erase(found);
}

SourceFinding DriverHalfDevice::LossSource() const {
  SourceFinding source = {VK_EXT_DEVICE_FAULT_EXTENSION_NAME, SourceState::kAbsent,
                          "the Vulkan device does not have it"};
  if (device_.has_device_fault) {
    source.state = SourceState::kPresent;
    source.reason = "asked for after a loss of the Vulkan device";
  }
  for (const LeftOutExtension& left_out : device_.left_out) {
    if (left_out.name == source.name) source.reason = left_out.reason;
  }
  return source;
}

void DriverHalfDevice::OnLost(const char* function) noexcept {
  std::vector<const std::byte*> all_words;
  {
    const std::lock_guard lock(mutex_);
    all_words.swap(words_);
  }
  if (all_words.empty()) return;  // its progress is not recorded, or another thread was first
  try {
    // The words lie in it: it is there.
    Result<BlockWriter*> block = BlockWriter::OfThisProcess(kDefaultBlockBytes);
    if (!block.ok()) return;
    const FaultRecord* known = nullptr;
    for (const std::byte* const words : all_words) {
      const uint32_t context = ContextWithWords(**block, words);
      if (context == kMaxContexts) continue;
      MemoryBudget(device_, **block, context).OnDeviceLost();
      ReportLost(**block, context, function);
      if ((*block)->faults() == nullptr) continue;
      Faults faults(**block, context, device_.handle, FaultFunctions(device_));
      // Some drivers report a fault only once: the other contexts get the first one's report.
      if (known != nullptr) {
        faults.TakeOver(*known);
      } else {
        faults.OnDeviceLost();
        known = &(*block)->faults()[context];
      }
    }
    if ((*block)->has_watcher()) static_cast<void>(SendDeviceLost().ok());
  } catch (...) {
    // The report then lacks what the driver knows.
  }
}

std::span<const Intercept> DrivenLossIntercepts() {
  static const Intercept kIntercepts[] = {
      InterceptOf<PFN_vkQueueSubmit>("vkQueueSubmit", QueueSubmit),
      InterceptOf<PFN_vkQueueSubmit2>("vkQueueSubmit2", QueueSubmit2),
      InterceptOf<PFN_vkQueueSubmit2>("vkQueueSubmit2KHR", QueueSubmit2),
      InterceptOf<PFN_vkQueueBindSparse>("vkQueueBindSparse", QueueBindSparse),
      InterceptOf<PFN_vkQueueWaitIdle>("vkQueueWaitIdle", QueueWaitIdle),
      InterceptOf<PFN_vkDeviceWaitIdle>("vkDeviceWaitIdle", DeviceWaitIdle),
      InterceptOf<PFN_vkWaitForFences>("vkWaitForFences", WaitForFences),
      InterceptOf<PFN_vkGetFenceStatus>("vkGetFenceStatus", GetFenceStatus),
      InterceptOf<PFN_vkWaitSemaphores>("vkWaitSemaphores", WaitSemaphores),
      InterceptOf<PFN_vkWaitSemaphores>("vkWaitSemaphoresKHR", WaitSemaphores),
  };
  return kIntercepts;
}

}  // namespace cairn
