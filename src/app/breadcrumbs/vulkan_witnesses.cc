// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_witnesses.h"

#include <algorithm>

namespace cairn {

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
  // A driver that does not know the structure leaves it empty on every machine.
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

BarrierKind KindOfBarrier(const VkDependencyInfo* info) {
  BarrierKind kind;
  if (info->dependencyFlags != 0) return kind;
  const auto add = [&kind](const auto& barrier, bool of_all_memory) {
    BarrierKind added = KindOfStages(barrier.srcStageMask, barrier.dstStageMask);
    if (added.strength == BarrierStrength::kExecution && of_all_memory) {
      added.strength = BarrierStrength::kMemory;
    }
    kind.strength = std::max(kind.strength, added.strength);
    kind.waits_for |= added.waits_for;
  };
  for (uint32_t i = 0; i < info->memoryBarrierCount; ++i) {
    const VkMemoryBarrier2& barrier = info->pMemoryBarriers[i];
    add(barrier, IsOfAllMemory(barrier.srcAccessMask, barrier.dstAccessMask));
  }
  for (uint32_t i = 0; i < info->bufferMemoryBarrierCount; ++i) {
    add(info->pBufferMemoryBarriers[i], false);
  }
  for (uint32_t i = 0; i < info->imageMemoryBarrierCount; ++i) {
    add(info->pImageMemoryBarriers[i], false);
  }
  return kind;
}

}  // namespace cairn
