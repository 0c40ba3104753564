// SPDX-License-Identifier: Apache-2.0
#include "vulkan_work.h"

#include <cstring>

#include "embedded/fill.comp.spv.h"
#include "png_file.h"

namespace sample {
namespace {

constexpr uint32_t kMaxConstantsBytes = 32;
constexpr uint32_t kFillGroupSize = 64;

VkShaderModule CreateModule(VkDevice device, const Shader& shader) {
  VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = shader.size_bytes;
  info.pCode = reinterpret_cast<const uint32_t*>(shader.bytes);
  VkShaderModule module = VK_NULL_HANDLE;
  Check(vkCreateShaderModule(device, &info, nullptr, &module), "vkCreateShaderModule");
  return module;
}

VkDescriptorSetLayout CreateSetLayout(Device& device, VkShaderStageFlags stages) {
  VkDescriptorSetLayoutBinding binding = {};
  binding.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  binding.descriptorCount = 1;
  binding.stageFlags = stages;
  VkDescriptorSetLayoutCreateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  info.bindingCount = 1;
  info.pBindings = &binding;
  VkDescriptorSetLayout layout = VK_NULL_HANDLE;
  Check(vkCreateDescriptorSetLayout(device.device(), &info, nullptr, &layout),
        "vkCreateDescriptorSetLayout");
  device.Own([d = device.device(), layout] { vkDestroyDescriptorSetLayout(d, layout, nullptr); });
  return layout;
}

VkDescriptorSet CreateSet(Device& device, VkDescriptorSetLayout layout, const Buffer& buffer) {
  const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
  VkDescriptorPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pool_info.maxSets = 1;
  pool_info.poolSizeCount = 1;
  pool_info.pPoolSizes = &size;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  Check(vkCreateDescriptorPool(device.device(), &pool_info, nullptr, &pool),
        "vkCreateDescriptorPool");
  device.Own([d = device.device(), pool] { vkDestroyDescriptorPool(d, pool, nullptr); });
  VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = pool;
  info.descriptorSetCount = 1;
  info.pSetLayouts = &layout;
  VkDescriptorSet set = VK_NULL_HANDLE;
  Check(vkAllocateDescriptorSets(device.device(), &info, &set), "vkAllocateDescriptorSets");
  const VkDescriptorBufferInfo range = {buffer.buffer, 0, VK_WHOLE_SIZE};
  VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set;
  write.descriptorCount = 1;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = &range;
  vkUpdateDescriptorSets(device.device(), 1, &write, 0, nullptr);
  return set;
}

VkPipelineLayout CreateLayout(Device& device, VkShaderStageFlags stages,
                              const VkDescriptorSetLayout* set_layout) {
  const VkPushConstantRange range = {stages, 0, kMaxConstantsBytes};
  VkPipelineLayoutCreateInfo info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.setLayoutCount = set_layout != nullptr ? 1 : 0;
  info.pSetLayouts = set_layout;
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &range;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  Check(vkCreatePipelineLayout(device.device(), &info, nullptr, &layout), "vkCreatePipelineLayout");
  device.Own([d = device.device(), layout] { vkDestroyPipelineLayout(d, layout, nullptr); });
  return layout;
}

void Name(Device& device, const char* name, const Telling::ShaderNames& shaders,
          Pipeline* pipeline) {
  pipeline->told = device.telling().Name(pipeline->pipeline, name, shaders);
  device.Own([d = device.device(), p = pipeline->pipeline] { vkDestroyPipeline(d, p, nullptr); });
}

VkPipelineShaderStageCreateInfo Stage(VkShaderStageFlagBits stage, VkShaderModule module) {
  VkPipelineShaderStageCreateInfo info = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
  info.stage = stage;
  info.module = module;
  info.pName = "main";
  return info;
}

void ImageBarrier(const List& list, VkImage image, VkImageLayout from, VkImageLayout to) {
  VkImageMemoryBarrier barrier = {VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.oldLayout = from;
  barrier.newLayout = to;
  barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image;
  barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  vkCmdPipelineBarrier(list.commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                       VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, nullptr, 0, nullptr, 1, &barrier);
}

void MemoryBarrier(const List& list, VkPipelineStageFlags from, VkAccessFlags written) {
  VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = written;
  barrier.dstAccessMask =
      VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT;
  vkCmdPipelineBarrier(list.commands, from,
                       VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                       &barrier, 0, nullptr, 0, nullptr);
}

}  // namespace

Pipeline CreateComputePipeline(Device& device, const char* name, const Shader& shader,
                               const Buffer& buffer) {
  const VkDescriptorSetLayout set_layout = CreateSetLayout(device, VK_SHADER_STAGE_COMPUTE_BIT);
  Pipeline pipeline;
  pipeline.buffer_set = CreateSet(device, set_layout, buffer);
  pipeline.layout = CreateLayout(device, VK_SHADER_STAGE_COMPUTE_BIT, &set_layout);
  const VkShaderModule module = CreateModule(device.device(), shader);
  VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage = Stage(VK_SHADER_STAGE_COMPUTE_BIT, module);
  info.layout = pipeline.layout;
  Check(vkCreateComputePipelines(device.device(), VK_NULL_HANDLE, 1, &info, nullptr,
                                 &pipeline.pipeline),
        "vkCreateComputePipelines");
  vkDestroyShaderModule(device.device(), module, nullptr);
  Name(device, name, {.compute = shader.name}, &pipeline);
  return pipeline;
}

void BindForDispatch(const List& list, const Pipeline& pipeline, const void* constants,
                     uint32_t constants_bytes) {
  vkCmdBindPipeline(list.commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.pipeline);
  vkCmdBindDescriptorSets(list.commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0, 1,
                          &pipeline.buffer_set, 0, nullptr);
  vkCmdPushConstants(list.commands, pipeline.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                     constants_bytes, constants);
  if (list.telling != nullptr) list.telling->UsePipeline(list.recording, pipeline.told);
}

void BarrierAfterDispatch(const List& list) {
  MemoryBarrier(list, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT);
}

void Dispatch(const List& list, const char* name, const Pipeline& pipeline, const void* constants,
              uint32_t constants_bytes, uint32_t group_count) {
  BindForDispatch(list, pipeline, constants, constants_bytes);
  {
    Scope scope(list, CAIRN_MARKER_DISPATCH, name);
    vkCmdDispatch(list.commands, group_count, 1, 1);
  }
  BarrierAfterDispatch(list);
}

Pipeline CreateFillPipeline(Device& device, const Buffer& buffer) {
  return CreateComputePipeline(device, "Fill", {kFillCompSpv, sizeof(kFillCompSpv), "FillCS"},
                               buffer);
}

void DispatchFill(const List& list, const char* name, const Pipeline& pipeline,
                  const FillConstants& constants) {
  Dispatch(list, name, pipeline, &constants, sizeof(constants),
           (constants.count + kFillGroupSize - 1) / kFillGroupSize);
}

bool Filled(const Buffer& buffer, const FillConstants& constants) {
  for (uint32_t i = 0; i < constants.count; ++i) {
    if (buffer.words[constants.first + i] != constants.value + i) return false;
  }
  return true;
}

Picture::Picture(Device& device, uint32_t width, uint32_t height)
    : width_(width), height_(height), pixels_(device.CreateBuffer(width * height)) {
  const VkDevice d = device.device();
  VkImageCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = kPictureFormat;
  info.extent = {width, height, 1};
  info.mipLevels = 1;
  info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  Check(vkCreateImage(d, &info, nullptr, &image_), "vkCreateImage");
  VkMemoryRequirements needs = {};
  vkGetImageMemoryRequirements(d, image_, &needs);
  VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex =
      device.FindMemory(needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  VkDeviceMemory memory = VK_NULL_HANDLE;
  Check(vkAllocateMemory(d, &allocation, nullptr, &memory), "vkAllocateMemory");
  Check(vkBindImageMemory(d, image_, memory, 0), "vkBindImageMemory");
  VkImageViewCreateInfo view = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view.image = image_;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = info.format;
  view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  Check(vkCreateImageView(d, &view, nullptr, &view_), "vkCreateImageView");
  device.Own([d, memory, image = image_, view = view_] {
    vkDestroyImageView(d, view, nullptr);
    vkDestroyImage(d, image, nullptr);
    vkFreeMemory(d, memory, nullptr);
  });
}

void Picture::Begin(const List& list, VkRenderingFlags flags) {
  ImageBarrier(list, image_, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
  VkRenderingAttachmentInfo attachment = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
  attachment.imageView = view_;
  attachment.imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
  attachment.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  attachment.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  attachment.clearValue.color.float32[3] = 1.0f;
  VkRenderingInfo info = {VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.flags = flags;
  info.renderArea = {{0, 0}, {width_, height_}};
  info.layerCount = 1;
  info.colorAttachmentCount = 1;
  info.pColorAttachments = &attachment;
  vkCmdBeginRendering(list.commands, &info);
  if (list.telling != nullptr) list.telling->EnterRenderPass(list.recording);
}

void Picture::End(const List& list) {
  vkCmdEndRendering(list.commands);
  if (list.telling != nullptr) list.telling->LeaveRenderPass(list.recording);
}

void Picture::CopyToCpu(const List& list) {
  ImageBarrier(list, image_, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
               VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
  {
    Scope scope(list, CAIRN_MARKER_COPY_IMAGE_TO_BUFFER, "Picture to CPU");
    VkBufferImageCopy region = {};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {width_, height_, 1};
    vkCmdCopyImageToBuffer(list.commands, image_, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           pixels_.buffer, 1, &region);
  }
  MemoryBarrier(list, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
}

std::string Picture::WritePng(const std::string& path) const {
  return ::WritePng(path, width_, height_, width_ * sizeof(uint32_t),
                    reinterpret_cast<const std::byte*>(pixels_.words));
}

Pipeline CreateGraphicsPipeline(Device& device, const char* name, const Shader& vertex,
                                const Shader& pixel, uint32_t width, uint32_t height,
                                const Buffer* storage) {
  const VkDevice d = device.device();
  Pipeline pipeline;
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
  if (storage != nullptr) {
    set_layout = CreateSetLayout(device, VK_SHADER_STAGE_FRAGMENT_BIT);
    pipeline.buffer_set = CreateSet(device, set_layout, *storage);
  }
  pipeline.layout = CreateLayout(device, VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT,
                                 storage != nullptr ? &set_layout : nullptr);
  const VkShaderModule modules[] = {CreateModule(d, vertex), CreateModule(d, pixel)};
  const VkPipelineShaderStageCreateInfo stages[] = {
      Stage(VK_SHADER_STAGE_VERTEX_BIT, modules[0]),
      Stage(VK_SHADER_STAGE_FRAGMENT_BIT, modules[1])};
  const VkPipelineVertexInputStateCreateInfo input = {
      VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  VkPipelineInputAssemblyStateCreateInfo assembly = {
      VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
  assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  const VkViewport view = {0, 0, static_cast<float>(width), static_cast<float>(height), 0, 1};
  const VkRect2D scissor = {{0, 0}, {width, height}};
  VkPipelineViewportStateCreateInfo viewport = {
      VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
  viewport.viewportCount = viewport.scissorCount = 1;
  viewport.pViewports = &view;
  viewport.pScissors = &scissor;
  VkPipelineRasterizationStateCreateInfo raster = {
      VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  raster.lineWidth = 1.0f;
  VkPipelineMultisampleStateCreateInfo samples = {
      VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
  VkPipelineColorBlendAttachmentState target = {};
  target.colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                          VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT;
  VkPipelineColorBlendStateCreateInfo blend = {
      VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
  blend.attachmentCount = 1;
  blend.pAttachments = &target;
  VkPipelineRenderingCreateInfo rendering = {VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachmentFormats = &kPictureFormat;
  VkGraphicsPipelineCreateInfo info = {VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
  info.pNext = &rendering;
  info.stageCount = 2;
  info.pStages = stages;
  info.pVertexInputState = &input;
  info.pInputAssemblyState = &assembly;
  info.pViewportState = &viewport;
  info.pRasterizationState = &raster;
  info.pMultisampleState = &samples;
  info.pColorBlendState = &blend;
  info.layout = pipeline.layout;
  Check(vkCreateGraphicsPipelines(d, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline.pipeline),
        "vkCreateGraphicsPipelines");
  for (VkShaderModule module : modules) vkDestroyShaderModule(d, module, nullptr);
  Name(device, name, {.vertex = vertex.name, .pixel = pixel.name}, &pipeline);
  return pipeline;
}

}  // namespace sample
