// SPDX-License-Identifier: Apache-2.0
//
// The calls that allocate memory, make and bind buffers, and wait for the device, in a run whose memory is filled.
#include <array>
#include <vector>

#include "app/vulkan/buffer_usage.h"
#include "app/vulkan/exact.h"
#include "app/vulkan/experiment_counts.h"
#include "app/vulkan/fill_memory.h"
#include "app/vulkan/intercept.h"

namespace cairn {
namespace {

using Vk = DeviceFunctions;

MemoryFiller& FillerOf(VkDevice device) {
  return *DeviceOf(device)->memory_filler;
}

void Count(bool is_filled) {
  if (is_filled) {
    CountChange();
  } else {
    CountNotChanged();
  }
}

VkResult VKAPI_CALL AllocateMemory(VkDevice device, const VkMemoryAllocateInfo* info,
                                   const VkAllocationCallbacks* allocator, VkDeviceMemory* memory) {
  MemoryFiller& filler = FillerOf(device);
  const VkResult result = filler.next().AllocateMemory(device, info, allocator, memory);
  if (result != VK_SUCCESS) return result;
  const MemoryFiller::Answer answer = filler.Fill(*info, *memory);
  if (answer != MemoryFiller::Answer::kOnceBound) Count(answer == MemoryFiller::Answer::kFilled);
  return result;
}

// ---- Memory of one buffer alone, which is filled through it -------------------------------------------------

VkResult VKAPI_CALL MakeBuffer(VkDevice device, const VkBufferCreateInfo* info,
                               const VkAllocationCallbacks* allocator, VkBuffer* buffer) {
  MemoryFiller& filler = FillerOf(device);
  if (!filler.has_queue()) return filler.next().CreateBuffer(device, info, allocator, buffer);
  const BufferWithUsage fillable(*info, MemoryFiller::UsageForFills(*info));
  VkBufferCreateInfo asked = *fillable.info();
  std::vector<uint32_t> families;
  Quietly([&] { families = filler.FamiliesWithOwn(asked); });
  if (!families.empty()) {
    asked.queueFamilyIndexCount = static_cast<uint32_t>(families.size());
    asked.pQueueFamilyIndices = families.data();
  }
  const VkResult result = filler.next().CreateBuffer(device, &asked, allocator, buffer);
  if (result == VK_SUCCESS)
    filler.NoteBuffer(*buffer, (BufferUsageOf(asked) & VK_BUFFER_USAGE_TRANSFER_DST_BIT) != 0);
  return result;
}

template <auto kNext>
void VKAPI_CALL NeedsOfBuffer(VkDevice device, const VkDeviceBufferMemoryRequirements* info,
                              VkMemoryRequirements2* needs) {
  const MemoryFiller& filler = FillerOf(device);
  const auto next = filler.next().*kNext;
  if (!filler.has_queue()) return next(device, info, needs);
  AskBufferNeeds(next, device, *info, MemoryFiller::UsageForFills(*info->pCreateInfo), needs);
}

void NoteBound(MemoryFiller& filler, VkBuffer buffer, VkDeviceMemory memory) {
  if (filler.TakeWaiting(buffer, memory)) Count(filler.FillBound(buffer));
}

VkResult VKAPI_CALL BindMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                               VkDeviceSize offset) {
  MemoryFiller& filler = FillerOf(device);
  const VkResult result = filler.next().BindBufferMemory(device, buffer, memory, offset);
  if (result == VK_SUCCESS) NoteBound(filler, buffer, memory);
  return result;
}

template <auto kNext>
VkResult VKAPI_CALL BindMemory2(VkDevice device, uint32_t count,
                                const VkBindBufferMemoryInfo* infos) {
  MemoryFiller& filler = FillerOf(device);
  const VkResult result = (filler.next().*kNext)(device, count, infos);
  if (result != VK_SUCCESS) return result;
  for (uint32_t i = 0; i < count; ++i) NoteBound(filler, infos[i].buffer, infos[i].memory);
  return result;
}

// ---- Waits ------------------------------------------------------------------------------------------------

// The same for the program as vkDeviceWaitIdle, during which no queue of the device may be used, the layer's own neither.
VkResult VKAPI_CALL WaitForQueues(VkDevice device) {
  const DeviceState& state = *DeviceOf(device);
  const MemoryFiller& filler = *state.memory_filler;
  if (!filler.has_queue()) return filler.next().DeviceWaitIdle(device);
  for (const auto& queue : state.queues) {
    const VkResult result = filler.next().QueueWaitIdle(queue->handle);
    if (result != VK_SUCCESS) return result;
  }
  return VK_SUCCESS;
}

std::span<const ExactFunction> FillFunctions() {
  static const std::array functions = {
      Replace<&Vk::AllocateMemory>("vkAllocateMemory", AllocateMemory),
      Replace<&Vk::CreateBuffer>("vkCreateBuffer", MakeBuffer),
      Replace<&Vk::GetDeviceBufferMemoryRequirements>(
          "vkGetDeviceBufferMemoryRequirements",
          NeedsOfBuffer<&Vk::GetDeviceBufferMemoryRequirements>),
      Replace<&Vk::GetDeviceBufferMemoryRequirementsKHR>(
          "vkGetDeviceBufferMemoryRequirementsKHR",
          NeedsOfBuffer<&Vk::GetDeviceBufferMemoryRequirementsKHR>),
      Replace<&Vk::BindBufferMemory>("vkBindBufferMemory", BindMemory),
      Replace<&Vk::BindBufferMemory2>("vkBindBufferMemory2", BindMemory2<&Vk::BindBufferMemory2>),
      Replace<&Vk::BindBufferMemory2KHR>("vkBindBufferMemory2KHR",
                                         BindMemory2<&Vk::BindBufferMemory2KHR>),
      Replace<&Vk::DeviceWaitIdle>("vkDeviceWaitIdle", WaitForQueues),
  };
  return functions;
}

}  // namespace

PFN_vkVoidFunction FindFillFunction(std::string_view name) {
  for (const ExactFunction& function : FillFunctions()) {
    if (name == function.name) return function.function;
  }
  return nullptr;
}

void InstallFillFunctions(DeviceFunctions& functions) {
  for (const ExactFunction& function : FillFunctions()) {
    function.install(functions, function.function);
  }
}

}  // namespace cairn
