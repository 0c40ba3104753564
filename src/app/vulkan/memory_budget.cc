// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/memory_budget.h"

#include <algorithm>
#include <span>

#include "app/vulkan/device_objects.h"
#include "app/vulkan/intercept.h"

namespace cairn {
namespace {

void Fill(const VkPhysicalDeviceMemoryProperties& properties,
          const VkPhysicalDeviceMemoryBudgetPropertiesEXT* budget,
          std::span<MemoryHeapRecord> heaps) {
  for (size_t i = 0; i < heaps.size(); ++i) {
    const VkMemoryHeap& heap = properties.memoryHeaps[i];
    heaps[i].size_bytes = heap.size;
    if ((heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) heaps[i].flags |= kHeapDeviceLocal;
    if (budget == nullptr) continue;
    heaps[i].flags |= kHeapTellsUse;
    heaps[i].used_bytes = budget->heapUsage[i];
    heaps[i].budget_bytes = budget->heapBudget[i];
  }
}

}  // namespace

MemoryBudget::Heaps MemoryBudget::Ask() const {
  const InstanceState& instance = *device_.instance;
  // The core's function exists for instances of that version only, whatever a look-up answers.
  PFN_vkVoidFunction get2 = nullptr;
  if (instance.api_version >= VK_API_VERSION_1_1) {
    get2 = instance.Next("vkGetPhysicalDeviceMemoryProperties2");
  }
  if (get2 == nullptr && instance.Enabled(VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME)) {
    get2 = instance.Next("vkGetPhysicalDeviceMemoryProperties2KHR");
  }
  const auto get = instance.Next("vkGetPhysicalDeviceMemoryProperties");
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {};
  budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
  VkPhysicalDeviceMemoryProperties2 properties = {};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  const bool tells_use = device_.has_memory_budget && get2 != nullptr;
  if (tells_use) {
    properties.pNext = &budget;
    reinterpret_cast<PFN_vkGetPhysicalDeviceMemoryProperties2>(get2)(device_.physical_device,
                                                                     &properties);
  } else if (get != nullptr) {
    reinterpret_cast<PFN_vkGetPhysicalDeviceMemoryProperties>(get)(device_.physical_device,
                                                                   &properties.memoryProperties);
  }
  Heaps heaps;
  heaps.count = std::min({properties.memoryProperties.memoryHeapCount,
                          static_cast<uint32_t>(VK_MAX_MEMORY_HEAPS), kMaxMemoryHeaps});
  Fill(properties.memoryProperties, tells_use ? &budget : nullptr,
       std::span(heaps.records).first(heaps.count));
  return heaps;
}

void MemoryBudget::NoteFailure(VkResult result, const char* function, uint64_t wanted_bytes) {
  const Heaps heaps = Ask();
  notes_.NoteFailure(result, function, wanted_bytes, std::span(heaps.records).first(heaps.count));
}

void MemoryBudget::OnDeviceLost() {
  const Heaps heaps = Ask();
  notes_.NoteHeaps(std::span(heaps.records).first(heaps.count));
}

namespace {

VkResult VKAPI_CALL AllocateMemory(VkDevice device, const VkMemoryAllocateInfo* info,
                                   const VkAllocationCallbacks* allocator, VkDeviceMemory* memory) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.AllocateMemory(device, info, allocator, memory);
  if (IsOutOfMemory(result)) [[unlikely]] {
    Quietly([&] {
      state.objects->memory.NoteFailure(result, "vkAllocateMemory", info->allocationSize);
    });
  } else {
    state.objects->loss.Note(result, "vkAllocateMemory");
  }
  return result;
}

}  // namespace

std::span<const Intercept> MemoryBudgetIntercepts() {
  static const Intercept kTable[] = {
      InterceptOf<PFN_vkAllocateMemory>("vkAllocateMemory", AllocateMemory),
  };
  return kTable;
}

}  // namespace cairn
