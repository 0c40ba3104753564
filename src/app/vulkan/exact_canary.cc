// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/exact_canary.h"

#include <cstring>

#include "app/breadcrumbs/vulkan_functions.h"
#include "embedded/canary.comp.spv.h"

namespace cairn {
namespace {

constexpr VkDeviceSize kBytes = 64;

Status Checked(VkResult result, const char* call) {
  return result == VK_SUCCESS ? Status()
                              : Status(StatusCode::kUnsupported,
                                       std::string(call) + " returned " + VulkanResultName(result));
}

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
  CAIRN_RETURN_IF_ERROR(canary->MakeSet());
  CAIRN_RETURN_IF_ERROR(canary->MakePipeline());
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
      Checked(next_.CreateBuffer(device_, &info, nullptr, &buffer_), "vkCreateBuffer"));
  Later([this] { next_.DestroyBuffer(device_, buffer_, nullptr); });
  VkMemoryRequirements needs = {};
  next_.GetBufferMemoryRequirements(device_, buffer_, &needs);
  VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex = MemoryTypeFor(device, needs.memoryTypeBits);
  VkDeviceMemory memory = VK_NULL_HANDLE;
  CAIRN_RETURN_IF_ERROR(
      Checked(next_.AllocateMemory(device_, &allocation, nullptr, &memory), "vkAllocateMemory"));
  Later([this, memory] { next_.FreeMemory(device_, memory, nullptr); });
  CAIRN_RETURN_IF_ERROR(
      Checked(next_.BindBufferMemory(device_, buffer_, memory, 0), "vkBindBufferMemory"));
  void* mapped = nullptr;
  CAIRN_RETURN_IF_ERROR(
      Checked(next_.MapMemory(device_, memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory"));
  std::memset(mapped, 0, kBytes);
  runs_ = static_cast<const volatile uint32_t*>(mapped);
  return Status();
}

Status ExactCanary::MakeSet() {
  VkDescriptorSetLayoutBinding binding = {};
  binding.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  binding.descriptorCount = 1;
  binding.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  VkDescriptorSetLayoutCreateInfo layout = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  layout.bindingCount = 1;
  layout.pBindings = &binding;
  CAIRN_RETURN_IF_ERROR(
      Checked(next_.CreateDescriptorSetLayout(device_, &layout, nullptr, &set_layout_),
              "vkCreateDescriptorSetLayout"));
  Later([this] { next_.DestroyDescriptorSetLayout(device_, set_layout_, nullptr); });
  const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
  VkDescriptorPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pool_info.maxSets = 1;
  pool_info.poolSizeCount = 1;
  pool_info.pPoolSizes = &size;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  CAIRN_RETURN_IF_ERROR(Checked(next_.CreateDescriptorPool(device_, &pool_info, nullptr, &pool),
                                "vkCreateDescriptorPool"));
  Later([this, pool] { next_.DestroyDescriptorPool(device_, pool, nullptr); });
  VkDescriptorSetAllocateInfo allocation = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  allocation.descriptorPool = pool;
  allocation.descriptorSetCount = 1;
  allocation.pSetLayouts = &set_layout_;
  CAIRN_RETURN_IF_ERROR(Checked(next_.AllocateDescriptorSets(device_, &allocation, &set_),
                                "vkAllocateDescriptorSets"));
  const VkDescriptorBufferInfo range = {buffer_, 0, kBytes};
  VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set_;
  write.descriptorCount = 1;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = &range;
  next_.UpdateDescriptorSets(device_, 1, &write, 0, nullptr);
  return Status();
}

Status ExactCanary::MakePipeline() {
  VkPipelineLayoutCreateInfo layout = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &set_layout_;
  CAIRN_RETURN_IF_ERROR(Checked(next_.CreatePipelineLayout(device_, &layout, nullptr, &layout_),
                                "vkCreatePipelineLayout"));
  Later([this] { next_.DestroyPipelineLayout(device_, layout_, nullptr); });
  VkShaderModuleCreateInfo module_info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  module_info.codeSize = sizeof(kCanaryCompSpv);
  module_info.pCode = reinterpret_cast<const uint32_t*>(kCanaryCompSpv);
  VkShaderModule module = VK_NULL_HANDLE;
  CAIRN_RETURN_IF_ERROR(Checked(next_.CreateShaderModule(device_, &module_info, nullptr, &module),
                                "vkCreateShaderModule"));
  VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.layout = layout_;
  const VkResult made =
      next_.CreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline_);
  next_.DestroyShaderModule(device_, module, nullptr);
  CAIRN_RETURN_IF_ERROR(Checked(made, "vkCreateComputePipelines"));
  Later([this] { next_.DestroyPipeline(device_, pipeline_, nullptr); });
  return Status();
}

void ExactCanary::Record(VkCommandBuffer commands) const {
  next_.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
  next_.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set_, 0,
                              nullptr);
  next_.CmdDispatch(commands, 1, 1, 1);
}

}  // namespace cairn
