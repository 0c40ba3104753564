// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_busy_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "embedded/busy.comp.spv.h"
#include "embedded/busy.frag.spv.h"
#include "embedded/busy.vert.spv.h"

namespace cairn {
namespace {

constexpr VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;  // every device renders to it
constexpr VkDeviceSize kResultBytes = sizeof(uint32_t);
constexpr VkDeviceSize kBytesOfTrip = 1024;  // of a copy

Status Check(const char* call, VkResult result) {
  if (result == VK_SUCCESS) return Status();
  return Status(result == VK_ERROR_DEVICE_LOST ? StatusCode::kDeviceLost : StatusCode::kUnsupported,
                fmt::format("{} returned {}", call, VulkanResultName(result)));
}

}  // namespace

// A creation with its destruction, in the terms of VulkanBusyWork's members.
#define CAIRN_CREATE(Object, handle, ...)                                                   \
  do {                                                                                      \
    CAIRN_RETURN_IF_ERROR(                                                                  \
        Check("vkCreate" #Object, vk_.Create##Object(device_.device, __VA_ARGS__)));        \
    Later([this, owned = handle] { vk_.Destroy##Object(device_.device, owned, nullptr); }); \
  } while (false)

Result<std::unique_ptr<VulkanBusyWork>> VulkanBusyWork::Create(const VulkanDevice& device,
                                                               BusyKind kind, uint32_t size) {
  std::unique_ptr<VulkanBusyWork> work(new VulkanBusyWork(device, size));
  CAIRN_RETURN_IF_ERROR(work->Load());
  switch (kind) {
    case BusyKind::kDispatch: CAIRN_RETURN_IF_ERROR(work->CreateDispatch()); break;
    case BusyKind::kDraw: CAIRN_RETURN_IF_ERROR(work->CreateDraw()); break;
    case BusyKind::kCopy: {
      Result<VulkanBuffer> buffer =
          VulkanBuffer::CreateHostVisible(device, 2 * kMostTrips * kBytesOfTrip);
      if (!buffer.ok()) return buffer.status();
      work->copied_ = std::move(*buffer);
    }
  }
  return work;
}

VulkanBusyWork::~VulkanBusyWork() {
  std::for_each(destroy_.rbegin(), destroy_.rend(), [](const auto& destroy) { destroy(); });
}

Status VulkanBusyWork::Load() {
  const char* missing = nullptr;
  const auto load = [this, &missing](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        device_.vk.GetDeviceProcAddr(device_.device, name));
    if (function == nullptr) missing = name;
  };
#define CAIRN_LOAD(name) load(vk_.name, "vk" #name)
  CAIRN_LOAD(AllocateDescriptorSets);
  CAIRN_LOAD(BindImageMemory);
  CAIRN_LOAD(CmdBeginRenderPass);
  CAIRN_LOAD(CmdBindDescriptorSets);
  CAIRN_LOAD(CmdBindPipeline);
  CAIRN_LOAD(CmdDispatch);
  CAIRN_LOAD(CmdDraw);
  CAIRN_LOAD(CmdEndRenderPass);
  CAIRN_LOAD(CmdPushConstants);
  CAIRN_LOAD(CreateComputePipelines);
  CAIRN_LOAD(CreateDescriptorPool);
  CAIRN_LOAD(CreateDescriptorSetLayout);
  CAIRN_LOAD(CreateFramebuffer);
  CAIRN_LOAD(CreateGraphicsPipelines);
  CAIRN_LOAD(CreateImage);
  CAIRN_LOAD(CreateImageView);
  CAIRN_LOAD(CreatePipelineLayout);
  CAIRN_LOAD(CreateRenderPass);
  CAIRN_LOAD(CreateShaderModule);
  CAIRN_LOAD(DestroyDescriptorPool);
  CAIRN_LOAD(DestroyDescriptorSetLayout);
  CAIRN_LOAD(DestroyFramebuffer);
  CAIRN_LOAD(DestroyImage);
  CAIRN_LOAD(DestroyImageView);
  CAIRN_LOAD(DestroyPipeline);
  CAIRN_LOAD(DestroyPipelineLayout);
  CAIRN_LOAD(DestroyRenderPass);
  CAIRN_LOAD(DestroyShaderModule);
  CAIRN_LOAD(GetImageMemoryRequirements);
  CAIRN_LOAD(UpdateDescriptorSets);
#undef CAIRN_LOAD
  return missing == nullptr
             ? Status()
             : Status(StatusCode::kUnsupported, fmt::format("the driver has no {}", missing));
}

Result<VkDeviceMemory> VulkanBusyWork::AllocateMemory(const VkMemoryRequirements& needs) {
  constexpr VkMemoryPropertyFlags kRefused = VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD |
                                             VK_MEMORY_PROPERTY_PROTECTED_BIT |
                                             VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT;
  VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  info.allocationSize = needs.size;
  while (info.memoryTypeIndex < device_.memory_properties.memoryTypeCount &&
         ((needs.memoryTypeBits >> info.memoryTypeIndex & 1) == 0 ||
          (device_.memory_properties.memoryTypes[info.memoryTypeIndex].propertyFlags & kRefused) !=
              0)) {
    ++info.memoryTypeIndex;
  }
  VkDeviceMemory memory = VK_NULL_HANDLE;
  CAIRN_RETURN_IF_ERROR(Check("vkAllocateMemory",
                              device_.vk.AllocateMemory(device_.device, &info, nullptr, &memory)));
  Later([this, memory] { device_.vk.FreeMemory(device_.device, memory, nullptr); });
  return memory;
}

Result<VkShaderModule> VulkanBusyWork::CreateShader(const unsigned char* code, size_t size_bytes) {
  VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = size_bytes;
  info.pCode = reinterpret_cast<const uint32_t*>(code);
  VkShaderModule shader = VK_NULL_HANDLE;
  CAIRN_CREATE(ShaderModule, shader, &info, nullptr, &shader);
  return shader;
}

Status VulkanBusyWork::CreateLayout(VkDescriptorSetLayout set_layout, VkShaderStageFlags stages) {
  const VkPushConstantRange range = {stages, 0, sizeof(uint32_t)};
  VkPipelineLayoutCreateInfo info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.setLayoutCount = set_layout != VK_NULL_HANDLE ? 1 : 0;
  info.pSetLayouts = &set_layout;
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &range;
  CAIRN_CREATE(PipelineLayout, layout_, &info, nullptr, &layout_);
  return Status();
}

Status VulkanBusyWork::CreateResultBuffer() {
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = kResultBytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  CAIRN_RETURN_IF_ERROR(
      Check("vkCreateBuffer", device_.vk.CreateBuffer(device_.device, &info, nullptr, &result_)));
  Later([this] { device_.vk.DestroyBuffer(device_.device, result_, nullptr); });
  VkMemoryRequirements needs = {};
  device_.vk.GetBufferMemoryRequirements(device_.device, result_, &needs);
  Result<VkDeviceMemory> memory = AllocateMemory(needs);
  if (!memory.ok()) return memory.status();
  return Check("vkBindBufferMemory",
               device_.vk.BindBufferMemory(device_.device, result_, *memory, 0));
}

Status VulkanBusyWork::CreateDispatch() {
  CAIRN_RETURN_IF_ERROR(CreateResultBuffer());
  const VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  VkDescriptorSetLayoutCreateInfo layout_info = {
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  layout_info.bindingCount = 1;
  layout_info.pBindings = &binding;
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
  CAIRN_CREATE(DescriptorSetLayout, set_layout, &layout_info, nullptr, &set_layout);
  const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
  VkDescriptorPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pool_info.maxSets = 1;
  pool_info.poolSizeCount = 1;
  pool_info.pPoolSizes = &size;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  CAIRN_CREATE(DescriptorPool, pool, &pool_info, nullptr, &pool);
  VkDescriptorSetAllocateInfo set_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  set_info.descriptorPool = pool;
  set_info.descriptorSetCount = 1;
  set_info.pSetLayouts = &set_layout;
  CAIRN_RETURN_IF_ERROR(Check("vkAllocateDescriptorSets",
                              vk_.AllocateDescriptorSets(device_.device, &set_info, &set_)));
  const VkDescriptorBufferInfo buffer = {result_, 0, kResultBytes};
  VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set_;
  write.descriptorCount = 1;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = &buffer;
  vk_.UpdateDescriptorSets(device_.device, 1, &write, 0, nullptr);
  CAIRN_RETURN_IF_ERROR(CreateLayout(set_layout, VK_SHADER_STAGE_COMPUTE_BIT));
  Result<VkShaderModule> shader = CreateShader(kBusyCompSpv, sizeof(kBusyCompSpv));
  if (!shader.ok()) return shader.status();
  VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = *shader;
  info.stage.pName = "main";
  info.layout = layout_;
  CAIRN_RETURN_IF_ERROR(Check(
      "vkCreateComputePipelines",
      vk_.CreateComputePipelines(device_.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline_)));
  Later([this] { vk_.DestroyPipeline(device_.device, pipeline_, nullptr); });
  return Status();
}

Status VulkanBusyWork::CreateTarget() {
  VkImageCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = kFormat;
  info.extent = {size_, size_, 1};
  info.mipLevels = 1;
  info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  VkImage image = VK_NULL_HANDLE;
  CAIRN_CREATE(Image, image, &info, nullptr, &image);
  VkMemoryRequirements needs = {};
  vk_.GetImageMemoryRequirements(device_.device, image, &needs);
  Result<VkDeviceMemory> memory = AllocateMemory(needs);
  if (!memory.ok()) return memory.status();
  CAIRN_RETURN_IF_ERROR(
      Check("vkBindImageMemory", vk_.BindImageMemory(device_.device, image, *memory, 0)));
  VkImageViewCreateInfo view = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view.image = image;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = kFormat;
  view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  CAIRN_CREATE(ImageView, target_, &view, nullptr, &target_);
  return Status();
}

Status VulkanBusyWork::CreateRenderPass() {
  VkAttachmentDescription attachment = {};
  attachment.format = kFormat;
  attachment.samples = VK_SAMPLE_COUNT_1_BIT;
  attachment.loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
  attachment.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  attachment.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
  attachment.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
  attachment.finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
  const VkAttachmentReference colour = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
  VkSubpassDescription subpass = {};
  subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
  subpass.colorAttachmentCount = 1;
  subpass.pColorAttachments = &colour;
  // Replaces the implicit dependency at the end, whose wait would be a barrier of its own.
  VkSubpassDependency dependency = {};
  dependency.dstSubpass = VK_SUBPASS_EXTERNAL;
  dependency.srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
  dependency.dstStageMask = VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT;
  VkRenderPassCreateInfo info = {VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  info.attachmentCount = 1;
  info.pAttachments = &attachment;
  info.subpassCount = 1;
  info.pSubpasses = &subpass;
  info.dependencyCount = 1;
  info.pDependencies = &dependency;
  CAIRN_CREATE(RenderPass, render_pass_, &info, nullptr, &render_pass_);
  VkFramebufferCreateInfo framebuffer = {VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
  framebuffer.renderPass = render_pass_;
  framebuffer.attachmentCount = 1;
  framebuffer.pAttachments = &target_;
  framebuffer.width = framebuffer.height = size_;
  framebuffer.layers = 1;
  CAIRN_CREATE(Framebuffer, framebuffer_, &framebuffer, nullptr, &framebuffer_);
  return Status();
}

Status VulkanBusyWork::CreateDraw() {
  CAIRN_RETURN_IF_ERROR(CreateTarget());
  CAIRN_RETURN_IF_ERROR(CreateRenderPass());
  CAIRN_RETURN_IF_ERROR(CreateLayout(VK_NULL_HANDLE, VK_SHADER_STAGE_FRAGMENT_BIT));
  Result<VkShaderModule> vertex = CreateShader(kBusyVertSpv, sizeof(kBusyVertSpv));
  if (!vertex.ok()) return vertex.status();
  Result<VkShaderModule> fragment = CreateShader(kBusyFragSpv, sizeof(kBusyFragSpv));
  if (!fragment.ok()) return fragment.status();
  VkPipelineShaderStageCreateInfo stages[2] = {
      {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO},
      {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO}};
  stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT;
  stages[0].module = *vertex;
  stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT;
  stages[1].module = *fragment;
  for (VkPipelineShaderStageCreateInfo& stage : stages) stage.pName = "main";
  const VkPipelineVertexInputStateCreateInfo input = {
      VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  VkPipelineInputAssemblyStateCreateInfo assembly = {
      VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
  assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  const float size = static_cast<float>(size_);
  const VkViewport whole = {0, 0, size, size, 0, 1};
  const VkRect2D area = {{0, 0}, {size_, size_}};
  VkPipelineViewportStateCreateInfo viewport = {
      VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
  viewport.viewportCount = viewport.scissorCount = 1;
  viewport.pViewports = &whole;
  viewport.pScissors = &area;
  VkPipelineRasterizationStateCreateInfo raster = {
      VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  raster.lineWidth = 1;
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
  VkGraphicsPipelineCreateInfo info = {VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
  info.stageCount = 2;
  info.pStages = stages;
  info.pVertexInputState = &input;
  info.pInputAssemblyState = &assembly;
  info.pViewportState = &viewport;
  info.pRasterizationState = &raster;
  info.pMultisampleState = &samples;
  info.pColorBlendState = &blend;
  info.layout = layout_;
  info.renderPass = render_pass_;
  CAIRN_RETURN_IF_ERROR(Check(
      "vkCreateGraphicsPipelines",
      vk_.CreateGraphicsPipelines(device_.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline_)));
  Later([this] { vk_.DestroyPipeline(device_.device, pipeline_, nullptr); });
  return Status();
}

#undef CAIRN_CREATE

void VulkanBusyWork::Record(VkCommandBuffer commands, uint32_t trips) const {
  trips = std::min(trips, kMostTrips);
  if (copied_.buffer() != VK_NULL_HANDLE) {
    const VkBufferCopy region = {0, kMostTrips * kBytesOfTrip, trips * kBytesOfTrip};
    device_.vk.CmdCopyBuffer(commands, copied_.buffer(), copied_.buffer(), 1, &region);
    return;
  }
  if (render_pass_ == VK_NULL_HANDLE) {
    vk_.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
    vk_.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set_, 0,
                              nullptr);
    vk_.CmdPushConstants(commands, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(trips), &trips);
    vk_.CmdDispatch(commands, size_, 1, 1);
    return;
  }
  VkRenderPassBeginInfo begin = {VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  begin.renderPass = render_pass_;
  begin.framebuffer = framebuffer_;
  begin.renderArea = {{0, 0}, {size_, size_}};
  vk_.CmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
  vk_.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline_);
  vk_.CmdPushConstants(commands, layout_, VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof(trips), &trips);
  vk_.CmdDraw(commands, 3, 1, 0, 0);
  vk_.CmdEndRenderPass(commands);
}

}  // namespace cairn
