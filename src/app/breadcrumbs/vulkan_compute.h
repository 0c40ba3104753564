// SPDX-License-Identifier: Apache-2.0
//
// A compute pipeline of our own, on a device of ours or of a program.
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_COMPUTE_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_COMPUTE_H_

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>

#include "app/breadcrumbs/vulkan_functions.h"
#include "vulkangen/device_functions.h"

namespace cairn {

// Returns a module of SPIR-V, which the caller destroys.
inline Result<VkShaderModule> CreateShader(const DeviceFunctions& vk, VkDevice device,
                                           const void* code, size_t size_bytes) {
  VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = size_bytes;
  info.pCode = static_cast<const uint32_t*>(code);
  VkShaderModule shader = VK_NULL_HANDLE;
  CAIRN_RETURN_IF_ERROR(
      VulkanStatus("vkCreateShaderModule", vk.CreateShaderModule(device, &info, nullptr, &shader)));
  return shader;
}

// A compute pipeline with one storage buffer, binding 0 of set 0. `vk` has all functions of Vulkan 1.0.
class VulkanCompute {
 public:
  // Makes all objects for SPIR-V `code`, with so many bytes of push constants. Errors: what the driver refused; call
  // Destroy also then.
  Status Create(const DeviceFunctions& vk, VkDevice device, const void* code, size_t size_bytes,
                VkBuffer buffer, uint32_t constants_bytes) {
    CAIRN_RETURN_IF_ERROR(CreateSet(vk, device, buffer));
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, constants_bytes};
    VkPipelineLayoutCreateInfo layout = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &set_layout_;
    layout.pushConstantRangeCount = constants_bytes != 0 ? 1 : 0;
    layout.pPushConstantRanges = &range;
    CAIRN_RETURN_IF_ERROR(VulkanStatus(
        "vkCreatePipelineLayout", vk.CreatePipelineLayout(device, &layout, nullptr, &layout_)));
    const Result<VkShaderModule> shader = CreateShader(vk, device, code, size_bytes);
    if (!shader.ok()) return shader.status();
    VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = *shader;
    info.stage.pName = "main";
    info.layout = layout_;
    const VkResult made =
        vk.CreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline_);
    vk.DestroyShaderModule(device, *shader, nullptr);
    return VulkanStatus("vkCreateComputePipelines", made);
  }

  // The GPU has finished with it.
  void Destroy(const DeviceFunctions& vk, VkDevice device) const {
    vk.DestroyPipeline(device, pipeline_, nullptr);
    vk.DestroyPipelineLayout(device, layout_, nullptr);
    vk.DestroyDescriptorPool(device, pool_, nullptr);
    vk.DestroyDescriptorSetLayout(device, set_layout_, nullptr);
  }

  void Bind(const DeviceFunctions& vk, VkCommandBuffer commands) const {
    vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
    vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set_, 0,
                             nullptr);
  }
  VkPipelineLayout layout() const { return layout_; }

 private:
  Status CreateSet(const DeviceFunctions& vk, VkDevice device, VkBuffer buffer) {
    const VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                  VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    VkDescriptorSetLayoutCreateInfo layout = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    layout.bindingCount = 1;
    layout.pBindings = &binding;
    CAIRN_RETURN_IF_ERROR(
        VulkanStatus("vkCreateDescriptorSetLayout",
                     vk.CreateDescriptorSetLayout(device, &layout, nullptr, &set_layout_)));
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo pool = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    pool.maxSets = 1;
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    CAIRN_RETURN_IF_ERROR(VulkanStatus("vkCreateDescriptorPool",
                                       vk.CreateDescriptorPool(device, &pool, nullptr, &pool_)));
    VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    info.descriptorPool = pool_;
    info.descriptorSetCount = 1;
    info.pSetLayouts = &set_layout_;
    CAIRN_RETURN_IF_ERROR(
        VulkanStatus("vkAllocateDescriptorSets", vk.AllocateDescriptorSets(device, &info, &set_)));
    const VkDescriptorBufferInfo range = {buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set_;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = &range;
    vk.UpdateDescriptorSets(device, 1, &write, 0, nullptr);
    return Status();
  }

  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_COMPUTE_H_
