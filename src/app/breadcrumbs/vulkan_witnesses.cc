// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_witnesses.h"

#include <algorithm>

namespace cairn {
namespace {

bool HasAll(VkFlags64 flags, VkFlags64 wanted) {
  return (flags & wanted) == wanted;
}

// Without what memory it is of.
BarrierKind KindOfStages(VkPipelineStageFlags2 source, VkPipelineStageFlags2 destination) {
  // What these wait for is nothing of the GPU's. So was it measured for the first.
  constexpr VkPipelineStageFlags2 kNoStages =
      VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT | VK_PIPELINE_STAGE_2_HOST_BIT;
  if ((source & ~kNoStages) == 0 || destination == 0) return BarrierKind::kNothing;
  constexpr VkPipelineStageFlags2 kAll = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  return HasAll(source, kAll) && HasAll(destination, kAll) ? BarrierKind::kExecution
                                                           : BarrierKind::kSome;
}

bool IsOfAllMemory(VkAccessFlags2 source, VkAccessFlags2 destination) {
  return HasAll(source, VK_ACCESS_2_MEMORY_WRITE_BIT) &&
         HasAll(destination, VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT);
}

}  // namespace

std::optional<WitnessKey> WitnessKeyOf(PFN_vkGetPhysicalDeviceProperties2 get_properties2,
                                       VkPhysicalDevice physical_device) {
  if (get_properties2 == nullptr) return std::nullopt;
  VkPhysicalDeviceDriverProperties driver = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceIDProperties id = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES, &driver};
  VkPhysicalDeviceProperties2 properties = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &id, {}};
  get_properties2(physical_device, &properties);
  WitnessKey key;
  std::copy_n(id.deviceUUID, key.device_uuid.size(), key.device_uuid.begin());
  std::copy_n(id.driverUUID, key.driver_uuid.size(), key.driver_uuid.begin());
  if (key.device_uuid == WitnessKey().device_uuid) return std::nullopt;
  key.driver_version = properties.properties.driverVersion;
  // Where the driver does not know the structure it is empty for everybody.
  const char* const end = std::find(driver.driverName, std::end(driver.driverName), '\0');
  key.driver_name =
      WitnessDriverName({driver.driverName, static_cast<size_t>(end - driver.driverName)});
  return key;
}

WitnessMethod WitnessMethodOf(WriteMethod method) {
  switch (method) {
    case WriteMethod::kVulkanBufferMarker:
    case WriteMethod::kDriverBufferMarker: return WitnessMethod::kMarker;
    case WriteMethod::kVulkanFillBuffer:
    case WriteMethod::kDriverFillBuffer: return WitnessMethod::kFill;
    default: return WitnessMethod::kNone;
  }
}

BarrierKind KindOfBarrier(VkPipelineStageFlags source, VkPipelineStageFlags destination,
                          VkDependencyFlags flags, uint32_t memory_count,
                          const VkMemoryBarrier* memory, uint32_t, const VkBufferMemoryBarrier*,
                          uint32_t, const VkImageMemoryBarrier*) {
  if (flags != 0) return BarrierKind::kNothing;
  const BarrierKind kind = KindOfStages(source, destination);
  if (kind != BarrierKind::kExecution) return kind;
  const bool of_memory = std::any_of(memory, memory + memory_count, [](const auto& barrier) {
    return IsOfAllMemory(barrier.srcAccessMask, barrier.dstAccessMask);
  });
  return of_memory ? BarrierKind::kMemory : kind;
}

BarrierKind KindOfBarrier(const VkDependencyInfo* info) {
  BarrierKind kind = BarrierKind::kNothing;
  if (info->dependencyFlags != 0) return kind;
  const auto add = [&kind](const auto& barrier) {
    kind = std::max(kind, KindOfStages(barrier.srcStageMask, barrier.dstStageMask));
  };
  for (uint32_t i = 0; i < info->memoryBarrierCount; ++i) {
    const VkMemoryBarrier2& barrier = info->pMemoryBarriers[i];
    add(barrier);
    if (KindOfStages(barrier.srcStageMask, barrier.dstStageMask) == BarrierKind::kExecution &&
        IsOfAllMemory(barrier.srcAccessMask, barrier.dstAccessMask)) {
      return BarrierKind::kMemory;
    }
  }
  std::for_each_n(info->pBufferMemoryBarriers, info->bufferMemoryBarrierCount, add);
  std::for_each_n(info->pImageMemoryBarriers, info->imageMemoryBarrierCount, add);
  return kind;
}

}  // namespace cairn
