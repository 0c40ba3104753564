// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_busy_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "app/breadcrumbs/vulkan_draw_states.h"
#include "embedded/busy.comp.spv.h"
#include "embedded/busy.frag.spv.h"
#include "embedded/busy.vert.spv.h"

namespace cairn {
namespace {

constexpr VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;  // every device renders to it
constexpr VkDeviceSize kResultBytes = sizeof(uint32_t);
constexpr VkDeviceSize kBytesOfTrip = 1024;  // of a copy

}  // namespace

// A creation with its destruction, in the terms of VulkanBusyWork's members.
#define CAIRN_CREATE(Object, handle, ...)                                                   \
  do {                                                                                      \
    CAIRN_RETURN_IF_ERROR(                                                                  \
        VulkanStatus("vkCreate" #Object, vk_.Create##Object(device_.device, __VA_ARGS__))); \
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
  LoadDeviceFunctions(device_.device, device_.vk.GetDeviceProcAddr, &vk_);
#define CAIRN_NEEDS(name)                                                  \
  if (vk_.name == nullptr) {                                               \
    return Status(StatusCode::kUnsupported, "the driver has no vk" #name); \
  }
  CAIRN_NEEDS(AllocateDescriptorSets)
  CAIRN_NEEDS(BindImageMemory)
  CAIRN_NEEDS(CmdBeginRenderPass)
  CAIRN_NEEDS(CmdBindDescriptorSets)
  CAIRN_NEEDS(CmdBindPipeline)
  CAIRN_NEEDS(CmdDispatch)
  CAIRN_NEEDS(CmdDraw)
  CAIRN_NEEDS(CmdEndRenderPass)
  CAIRN_NEEDS(CmdPushConstants)
  CAIRN_NEEDS(CreateComputePipelines)
  CAIRN_NEEDS(CreateDescriptorPool)
  CAIRN_NEEDS(CreateDescriptorSetLayout)
  CAIRN_NEEDS(CreateFramebuffer)
  CAIRN_NEEDS(CreateGraphicsPipelines)
  CAIRN_NEEDS(CreateImage)
  CAIRN_NEEDS(CreateImageView)
  CAIRN_NEEDS(CreatePipelineLayout)
  CAIRN_NEEDS(CreateRenderPass)
  CAIRN_NEEDS(CreateShaderModule)
  CAIRN_NEEDS(GetImageMemoryRequirements)
  CAIRN_NEEDS(UpdateDescriptorSets)
#undef CAIRN_NEEDS
  return Status();
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
  CAIRN_RETURN_IF_ERROR(VulkanStatus(
      "vkAllocateMemory", device_.vk.AllocateMemory(device_.device, &info, nullptr, &memory)));
  Later([this, memory] { device_.vk.FreeMemory(device_.device, memory, nullptr); });
  return memory;
}

Status VulkanBusyWork::CreateResultBuffer() {
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = kResultBytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  CAIRN_RETURN_IF_ERROR(VulkanStatus(
      "vkCreateBuffer", device_.vk.CreateBuffer(device_.device, &info, nullptr, &result_)));
  Later([this] { device_.vk.DestroyBuffer(device_.device, result_, nullptr); });
  VkMemoryRequirements needs = {};
  device_.vk.GetBufferMemoryRequirements(device_.device, result_, &needs);
  Result<VkDeviceMemory> memory = AllocateMemory(needs);
  if (!memory.ok()) return memory.status();
  return VulkanStatus("vkBindBufferMemory",
                      device_.vk.BindBufferMemory(device_.device, result_, *memory, 0));
}

Status VulkanBusyWork::CreateDispatch() {
  CAIRN_RETURN_IF_ERROR(CreateResultBuffer());
  Later([this] { dispatch_.Destroy(vk_, device_.device); });
  return dispatch_.Create(vk_, device_.device, kBusyCompSpv, sizeof(kBusyCompSpv), result_,
                          sizeof(uint32_t));
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
      VulkanStatus("vkBindImageMemory", vk_.BindImageMemory(device_.device, image, *memory, 0)));
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
  const VkPushConstantRange range = {VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof(uint32_t)};
  VkPipelineLayoutCreateInfo layout = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
  CAIRN_CREATE(PipelineLayout, layout_, &layout, nullptr, &layout_);
  VkShaderModule shaders[2] = {};
  const std::span<const unsigned char> codes[2] = {kBusyVertSpv, kBusyFragSpv};
  for (size_t i = 0; i < 2; ++i) {
    const Result<VkShaderModule> shader =
        CreateShader(vk_, device_.device, codes[i].data(), codes[i].size());
    if (!shader.ok()) return shader.status();
    shaders[i] = *shader;
    Later([this, owned = *shader] { vk_.DestroyShaderModule(device_.device, owned, nullptr); });
  }
  VulkanDrawStates states(size_, shaders[0], shaders[1], layout_);
  states.info.renderPass = render_pass_;
  CAIRN_RETURN_IF_ERROR(VulkanStatus(
      "vkCreateGraphicsPipelines", vk_.CreateGraphicsPipelines(device_.device, VK_NULL_HANDLE, 1,
                                                               &states.info, nullptr, &pipeline_)));
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
    dispatch_.Bind(vk_, commands);
    vk_.CmdPushConstants(commands, dispatch_.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                         sizeof(trips), &trips);
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
