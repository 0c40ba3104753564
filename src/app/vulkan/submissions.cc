// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/submissions.h"

#include <span>
#include <type_traits>

#include "app/breadcrumbs/context.h"
#include "app/vulkan/command_buffer.h"
#include "app/vulkan/device_objects.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/layer_chain.h"
#include "app/vulkan/submission_semaphores.h"

namespace cairn {
namespace {

using Place = Synchronisation::Place;

// One call that submits: its batches in order, then its fence.
class Submission {
 public:
  Submission(DeviceObjects& objects, VkQueue queue)
      : objects_(objects), queue_(objects.QueueOf(queue)), lock_(queue_.mutex) {
    first_ = queue_.submissions + 1;
    queue_.lists.clear();
  }

  uint64_t first() const { return first_; }

  void AddCommandBuffer(VkCommandBuffer buffer) {
    const CommandBufferState* const state = CommandBufferOf(buffer);
    if (state != nullptr && state->list != nullptr) queue_.lists.push_back(state->list);
  }

  // The batch of the command buffers that were added: the next submission of the queue.
  void EndBatch() {
    Context& context = *objects_.device().context;
    void* const native = queue_.state.handle;
    if (!context
             .NotifySubmit(native, queue_.lists.data(), static_cast<uint32_t>(queue_.lists.size()))
             .ok()) {
      // The batch counts as a submission, so that its signals stand for it.
      static_cast<void>(context.NotifySubmit(native, nullptr, 0).ok());
    }
    queue_.lists.clear();
    static_cast<void>(context.LastSubmission(native, &queue_.submissions).ok());
  }

  Place place(bool sparse = false) const {
    const uint64_t number = queue_.submissions;
    return {queue_.state.handle, queue_.record, number, sparse ? number : 0};
  }

  void AddFence(VkFence fence, bool sparse = false) {
    if (fence == VK_NULL_HANDLE) return;
    if (queue_.submissions < first_) EndBatch();  // The submission has only a fence.
    Place place = this->place();
    if (sparse) place.first = first_;
    objects_.synchronisation.QueueSignals(place, fence);
  }

