// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/fill_queue.h"

#include <algorithm>

#include "app/vulkan/device_creation.h"

namespace cairn {
namespace {

constexpr VkQueueFlags kWork = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
constexpr VkQueueFlags kCopies =
    VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;

bool HasMemoryOfItsOwn(const InstanceState& instance, VkPhysicalDevice physical_device) {
  const auto get = reinterpret_cast<PFN_vkGetPhysicalDeviceMemoryProperties>(
      instance.Next("vkGetPhysicalDeviceMemoryProperties"));
  if (get == nullptr) return false;
  VkPhysicalDeviceMemoryProperties memory = {};
  get(physical_device, &memory);
  return std::any_of(memory.memoryTypes, memory.memoryTypes + memory.memoryTypeCount,
                     [](const VkMemoryType& type) { return IsFilledByGpu(type.propertyFlags); });
}

// The queue costs the program least in a family that is for copies alone, or that it does not use.
int RankOf(const VkQueueFamilyProperties& family, uint32_t asked) {
  const bool copies_alone =
      (family.queueFlags & VK_QUEUE_TRANSFER_BIT) != 0 && (family.queueFlags & ~kCopies) == 0;
  if (asked >= family.queueCount) return 0;
  if (!copies_alone && (family.queueFlags & kWork) == 0) return 0;
  return 1 + (copies_alone ? 2 : 0) + (asked == 0 ? 1 : 0);
}

}  // namespace

bool IsFilledByGpu(VkMemoryPropertyFlags flags) {
  constexpr VkMemoryPropertyFlags kNever = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                           VK_MEMORY_PROPERTY_PROTECTED_BIT |
                                           VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT;
  return (flags & kNever) == 0;
}

void FillQueueRequest::Add(const InstanceState& instance, VkPhysicalDevice physical_device,
                           VkDeviceCreateInfo* info) {
  if (!HasMemoryOfItsOwn(instance, physical_device)) return;
  infos_.assign(info->pQueueCreateInfos, info->pQueueCreateInfos + info->queueCreateInfoCount);
  const auto families = QueueFamiliesOf(instance, physical_device);
  int best_rank = 0;
  uint32_t best = 0;
  for (uint32_t family = 0; family < families.size(); ++family) {
    uint32_t asked = 0;
    bool has_plain = false;  // there is one entry of a family without flags
    for (const VkDeviceQueueCreateInfo& entry : infos_) {
      if (entry.queueFamilyIndex != family) continue;
      asked += entry.queueCount;
      has_plain |= entry.flags == 0;
    }
    const int rank = asked != 0 && !has_plain ? 0 : RankOf(families[family], asked);
    if (rank <= best_rank) continue;
    best_rank = rank;
    best = family;
  }
  if (best_rank == 0) return;
  const auto used =
      std::find_if(infos_.begin(), infos_.end(), [best](const VkDeviceQueueCreateInfo& entry) {
        return entry.queueFamilyIndex == best && entry.flags == 0;
      });
  if (used == infos_.end()) {
    priorities_ = {1.0f};
    VkDeviceQueueCreateInfo entry = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    entry.queueFamilyIndex = best;
    entry.queueCount = 1;
    entry.pQueuePriorities = priorities_.data();
    infos_.push_back(entry);
    queue_ = OwnQueue{best, 0};
  } else {
    queue_ = OwnQueue{best, used->queueCount};
    priorities_.assign(used->pQueuePriorities, used->pQueuePriorities + used->queueCount);
    priorities_.push_back(1.0f);
    used->pQueuePriorities = priorities_.data();
    ++used->queueCount;
  }
  info->pQueueCreateInfos = infos_.data();
  info->queueCreateInfoCount = static_cast<uint32_t>(infos_.size());
}

}  // namespace cairn
