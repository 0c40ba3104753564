// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/serial_queues.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "app/vulkan/exact.h"
#include "app/vulkan/experiment_counts.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/layer_chain.h"
#include "app/vulkan/run_experiment.h"
#include "app/vulkan/submission_semaphores.h"

namespace cairn {

SerialQueues::~SerialQueues() {
  std::vector<VkFence> fences;
  Quietly([&] {
    for (const Pending& one : pending_) fences.push_back(one.fence);
  });
  const bool over =
      fences.empty() || next_.WaitForFences(device_, static_cast<uint32_t>(fences.size()),
                                            fences.data(), VK_TRUE, kMostWaitNs) != VK_TIMEOUT;
  // A fence that a queue still uses stays.
  for (const VkFence fence : free_) next_.DestroyFence(device_, fence, nullptr);
  for (const VkFence fence : fences) {
    if (over) next_.DestroyFence(device_, fence, nullptr);
  }
}

void SerialQueues::AddTimeline(VkSemaphore semaphore) {
  const std::lock_guard lock(mutex_);
  timelines_.insert(semaphore);
}

void SerialQueues::Forget(VkSemaphore semaphore) {
  const std::lock_guard lock(mutex_);
  timelines_.erase(semaphore);
  for (Pending& one : pending_) {
    for (auto* const points : {&one.semaphores.waits, &one.semaphores.signals}) {
      std::erase_if(*points,
                    [semaphore](const auto& point) { return point.semaphore == semaphore; });
    }
  }
}

void SerialQueues::Drain() {
  const std::lock_guard turn(turn_);
  WaitForEarlier();
}

void SerialQueues::DropEnded() {
  const std::lock_guard lock(mutex_);
  std::erase_if(pending_, [this](const Pending& one) {
    const VkResult result = lost_ ? VK_NOT_READY : next_.GetFenceStatus(device_, one.fence);
    if (result < 0) lost_ = true;
    if (result != VK_SUCCESS) return false;
    Quietly([&] { free_.push_back(one.fence); });
    return true;
  });
}

uint64_t SerialQueues::ValueOf(VkSemaphore timeline) const {
  const auto get = next_.GetSemaphoreCounterValue != nullptr ? next_.GetSemaphoreCounterValue
                                                             : next_.GetSemaphoreCounterValueKHR;
  uint64_t value = 0;
  return get != nullptr && get(device_, timeline, &value) == VK_SUCCESS ? value : 0;
}

bool SerialQueues::IsSignalled(const BatchSemaphores::Point& point, size_t waiter) const {
  const bool timeline = timelines_.contains(point.semaphore);
  const auto signals = [&](const Pending& one) {
    return std::any_of(
        one.semaphores.signals.begin(), one.semaphores.signals.end(), [&](const auto& signal) {
          return signal.semaphore == point.semaphore && (!timeline || signal.value >= point.value);
        });
  };
  if (timeline) {
    return ValueOf(point.semaphore) >= point.value ||
           std::any_of(pending_.begin(), pending_.end(),
                       [&](const Pending& one) { return one.can_end && signals(one); });
  }
  // The signal of a binary one was submitted before, or is that of an image of a swapchain.
  for (size_t i = waiter; i-- > 0;) {
    if (signals(pending_[i])) return pending_[i].can_end;
  }
  return true;
}

// A queue may begin its submissions in their order alone.
bool SerialQueues::CanEnd(size_t index) const {
  const Pending& one = pending_[index];
  if (one.too_long) return false;
  for (size_t i = 0; i < index; ++i) {
    if (pending_[i].queue == one.queue && !pending_[i].can_end) return false;
  }
  return std::all_of(one.semaphores.waits.begin(), one.semaphores.waits.end(),
                     [&](const auto& point) { return IsSignalled(point, index); });
}

void SerialQueues::FindWhatCanEnd() {
  const std::lock_guard lock(mutex_);
  for (Pending& one : pending_) one.can_end = false;
  for (bool found = true; found;) {
    found = false;
    for (size_t i = 0; i < pending_.size(); ++i) {
      if (pending_[i].can_end || !CanEnd(i)) continue;
      pending_[i].can_end = found = true;
    }
  }
}

void SerialQueues::WaitForEarlier() {
  DropEnded();
  if (lost_ || pending_.empty()) return;
  bool waited = false;
  FindWhatCanEnd();
  for (Pending& one : pending_) {
    if (!one.can_end) continue;
    waited = true;
    const VkResult result = next_.WaitForFences(device_, 1, &one.fence, VK_TRUE, kMostWaitNs);
    if (result == VK_SUCCESS) continue;
    if (result != VK_TIMEOUT) {
      lost_ = true;  // The program learns it from a call of its own.
      return;
    }
    one.too_long = true;
    FindWhatCanEnd();
  }
  if (waited) CountChange();
  DropEnded();
  if (!pending_.empty()) CountNotChanged();
}

VkFence SerialQueues::TakeFence() {
  VkFence fence = VK_NULL_HANDLE;
  if (!free_.empty()) {
    fence = free_.back();
    free_.pop_back();
    if (next_.ResetFences(device_, 1, &fence) == VK_SUCCESS) return fence;
    next_.DestroyFence(device_, fence, nullptr);
    return VK_NULL_HANDLE;
  }
  const VkFenceCreateInfo info = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  if (next_.CreateFence(device_, &info, nullptr, &fence) != VK_SUCCESS) return VK_NULL_HANDLE;
  return fence;
}

// Returns the fence that is to tell its end, or null.
VkFence SerialQueues::Prepare(VkQueue queue, BatchSemaphores&& semaphores) noexcept {
  if (lost_) return VK_NULL_HANDLE;
  const VkFence own = TakeFence();
  bool noted = false;
  if (own != VK_NULL_HANDLE) {
    Quietly([&] {
      const std::lock_guard lock(mutex_);
      pending_.push_back({queue, own, std::move(semaphores)});
      noted = true;
    });
    if (noted) return own;
    next_.DestroyFence(device_, own, nullptr);
  }
  CountNotChanged();
  return VK_NULL_HANDLE;
}

void SerialQueues::Finish(VkQueue queue, VkFence own, bool rode, VkResult result) noexcept {
  if (own == VK_NULL_HANDLE) return;
  // Behind the program's fence. It comes when everything before it on the queue has ended.
  if (result == VK_SUCCESS && !rode) result = next_.QueueSubmit(queue, 0, nullptr, own);
  if (result == VK_SUCCESS) return;
  {
    const std::lock_guard lock(mutex_);
    pending_.pop_back();
  }
  if (result == VK_ERROR_DEVICE_LOST) lost_ = true;
  next_.DestroyFence(device_, own, nullptr);
}

namespace {

template <typename Info>
BatchSemaphores SemaphoresOf(const Info& info) noexcept {
  BatchSemaphores semaphores;
  Quietly([&] {
    VisitSemaphores(
        info,
        [&](VkSemaphore one, uint64_t value) {
          semaphores.waits.push_back({one, value});
        },
        [&](VkSemaphore one, uint64_t value, VkPipelineStageFlags2) {
          semaphores.signals.push_back({one, value});
        });
  });
  return semaphores;
}

template <auto kNext, typename Info>
VkResult VKAPI_CALL SubmitOneByOne(VkQueue queue, uint32_t count, const Info* infos,
                                   VkFence fence) {
  SerialQueues& serial = *QueueOf(queue)->device->serial;
  const auto next = serial.next().*kNext;
  if (count == 0) return next(queue, count, infos, fence);
  for (uint32_t i = 0; i < count; ++i) {
    const VkFence of_program = i + 1 == count ? fence : VK_NULL_HANDLE;
    const VkResult result =
        serial.Submit(queue, SemaphoresOf(infos[i]), of_program,
                      [&](VkFence with) { return next(queue, 1, &infos[i], with); });
    if (result != VK_SUCCESS) return result;
  }
  return VK_SUCCESS;
}

VkResult VKAPI_CALL PresentAlone(VkQueue queue, const VkPresentInfoKHR* info) {
  SerialQueues& serial = *QueueOf(queue)->device->serial;
  serial.Drain();
  return serial.next().QueuePresentKHR(queue, info);
}

VkResult VKAPI_CALL MakeSemaphore(VkDevice device, const VkSemaphoreCreateInfo* info,
                                  const VkAllocationCallbacks* allocator, VkSemaphore* semaphore) {
  SerialQueues& serial = *DeviceOf(device)->serial;
  const VkResult result = serial.next().CreateSemaphore(device, info, allocator, semaphore);
  const auto* const type = FindInChain<VkSemaphoreTypeCreateInfo>(
      info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
  if (result == VK_SUCCESS && type != nullptr &&
      type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE) {
    Quietly([&] { serial.AddTimeline(*semaphore); });
  }
  return result;
}

void VKAPI_CALL EndSemaphore(VkDevice device, VkSemaphore semaphore,
                             const VkAllocationCallbacks* allocator) {
  SerialQueues& serial = *DeviceOf(device)->serial;
  serial.Forget(semaphore);
  serial.next().DestroySemaphore(device, semaphore, allocator);
}

std::span<const ExactFunction> SerialFunctions() {
  using Vk = DeviceFunctions;
  static const std::array functions = {
      Replace<&Vk::QueueSubmit>("vkQueueSubmit", SubmitOneByOne<&Vk::QueueSubmit, VkSubmitInfo>),
      Replace<&Vk::QueueSubmit2>("vkQueueSubmit2",
                                 SubmitOneByOne<&Vk::QueueSubmit2, VkSubmitInfo2>),
      Replace<&Vk::QueueSubmit2KHR>("vkQueueSubmit2KHR",
                                    SubmitOneByOne<&Vk::QueueSubmit2KHR, VkSubmitInfo2>),
      Replace<&Vk::QueueBindSparse>("vkQueueBindSparse",
                                    SubmitOneByOne<&Vk::QueueBindSparse, VkBindSparseInfo>),
      Replace<&Vk::QueuePresentKHR>("vkQueuePresentKHR", PresentAlone),
      Replace<&Vk::CreateSemaphore>("vkCreateSemaphore", MakeSemaphore),
      Replace<&Vk::DestroySemaphore>("vkDestroySemaphore", EndSemaphore),
  };
  return functions;
}

}  // namespace

void StartSerialQueues(DeviceState& device) {
  const Experiment* const experiment = RunExperimentOfProcess();
  if (experiment == nullptr || experiment->change != Change::kSerialQueues) return;
  device.serial = std::make_unique<SerialQueues>(device);
  for (const ExactFunction& function : SerialFunctions()) {
    function.install(device.vk, function.function);
  }
}

PFN_vkVoidFunction FindSerialFunction(std::string_view name) {
  for (const ExactFunction& function : SerialFunctions()) {
    if (name == function.name) return function.function;
  }
  return nullptr;
}

}  // namespace cairn