 private:
  DeviceObjects& objects_;
  QueueObjects& queue_;
  const std::lock_guard<std::mutex> lock_;
  uint64_t first_;
};

// Handles the result of a call that submits: withdraws a failed submission, records a loss, ends a
// frame. Returns `result`.
VkResult Submitted(DeviceObjects& objects, VkQueue queue, uint64_t first, VkResult result,
                   const char* function) {
  if (result != VK_SUCCESS) {
    Quietly([&] {
      // After a loss it is unknown what the queue had begun.
      if (first != 0 && result != VK_ERROR_DEVICE_LOST) {
        objects.synchronisation.Withdraw(queue, first);
        objects.device().context->Withdraw(queue, first);
      }
    });
    objects.loss.Note(result, function);
  } else if (objects.frames.Submitted()) {
    Quietly([&] { objects.EndFrame(); });
  }
  return result;
}

template <typename Info>
void NoteSemaphores(Synchronisation& synchronisation, const Place& place, const Info& info) {
  const auto wait = [&](VkSemaphore semaphore, uint64_t value) {
    synchronisation.QueueWaits(place, semaphore, value);
  };
  const auto signal = [&](VkSemaphore semaphore, uint64_t value, VkPipelineStageFlags2 stages) {
    // Stages limit what a signal waits for.
    const bool after_everything = (stages & (VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT |
                                             VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT)) != 0;
    synchronisation.QueueSignals(place, semaphore, value, after_everything);
  };
  VisitSemaphores(info, wait, signal);
}

void AddBatch(Synchronisation& synchronisation, const VkSubmitInfo& info, Submission* submission) {
  for (const VkCommandBuffer buffer : SpanOf(info.pCommandBuffers, info.commandBufferCount)) {
    submission->AddCommandBuffer(buffer);
  }
  submission->EndBatch();
  NoteSemaphores(synchronisation, submission->place(), info);
}

void AddBatch(Synchronisation& synchronisation, const VkBindSparseInfo& info,
              Submission* submission) {
  submission->EndBatch();
  NoteSemaphores(synchronisation, submission->place(true), info);
}

void AddBatch(Synchronisation& synchronisation, const VkSubmitInfo2& info, Submission* submission) {
  for (const VkCommandBufferSubmitInfo& buffer :
       SpanOf(info.pCommandBufferInfos, info.commandBufferInfoCount)) {
    submission->AddCommandBuffer(buffer.commandBuffer);
  }
  submission->EndBatch();
  NoteSemaphores(synchronisation, submission->place(), info);
}

// Notes a call that submits. `kName` names it where it loses the device.
template <auto kNext, const char* kName, typename Info>
VkResult VKAPI_CALL SubmitNoted(VkQueue queue, uint32_t count, const Info* infos, VkFence fence) {
  const DeviceState& device = *QueueOf(queue)->device;
  DeviceObjects& objects = *device.objects;
  uint64_t first = 0;
  Quietly([&] {
    Submission submission(objects, queue);
    first = submission.first();
    for (const Info& info : SpanOf(infos, count)) {
      AddBatch(objects.synchronisation, info, &submission);
    }
    submission.AddFence(fence, std::is_same_v<Info, VkBindSparseInfo>);
  });
  return Submitted(objects, queue, first, (device.vk.*kNext)(queue, count, infos, fence), kName);
}
constexpr char kSubmit[] = "vkQueueSubmit";
constexpr char kSubmit2[] = "vkQueueSubmit2";
constexpr char kBindSparse[] = "vkQueueBindSparse";

VkResult VKAPI_CALL QueuePresentKHR(VkQueue queue, const VkPresentInfoKHR* info) {
  const DeviceState& device = *QueueOf(queue)->device;
  DeviceObjects& objects = *device.objects;
  Quietly([&] {
    QueueObjects& noted = objects.QueueOf(queue);
    const std::lock_guard lock(noted.mutex);
    const Place place = {queue, noted.record, noted.submissions};
    for (const VkSemaphore semaphore : SpanOf(info->pWaitSemaphores, info->waitSemaphoreCount)) {
      objects.synchronisation.PresentWaits(place, semaphore);
    }
#ifdef VK_EXT_swapchain_maintenance1
    if (const auto* const fences = FindInChain<VkSwapchainPresentFenceInfoEXT>(
            info->pNext, VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_FENCE_INFO_EXT)) {
      for (const VkFence fence : SpanOf(fences->pFences, fences->swapchainCount)) {
        objects.synchronisation.PresentSignals(place, fence);
      }
    }
#endif
  });
  const VkResult result = device.vk.QueuePresentKHR(queue, info);
  objects.loss.Note(result, "vkQueuePresentKHR");
  if (objects.frames.Presented()) Quietly([&] { objects.EndFrame(); });
  return result;
}

uint64_t LastOf(QueueObjects& queue) {
  const std::lock_guard lock(queue.mutex);
  return queue.submissions;
}

// Nothing can be submitted to a queue while a thread waits for it: its earlier work has finished.
VkResult VKAPI_CALL QueueWaitIdle(VkQueue queue) {
  const DeviceState& device = *QueueOf(queue)->device;
  uint64_t last = 0;
  Quietly([&] { last = LastOf(device.objects->QueueOf(queue)); });
  const VkResult result = device.vk.QueueWaitIdle(queue);
  if (result == VK_SUCCESS && last != 0) {
    Quietly([&] { static_cast<void>(device.context->NotifyCompleted(queue, last).ok()); });
  }
  device.objects->loss.Note(result, "vkQueueWaitIdle");
  return result;
}

VkResult VKAPI_CALL DeviceWaitIdle(VkDevice device) {
  const DeviceState& state = *DeviceOf(device);
  std::vector<uint64_t> last;
  Quietly([&] {
    for (const auto& queue : state.objects->queues()) last.push_back(LastOf(*queue));
  });
  const VkResult result = state.vk.DeviceWaitIdle(device);
  for (size_t i = 0; result == VK_SUCCESS && i < last.size(); ++i) {
    if (last[i] == 0) continue;
    Quietly([&] {
      const VkQueue queue = state.objects->queues()[i]->state.handle;
      static_cast<void>(state.context->NotifyCompleted(queue, last[i]).ok());
    });
  }
  state.objects->loss.Note(result, "vkDeviceWaitIdle");
  return result;
}

}  // namespace

std::span<const Intercept> SubmissionIntercepts() {
  static const Intercept kTable[] = {
      InterceptOf<PFN_vkQueueSubmit>("vkQueueSubmit",
                                     SubmitNoted<&DeviceFunctions::QueueSubmit, kSubmit>),
      InterceptOf<PFN_vkQueueSubmit2>("vkQueueSubmit2",
                                      SubmitNoted<&DeviceFunctions::QueueSubmit2, kSubmit2>),
      InterceptOf<PFN_vkQueueSubmit2>("vkQueueSubmit2KHR",
                                      SubmitNoted<&DeviceFunctions::QueueSubmit2KHR, kSubmit2>),
      InterceptOf<PFN_vkQueueBindSparse>(
          "vkQueueBindSparse", SubmitNoted<&DeviceFunctions::QueueBindSparse, kBindSparse>),
      InterceptOf<PFN_vkQueuePresentKHR>("vkQueuePresentKHR", QueuePresentKHR),
      InterceptOf<PFN_vkQueueWaitIdle>("vkQueueWaitIdle", QueueWaitIdle),
      InterceptOf<PFN_vkDeviceWaitIdle>("vkDeviceWaitIdle", DeviceWaitIdle),
  };
  return kTable;
}

}  // namespace cairn
