// SPDX-License-Identifier: Apache-2.0
#include "rig.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "embedded/hang.frag.spv.h"
#include "embedded/solid.frag.spv.h"
#include "embedded/solid.vert.spv.h"

namespace exact {

void Fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(2);
}

void Check(VkResult result, const char* call) {
  if (result == VK_SUCCESS) return;
  Fail(std::string(call) + " returned " + std::to_string(result));
}

Rig::Rig() {
  MakeInstance();
  ChooseDevice();
  MakeDevice();
  VkCommandPoolCreateInfo pool = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.queueFamilyIndex = family_;
  Check(vkCreateCommandPool(device_, &pool, nullptr, &pool_), "vkCreateCommandPool");
  Later([this] { vkDestroyCommandPool(device_, pool_, nullptr); });
  const VkPushConstantRange range = {VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                                     sizeof(Draw)};
  VkPipelineLayoutCreateInfo layout = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
  Check(vkCreatePipelineLayout(device_, &layout, nullptr, &draw_layout_), "vkCreatePipelineLayout");
  Later([this] { vkDestroyPipelineLayout(device_, draw_layout_, nullptr); });
}

Rig::~Rig() {
  vkDeviceWaitIdle(device_);
  for (; !later_.empty(); later_.pop_back()) later_.back()();
  vkDestroyDevice(device_, nullptr);
  vkDestroyInstance(instance_, nullptr);
}

void Rig::MakeInstance() {
  VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = VK_API_VERSION_1_3;
  const char* const debug_utils = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  info.enabledExtensionCount = 1;
  info.ppEnabledExtensionNames = &debug_utils;
  Check(vkCreateInstance(&info, nullptr, &instance_), "vkCreateInstance");
}

void Rig::ChooseDevice() {
  uint32_t count = 1;
  vkEnumeratePhysicalDevices(instance_, &count, &physical_device_);
  if (count == 0) Fail("no Vulkan device");
  std::vector<VkQueueFamilyProperties> families(16);
  uint32_t family_count = 16;
  vkGetPhysicalDeviceQueueFamilyProperties(physical_device_, &family_count, families.data());
  constexpr VkQueueFlags kBoth = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
  while (family_ < family_count && (families[family_].queueFlags & kBoth) != kBoth) ++family_;
  if (family_ == family_count) Fail("no queue draws and dispatches");
}

void Rig::MakeDevice() {
  uint32_t count = 0;
  vkEnumerateDeviceExtensionProperties(physical_device_, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateDeviceExtensionProperties(physical_device_, nullptr, &count, extensions.data());
  const char* const push = VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
  bool has_push = false;
  for (const auto& extension : extensions)
    has_push |= std::strcmp(extension.extensionName, push) == 0;

  VkPhysicalDeviceVulkan12Features features12 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  features12.imagelessFramebuffer = VK_TRUE;
  VkPhysicalDeviceVulkan13Features features13 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, &features12};
  features13.dynamicRendering = VK_TRUE;
  const float priority = 1;
  VkDeviceQueueCreateInfo queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features13};
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = has_push ? 1 : 0;
  info.ppEnabledExtensionNames = &push;
  Check(vkCreateDevice(physical_device_, &info, nullptr, &device_), "vkCreateDevice");
  vkGetDeviceQueue(device_, family_, 0, &queue_);
  const auto get = [this](const char* name) { return vkGetDeviceProcAddr(device_, name); };
  if (has_push) {
    push_descriptor_set_ =
        reinterpret_cast<PFN_vkCmdPushDescriptorSetKHR>(get("vkCmdPushDescriptorSetKHR"));
  }
  begin_label_ =
      reinterpret_cast<PFN_vkCmdBeginDebugUtilsLabelEXT>(get("vkCmdBeginDebugUtilsLabelEXT"));
  end_label_ = reinterpret_cast<PFN_vkCmdEndDebugUtilsLabelEXT>(get("vkCmdEndDebugUtilsLabelEXT"));
  set_name_ =
      reinterpret_cast<PFN_vkSetDebugUtilsObjectNameEXT>(get("vkSetDebugUtilsObjectNameEXT"));
}

uint32_t Rig::FindMemory(uint32_t allowed, VkMemoryPropertyFlags needed) const {
  VkPhysicalDeviceMemoryProperties memory = {};
  vkGetPhysicalDeviceMemoryProperties(physical_device_, &memory);
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    if ((allowed >> i & 1) != 0 && (memory.memoryTypes[i].propertyFlags & needed) == needed) {
      return i;
    }
  }
  Fail("no memory of the kind that is needed");
}

