// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/exact_canary.h"

#include <cstring>

#include "embedded/canary.comp.spv.h"

namespace cairn {
namespace {

constexpr VkDeviceSize kBytes = 64;

// The first type that the CPU sees without flushing.
uint32_t MemoryTypeFor(const DeviceState& device, uint32_t allowed) {
  const auto get = reinterpret_cast<PFN_vkGetPhysicalDeviceMemoryProperties>(
      device.instance->Next("vkGetPhysicalDeviceMemoryProperties"));
  VkPhysicalDeviceMemoryProperties memory = {};
  get(device.physical_device, &memory);
  constexpr VkMemoryPropertyFlags kSeen =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  uint32_t type = 0;
  // Vulkan promises that there is one for every buffer.
  while (
      type + 1 < memory.memoryTypeCount &&
      ((allowed >> type & 1) == 0 || (memory.memoryTypes[type].propertyFlags & kSeen) != kSeen)) {
    ++type;
  }
  return type;
}

bool HasAll(const DeviceFunctions& vk) {
  return vk.AllocateDescriptorSets != nullptr && vk.AllocateMemory != nullptr &&
         vk.BindBufferMemory != nullptr && vk.CmdBindDescriptorSets != nullptr &&
         vk.CmdBindPipeline != nullptr && vk.CmdDispatch != nullptr && vk.CreateBuffer != nullptr &&
         vk.CreateComputePipelines != nullptr && vk.CreateDescriptorPool != nullptr &&
         vk.CreateDescriptorSetLayout != nullptr && vk.CreatePipelineLayout != nullptr &&
         vk.CreateShaderModule != nullptr && vk.GetBufferMemoryRequirements != nullptr &&
         vk.MapMemory != nullptr && vk.UpdateDescriptorSets != nullptr;
}

}  // namespace

Result<std::unique_ptr<ExactCanary>> ExactCanary::Make(const DeviceState& device,
                                                       const DeviceFunctions& next) {
  if (!HasAll(next)) {
    return Status(StatusCode::kUnsupported, "the driver lacks functions that dispatching takes");
  }
  std::unique_ptr<ExactCanary> canary(new ExactCanary(device.handle, next));
  CAIRN_RETURN_IF_ERROR(canary->MakeMemory(device));
  canary->Later([made = canary.get()] { made->compute_.Destroy(made->next_, made->device_); });
  CAIRN_RETURN_IF_ERROR(canary->compute_.Create(next, device.handle, kCanaryCompSpv,
                                                sizeof(kCanaryCompSpv), canary->buffer_, 0));
  return canary;
}

ExactCanary::~ExactCanary() {
  for (; !later_.empty(); later_.pop_back()) later_.back()();
}

// Queues of all families that compute count in the same word.
Status ExactCanary::MakeMemory(const DeviceState& device) {
  std::vector<uint32_t> families;
  for (uint32_t family = 0; family < device.queue_families.size(); ++family) {
    if ((device.queue_families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) {
      families.push_back(family);
    }
  }
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = kBytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  if (families.size() > 1) {
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = static_cast<uint32_t>(families.size());
    info.pQueueFamilyIndices = families.data();
  }
  CAIRN_RETURN_IF_ERROR(
      VulkanStatus("vkCreateBuffer", next_.CreateBuffer(device_, &info, nullptr, &buffer_)));
  Later([this] { next_.DestroyBuffer(device_, buffer_, nullptr); });
  VkMemoryRequirements needs = {};
  next_.GetBufferMemoryRequirements(device_, buffer_, &needs);
  VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex = MemoryTypeFor(device, needs.memoryTypeBits);
  VkDeviceMemory memory = VK_NULL_HANDLE;
  CAIRN_RETURN_IF_ERROR(VulkanStatus("vkAllocateMemory",
                                     next_.AllocateMemory(device_, &allocation, nullptr, &memory)));
  Later([this, memory] { next_.FreeMemory(device_, memory, nullptr); });
  CAIRN_RETURN_IF_ERROR(
      VulkanStatus("vkBindBufferMemory", next_.BindBufferMemory(device_, buffer_, memory, 0)));
  void* mapped = nullptr;
  CAIRN_RETURN_IF_ERROR(
      VulkanStatus("vkMapMemory", next_.MapMemory(device_, memory, 0, VK_WHOLE_SIZE, 0, &mapped)));
  std::memset(mapped, 0, kBytes);
  runs_ = static_cast<const volatile uint32_t*>(mapped);
  return Status();
}

void ExactCanary::Record(VkCommandBuffer commands) const {
  compute_.Bind(next_, commands);
  next_.CmdDispatch(commands, 1, 1, 1);
}

}  // namespace cairn
