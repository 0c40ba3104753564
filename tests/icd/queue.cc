// SPDX-License-Identifier: Apache-2.0
//
// Submission: waits, command buffers and signals become one stream of commands for each queue.
#include <utility>

#include "icd/entry.h"
#include "icd/waiting.h"

namespace cairn::icd {
namespace {

// A submission in the form of vkQueueSubmit2, whichever call it came by.
struct Batch {
  struct Operation {
    Semaphore* semaphore;
    uint64_t value;
  };
  std::vector<Operation> waits;
  std::vector<CommandBuffer*> buffers;
  std::vector<Operation> signals;
};

void EnqueueWait(CommandProcessor* processor, uint32_t queue, const Batch::Operation& wait) {
  Command command;
  command.kind = CommandKind::kWait;
  command.condition = [wait] {
    if (wait.semaphore->timeline) return wait.semaphore->value >= wait.value;
    return std::exchange(wait.semaphore->value, 0) != 0;
  };
  processor->Enqueue(queue, std::move(command));
}

void EnqueueSignal(CommandProcessor* processor, uint32_t queue, std::function<void()> effect) {
  Command command;
  command.kind = CommandKind::kSignal;
  command.effect = std::move(effect);
  processor->Enqueue(queue, std::move(command));
}

VkResult Submit(Queue* queue, const std::vector<Batch>& batches, Fence* fence) {
  Device* device = queue->device;
  {
    std::lock_guard lock(device->mutex);
    CommandProcessor* processor = device->processor.get();
    if (processor->lost()) return VK_ERROR_DEVICE_LOST;
    for (const Batch& batch : batches) {
      for (const auto& wait : batch.waits) EnqueueWait(processor, queue->number, wait);
      for (const CommandBuffer* buffer : batch.buffers) {
        for (const Command& command : buffer->commands) processor->Enqueue(queue->number, command);
      }
      for (const auto& signal : batch.signals) {
        EnqueueSignal(processor, queue->number, [signal] {
          signal.semaphore->value = signal.semaphore->timeline ? signal.value : 1;
        });
      }
    }
    if (fence != nullptr) {
      EnqueueSignal(processor, queue->number, [fence] { fence->signalled = true; });
    }
  }
  Proceed(device);
  return VK_SUCCESS;
}

VkResult VKAPI_CALL QueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo* submits,
                                VkFence fence) {
  std::vector<Batch> batches(count);
  for (uint32_t i = 0; i < count; ++i) {
    const VkSubmitInfo& info = submits[i];
    const auto* values = Find<VkTimelineSemaphoreSubmitInfo>(
        info.pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    const auto value_of = [](const uint64_t* array, uint32_t size, uint32_t index) {
      return array != nullptr && index < size ? array[index] : 0;
    };
    for (uint32_t k = 0; k < info.waitSemaphoreCount; ++k) {
      batches[i].waits.push_back(
          {From<Semaphore>(info.pWaitSemaphores[k]),
           values == nullptr
               ? 0
               : value_of(values->pWaitSemaphoreValues, values->waitSemaphoreValueCount, k)});
    }
    for (uint32_t k = 0; k < info.commandBufferCount; ++k) {
      batches[i].buffers.push_back(Of(info.pCommandBuffers[k]));
    }
    for (uint32_t k = 0; k < info.signalSemaphoreCount; ++k) {
      batches[i].signals.push_back(
          {From<Semaphore>(info.pSignalSemaphores[k]),
           values == nullptr
               ? 0
               : value_of(values->pSignalSemaphoreValues, values->signalSemaphoreValueCount, k)});
    }
  }
  return Submit(Of(queue), batches, From<Fence>(fence));
}

VkResult VKAPI_CALL QueueSubmit2(VkQueue queue, uint32_t count, const VkSubmitInfo2* submits,
                                 VkFence fence) {
  std::vector<Batch> batches(count);
  for (uint32_t i = 0; i < count; ++i) {
    const VkSubmitInfo2& info = submits[i];
    for (uint32_t k = 0; k < info.waitSemaphoreInfoCount; ++k) {
      const VkSemaphoreSubmitInfo& wait = info.pWaitSemaphoreInfos[k];
      batches[i].waits.push_back({From<Semaphore>(wait.semaphore), wait.value});
    }
    for (uint32_t k = 0; k < info.commandBufferInfoCount; ++k) {
      batches[i].buffers.push_back(Of(info.pCommandBufferInfos[k].commandBuffer));
    }
    for (uint32_t k = 0; k < info.signalSemaphoreInfoCount; ++k) {
      const VkSemaphoreSubmitInfo& signal = info.pSignalSemaphoreInfos[k];
      batches[i].signals.push_back({From<Semaphore>(signal.semaphore), signal.value});
    }
  }
  return Submit(Of(queue), batches, From<Fence>(fence));
}

// There is no sparse memory: only the waits and signals are left.
VkResult VKAPI_CALL QueueBindSparse(VkQueue queue, uint32_t count, const VkBindSparseInfo* infos,
                                    VkFence fence) {
  std::vector<Batch> batches(count);
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < infos[i].waitSemaphoreCount; ++k) {
      batches[i].waits.push_back({From<Semaphore>(infos[i].pWaitSemaphores[k]), 0});
    }
    for (uint32_t k = 0; k < infos[i].signalSemaphoreCount; ++k) {
      batches[i].signals.push_back({From<Semaphore>(infos[i].pSignalSemaphores[k]), 0});
    }
  }
  return Submit(Of(queue), batches, From<Fence>(fence));
}

VkResult VKAPI_CALL QueueWaitIdle(VkQueue queue) {
  Device* device = Of(queue)->device;
  return StepUntil(device, UINT64_MAX, [&] { return device->processor->Idle(Of(queue)->number); });
}

VkResult VKAPI_CALL DeviceWaitIdle(VkDevice device) {
  return StepUntil(Of(device), UINT64_MAX, [&] {
    for (const auto& queue : Of(device)->queues) {
      if (!Of(device)->processor->Idle(queue->number)) return false;
    }
    return true;
  });
}

const Entry kEntries[] = {
    CAIRN_ICD_ENTRY(QueueSubmit),
    CAIRN_ICD_ENTRY(QueueSubmit2),
    CAIRN_ICD_NAMED(vkQueueSubmit2KHR, QueueSubmit2, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME),
    CAIRN_ICD_ENTRY(QueueBindSparse),
    CAIRN_ICD_ENTRY(QueueWaitIdle),
    CAIRN_ICD_ENTRY(DeviceWaitIdle),
};

}  // namespace

void Proceed(Device* device) {
  {
    std::lock_guard lock(device->mutex);
    if (!device->instance->settings.lazy) device->processor->Settle();
  }
  device->changed.notify_all();
  TellScriptedBindings(device);
}

std::span<const Entry> QueueEntries() {
  return kEntries;
}

}  // namespace cairn::icd
