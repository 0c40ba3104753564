// SPDX-License-Identifier: Apache-2.0
//
// What draws and dispatches need: two pipelines, a descriptor set and a picture.
#include "app/breadcrumbs/vulkan_draw_states.h"
#include "embedded/clock.comp.spv.h"
#include "embedded/clock.frag.spv.h"
#include "embedded/work.comp.spv.h"
#include "embedded/work.frag.spv.h"
#include "embedded/work.vert.spv.h"
#include "truth/gpu.h"

namespace cairn::truth {
namespace {

constexpr VkShaderStageFlags kAllStages =
    VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;

VkPipelineShaderStageCreateInfo StageOf(VkDevice device, VkShaderStageFlagBits stage,
                                        const unsigned char* code, size_t size_bytes) {
  VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = size_bytes;
  info.pCode = reinterpret_cast<const uint32_t*>(code);
  VkPipelineShaderStageCreateInfo shader = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
  shader.stage = stage;
  shader.pName = "main";
  Check(vkCreateShaderModule(device, &info, nullptr, &shader.module), "vkCreateShaderModule");
  return shader;
}

}  // namespace

VkPipelineLayout Gpu::CreateLayout() {
  VkDescriptorSetLayoutBinding binding = {};
  binding.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  binding.descriptorCount = 1;
  binding.stageFlags = kAllStages;
  VkDescriptorSetLayoutCreateInfo set = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set.bindingCount = 1;
  set.pBindings = &binding;
  Check(vkCreateDescriptorSetLayout(device_, &set, nullptr, &set_layout_),
        "vkCreateDescriptorSetLayout");
  const VkPushConstantRange range = {kAllStages, 0, sizeof(Constants)};
  VkPipelineLayoutCreateInfo info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.setLayoutCount = 1;
  info.pSetLayouts = &set_layout_;
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &range;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  Check(vkCreatePipelineLayout(device_, &info, nullptr, &layout), "vkCreatePipelineLayout");
  return layout;
}

void Gpu::CreatePipelines(bool drawing) {
  dispatches_.layout = draws_.layout = CreateLayout();
  VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage =
      has_clock_
          ? StageOf(device_, VK_SHADER_STAGE_COMPUTE_BIT, kClockCompSpv, sizeof(kClockCompSpv))
          : StageOf(device_, VK_SHADER_STAGE_COMPUTE_BIT, kWorkCompSpv, sizeof(kWorkCompSpv));
  info.layout = dispatches_.layout;
  Check(vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &dispatches_.pipeline),
        "vkCreateComputePipelines");
  Name(VK_OBJECT_TYPE_PIPELINE, (uint64_t)dispatches_.pipeline, "Compute work");
  if (!drawing) return;
  draws_.pipeline = CreateDrawPipeline(draws_.layout);
  Name(VK_OBJECT_TYPE_PIPELINE, (uint64_t)draws_.pipeline, "Graphics work");
}

VkPipeline Gpu::CreateDrawPipeline(VkPipelineLayout layout) {
  const auto vertex =
      StageOf(device_, VK_SHADER_STAGE_VERTEX_BIT, kWorkVertSpv, sizeof(kWorkVertSpv));
  const auto fragment =
      has_clock_
          ? StageOf(device_, VK_SHADER_STAGE_FRAGMENT_BIT, kClockFragSpv, sizeof(kClockFragSpv))
          : StageOf(device_, VK_SHADER_STAGE_FRAGMENT_BIT, kWorkFragSpv, sizeof(kWorkFragSpv));
  VulkanDrawStates states(kPictureWidth, vertex.module, fragment.module, layout);
  const VkVertexInputBindingDescription binding = {0, 2 * sizeof(float),
                                                   VK_VERTEX_INPUT_RATE_VERTEX};
  const VkVertexInputAttributeDescription attribute = {0, 0, VK_FORMAT_R32G32_SFLOAT, 0};
  states.input.vertexBindingDescriptionCount = 1;
  states.input.pVertexBindingDescriptions = &binding;
  states.input.vertexAttributeDescriptionCount = 1;
  states.input.pVertexAttributeDescriptions = &attribute;
  states.target.colorWriteMask = VK_COLOR_COMPONENT_R_BIT;
  VkPipelineRenderingCreateInfo rendering = {VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachmentFormats = &kPictureFormat;
  states.info.pNext = &rendering;
  VkPipeline pipeline = VK_NULL_HANDLE;
  Check(vkCreateGraphicsPipelines(device_, VK_NULL_HANDLE, 1, &states.info, nullptr, &pipeline),
        "vkCreateGraphicsPipelines");
  return pipeline;
}

VkDescriptorSet Gpu::CreateSet(const GpuBuffer& buffer) {
  VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = descriptors_;
  info.descriptorSetCount = 1;
  info.pSetLayouts = &set_layout_;
  VkDescriptorSet set = VK_NULL_HANDLE;
  Check(vkAllocateDescriptorSets(device_, &info, &set), "vkAllocateDescriptorSets");
  const VkDescriptorBufferInfo range = {buffer.buffer, 0, VK_WHOLE_SIZE};
  VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set;
  write.descriptorCount = 1;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = &range;
  vkUpdateDescriptorSets(device_, 1, &write, 0, nullptr);
  return set;
}

GpuPicture Gpu::CreatePicture(uint32_t width) {
  GpuPicture picture;
  VkImageCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = kPictureFormat;
  info.extent = {width, width, 1};
  info.mipLevels = 1;
  info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  Check(vkCreateImage(device_, &info, nullptr, &picture.image), "vkCreateImage");
  VkMemoryRequirements needs = {};
  vkGetImageMemoryRequirements(device_, picture.image, &needs);
  const uint32_t type = FindMemory(needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
  picture.memory = Allocate(needs, type, nullptr);
  Check(vkBindImageMemory(device_, picture.image, picture.memory, 0), "vkBindImageMemory");
  VkImageViewCreateInfo view = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view.image = picture.image;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = kPictureFormat;
  view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  Check(vkCreateImageView(device_, &view, nullptr, &picture.view), "vkCreateImageView");
  const VkCommandBuffer commands = Begin(graphics(), nullptr, nullptr, 0);
  VkImageMemoryBarrier barrier = {VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  barrier.dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
  barrier.newLayout = VK_IMAGE_LAYOUT_GENERAL;
  barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = picture.image;
  barrier.subresourceRange = view.subresourceRange;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                       VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, 0, 0, nullptr, 0, nullptr, 1,
                       &barrier);
  Run(commands);
  return picture;
}

}  // namespace cairn::truth