Image Rig::MakeImage(VkFormat format, VkImageUsageFlags usage, VkSampleCountFlagBits samples) {
  VkImageCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = format;
  info.extent = {kSize, kSize, 1};
  info.mipLevels = 1;
  info.arrayLayers = 1;
  info.samples = samples;
  info.usage = usage;
  Image made;
  Check(vkCreateImage(device_, &info, nullptr, &made.image), "vkCreateImage");
  VkMemoryRequirements needs = {};
  vkGetImageMemoryRequirements(device_, made.image, &needs);
  VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex =
      FindMemory(needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  VkDeviceMemory memory = VK_NULL_HANDLE;
  Check(vkAllocateMemory(device_, &allocation, nullptr, &memory), "vkAllocateMemory");
  Check(vkBindImageMemory(device_, made.image, memory, 0), "vkBindImageMemory");
  VkImageViewCreateInfo view = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view.image = made.image;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = format;
  view.subresourceRange = kColourRange;
  if (format == kDepth) view.subresourceRange.aspectMask = VK_IMAGE_ASPECT_DEPTH_BIT;
  Check(vkCreateImageView(device_, &view, nullptr, &made.view), "vkCreateImageView");
  Later([this, made, memory] {
    vkDestroyImageView(device_, made.view, nullptr);
    vkDestroyImage(device_, made.image, nullptr);
    vkFreeMemory(device_, memory, nullptr);
  });
  return made;
}

Buffer Rig::MakeBuffer(uint32_t word_count) {
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = word_count * sizeof(uint32_t);
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  Buffer made;
  made.word_count = word_count;
  Check(vkCreateBuffer(device_, &info, nullptr, &made.buffer), "vkCreateBuffer");
  VkMemoryRequirements needs = {};
  vkGetBufferMemoryRequirements(device_, made.buffer, &needs);
  VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex =
      FindMemory(needs.memoryTypeBits,
                 VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
  VkDeviceMemory memory = VK_NULL_HANDLE;
  Check(vkAllocateMemory(device_, &allocation, nullptr, &memory), "vkAllocateMemory");
  Check(vkBindBufferMemory(device_, made.buffer, memory, 0), "vkBindBufferMemory");
  void* mapped = nullptr;
  Check(vkMapMemory(device_, memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
  std::memset(mapped, 0, info.size);
  made.words = static_cast<uint32_t*>(mapped);
  Later([this, made, memory] {
    vkDestroyBuffer(device_, made.buffer, nullptr);
    vkFreeMemory(device_, memory, nullptr);
  });
  return made;
}

VkShaderModule Rig::MakeShader(const unsigned char* bytes, size_t size_bytes) {
  VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = size_bytes;
  info.pCode = reinterpret_cast<const uint32_t*>(bytes);
  VkShaderModule module = VK_NULL_HANDLE;
  Check(vkCreateShaderModule(device_, &info, nullptr, &module), "vkCreateShaderModule");
  Later([this, module] { vkDestroyShaderModule(device_, module, nullptr); });
  return module;
}

namespace {

VkPipelineShaderStageCreateInfo Stage(VkShaderStageFlagBits stage, VkShaderModule module) {
  VkPipelineShaderStageCreateInfo info = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
  info.stage = stage;
  info.module = module;
  info.pName = "main";
  return info;
}

// The state that all draws share.
struct FixedState {
  VkPipelineVertexInputStateCreateInfo vertex = {
      VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  VkPipelineInputAssemblyStateCreateInfo assembly = {
      VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
  VkPipelineViewportStateCreateInfo viewport = {
      VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
  VkPipelineRasterizationStateCreateInfo raster = {
      VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  VkPipelineColorBlendAttachmentState blend = {};
  VkPipelineColorBlendStateCreateInfo colour = {
      VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
  VkDynamicState states[2] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
  VkPipelineDynamicStateCreateInfo dynamic = {VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};

  FixedState() {
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    viewport.viewportCount = 1;
    viewport.scissorCount = 1;
    raster.lineWidth = 1;
    blend.blendEnable = VK_TRUE;
    blend.srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA;
    blend.dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
    blend.srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE;
    blend.dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
    blend.colorWriteMask = 15;
    colour.attachmentCount = 1;
    colour.pAttachments = &blend;
    dynamic.dynamicStateCount = 2;
    dynamic.pDynamicStates = states;
  }
  FixedState(const FixedState&) = delete;
};

}  // namespace

VkPipeline Rig::MakeDrawPipeline(const DrawPipeline& desc) {
  const VkPipelineShaderStageCreateInfo stages[2] = {
      Stage(VK_SHADER_STAGE_VERTEX_BIT, MakeShader(kSolidVertSpv, sizeof(kSolidVertSpv))),
      Stage(VK_SHADER_STAGE_FRAGMENT_BIT, desc.slow
                                              ? MakeShader(kHangFragSpv, sizeof(kHangFragSpv))
                                              : MakeShader(kSolidFragSpv, sizeof(kSolidFragSpv)))};
  const FixedState fixed;
  VkPipelineMultisampleStateCreateInfo samples = {
      VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  samples.rasterizationSamples = desc.samples;
  VkPipelineDepthStencilStateCreateInfo depth = {
      VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
  depth.depthTestEnable = desc.depth;
  depth.depthWriteEnable = desc.depth;
  depth.depthCompareOp = VK_COMPARE_OP_LESS;
  VkPipelineRenderingCreateInfo rendering = {VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachmentFormats = &kColour;
  rendering.depthAttachmentFormat = desc.depth ? kDepth : VK_FORMAT_UNDEFINED;
  VkGraphicsPipelineCreateInfo info = {VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
  if (desc.render_pass == VK_NULL_HANDLE) info.pNext = &rendering;
  info.stageCount = 2;
  info.pStages = stages;
  info.pVertexInputState = &fixed.vertex;
  info.pInputAssemblyState = &fixed.assembly;
  info.pViewportState = &fixed.viewport;
  info.pRasterizationState = &fixed.raster;
  info.pMultisampleState = &samples;
  info.pDepthStencilState = &depth;
  info.pColorBlendState = &fixed.colour;
  info.pDynamicState = &fixed.dynamic;
  info.layout = draw_layout_;
  info.renderPass = desc.render_pass;
  info.subpass = desc.subpass;
  VkPipeline pipeline = VK_NULL_HANDLE;
  Check(vkCreateGraphicsPipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
        "vkCreateGraphicsPipelines");
  Later([this, pipeline] { vkDestroyPipeline(device_, pipeline, nullptr); });
  return pipeline;
}

VkCommandBuffer Rig::Allocate(VkCommandBufferLevel level) {
  VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pool_;
  info.level = level;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  Check(vkAllocateCommandBuffers(device_, &info, &commands), "vkAllocateCommandBuffers");
  return commands;
}

void Rig::Run(const std::function<void(VkCommandBuffer)>& record) {
  const VkCommandBuffer commands = Allocate();
  const VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                          VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, nullptr};
  Check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  record(commands);
  Check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  Submit({commands});
}

void Rig::Submit(const std::vector<VkCommandBuffer>& commands) {
  VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = static_cast<uint32_t>(commands.size());
  submit.pCommandBuffers = commands.data();
  Check(vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
  Check(vkQueueWaitIdle(queue_), "vkQueueWaitIdle");
}

void Rig::Label(VkCommandBuffer commands, const char* name) const {
  if (name == nullptr) return end_label_(commands);
  const VkDebugUtilsLabelEXT label = {VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, nullptr, name, {}};
  begin_label_(commands, &label);
}

void Rig::Name(VkPipeline pipeline, const char* name) const {
  VkDebugUtilsObjectNameInfoEXT info = {VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
  info.objectType = VK_OBJECT_TYPE_PIPELINE;
  info.objectHandle = reinterpret_cast<uint64_t>(pipeline);
  info.pObjectName = name;
  set_name_(device_, &info);
}

void SetViewport(VkCommandBuffer commands) {
  const VkViewport viewport = {0, 0, kSize, kSize, 0, 1};
  const VkRect2D scissor = {{0, 0}, {kSize, kSize}};
  vkCmdSetViewport(commands, 0, 1, &viewport);
  vkCmdSetScissor(commands, 0, 1, &scissor);
}

void DrawOne(VkCommandBuffer commands, const Rig& rig, const Draw& draw) {
  vkCmdPushConstants(commands, rig.draw_layout(),
                     VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof(draw),
                     &draw);
  vkCmdDraw(commands, 3, 1, 0, 0);
}

void DrawFive(VkCommandBuffer commands, const Rig& rig) {
  for (int i = 0; i < 5; ++i) {
    const float shift = 0.15f * static_cast<float>(i - 2);
    const float shade = 0.2f * static_cast<float>(i + 1);
    DrawOne(commands, rig, {shift, -shift, 0.7f, 0.7f, shade, 1 - shade, 0.5f * shade, 0.6f});
  }
}

void ImageBarrier(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to,
                  VkImageAspectFlags aspect) {
  VkImageMemoryBarrier barrier = {VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.oldLayout = from;
  barrier.newLayout = to;
  barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image;
  barrier.subresourceRange = {aspect, 0, 1, 0, 1};
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                       VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, nullptr, 0, nullptr, 1, &barrier);
}

void CopyToBuffer(VkCommandBuffer commands, VkImage image, const Buffer& buffer) {
  VkBufferImageCopy region = {};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.imageExtent = {kSize, kSize, 1};
  vkCmdCopyImageToBuffer(commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer.buffer, 1,
                         &region);
  const VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr,
                                   VK_ACCESS_TRANSFER_WRITE_BIT, VK_ACCESS_HOST_READ_BIT};
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                       &barrier, 0, nullptr, 0, nullptr);
}

}  // namespace exact
