// SPDX-License-Identifier: Apache-2.0
#include "truth/why/machine.h"

#include <chrono>

#include "app/breadcrumbs/vulkan_draw_states.h"
#include "embedded/crowd.comp.spv.h"
#include "embedded/step_zero.comp.spv.h"
#include "truth/why/command_line.h"

namespace cairn::truth::why {
namespace {

constexpr VkShaderStageFlags kAllStages =
    VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;
// Buffers of binding 3; shaders/descriptor_index.comp.
constexpr uint32_t kPages = 4;

VkShaderModule ModuleOf(VkDevice device, Shader shader) {
  VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = shader.code.size();
  info.pCode = reinterpret_cast<const uint32_t*>(shader.code.data());
  VkShaderModule module = VK_NULL_HANDLE;
  Check(vkCreateShaderModule(device, &info, nullptr, &module), "vkCreateShaderModule");
  return module;
}

// What the shaders of loops find: a list with a cycle, a table without an empty slot, a lock that is taken, bounds that
// nobody has written yet.
void FillWords(uint32_t* words) {
  for (uint32_t i = 0; i < 16; ++i) {
    words[kList + i] = i % 8 + 1;
    words[kTable + i] = 7;
  }
  words[kLock] = 1;
  words[kBound] = UINT32_MAX;
  words[kLink] = 0xBAD;
}

}  // namespace

Machine::Machine(const std::string& scripted) : gpu_(scripted, Pipelines::kNone) {
  words_ = gpu_.CreateBuffer(sizeof(uint32_t) * kWordCount, true, "Words");
  FillWords(static_cast<uint32_t*>(words_.mapped));
  uniforms_ = gpu_.CreateBuffer(256, true, "Uniforms");
  auto* const uniforms = static_cast<uint32_t*>(uniforms_.mapped);
  uniforms[0] = UINT32_MAX;
  uniforms[4 * kUniformBehind] = 0xBAD;
  CreateSet();
}

void Machine::CreateSet() {
  VkDescriptorSetLayoutBinding bindings[4] = {};
  for (uint32_t i = 0; i < 4; ++i) {
    bindings[i].binding = i;
    bindings[i].descriptorType =
        i == 1 ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    bindings[i].descriptorCount = i == 3 ? kPages : 1;
    bindings[i].stageFlags = kAllStages;
  }
  VkDescriptorSetLayoutCreateInfo layout = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  layout.bindingCount = 4;
  layout.pBindings = bindings;
  VkDescriptorSetLayout set = VK_NULL_HANDLE;
  Check(vkCreateDescriptorSetLayout(device(), &layout, nullptr, &set),
        "vkCreateDescriptorSetLayout");
  const VkPushConstantRange range = {kAllStages, 0, sizeof(Constants)};
  VkPipelineLayoutCreateInfo info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.setLayoutCount = 1;
  info.pSetLayouts = &set;
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &range;
  Check(vkCreatePipelineLayout(device(), &info, nullptr, &layout_), "vkCreatePipelineLayout");
  const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2 + kPages},
                                        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1}};
  VkDescriptorPoolCreateInfo pool = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pool.maxSets = 1;
  pool.poolSizeCount = 2;
  pool.pPoolSizes = sizes;
  VkDescriptorSetAllocateInfo wanted = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  Check(vkCreateDescriptorPool(device(), &pool, nullptr, &wanted.descriptorPool),
        "vkCreateDescriptorPool");
  wanted.descriptorSetCount = 1;
  wanted.pSetLayouts = &set;
  Check(vkAllocateDescriptorSets(device(), &wanted, &set_), "vkAllocateDescriptorSets");
  const VkDescriptorBufferInfo buffers[] = {{words_.buffer, 0, VK_WHOLE_SIZE},
                                            {uniforms_.buffer, 0, VK_WHOLE_SIZE}};
  VkWriteDescriptorSet writes[2] = {};
  for (uint32_t i = 0; i < 2; ++i) {
    writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[i].dstSet = set_;
    writes[i].dstBinding = i;
    writes[i].descriptorCount = 1;
    writes[i].descriptorType = bindings[i].descriptorType;
    writes[i].pBufferInfo = &buffers[i];
  }
  vkUpdateDescriptorSets(device(), 2, writes, 0, nullptr);
  const std::vector<VkDescriptorBufferInfo> pages(kPages, buffers[0]);
  VkWriteDescriptorSet write = writes[0];
  write.dstBinding = 3;
  write.descriptorCount = kPages;
  write.pBufferInfo = pages.data();
  vkUpdateDescriptorSets(device(), 1, &write, 0, nullptr);
  SetBuffer(words_.buffer);
}

void Machine::SetBuffer(VkBuffer buffer) {
  const VkDescriptorBufferInfo info = {buffer, 0, VK_WHOLE_SIZE};
  VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set_;
  write.dstBinding = 2;
  write.descriptorCount = 1;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = &info;
  vkUpdateDescriptorSets(device(), 1, &write, 0, nullptr);
}

Constants Machine::Bounded() const {
  Constants constants;
  constants.most_trips = size_.trips;
  return constants;
}

VkPipeline Machine::Compute(Shader shader, uint32_t special) {
  const VkSpecializationMapEntry entry = {0, 0, sizeof(special)};
  const VkSpecializationInfo specialisation = {1, &entry, sizeof(special), &special};
  VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = ModuleOf(device(), shader);
  info.stage.pName = "main";
  if (special != 0) info.stage.pSpecializationInfo = &specialisation;
  info.layout = layout_;
  VkPipeline pipeline = VK_NULL_HANDLE;
  Check(vkCreateComputePipelines(device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
        "vkCreateComputePipelines");
  return pipeline;
}

VkPipeline Machine::Draws(Shader vertex, Shader pixel) {
  VulkanDrawStates states(kPictureWidth, ModuleOf(device(), vertex), ModuleOf(device(), pixel),
                          layout_);
  VkPipelineRenderingCreateInfo rendering = {VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachmentFormats = &kPictureFormat;
  states.info.pNext = &rendering;
  VkPipeline pipeline = VK_NULL_HANDLE;
  Check(vkCreateGraphicsPipelines(device(), VK_NULL_HANDLE, 1, &states.info, nullptr, &pipeline),
        "vkCreateGraphicsPipelines");
  return pipeline;
}

VkCommandBuffer Machine::Begin(const GpuQueue& queue, const char* name) {
  return gpu_.Begin(queue, name, nullptr, 0);
}

void Machine::Bind(VkCommandBuffer commands, VkPipelineBindPoint point, VkPipeline pipeline,
                   const Constants& constants) {
  vkCmdBindPipeline(commands, point, pipeline);
  vkCmdBindDescriptorSets(commands, point, layout_, 0, 1, &set_, 0, nullptr);
  vkCmdPushConstants(commands, layout_, kAllStages, 0, sizeof(constants), &constants);
}

void Machine::Dispatch(VkCommandBuffer commands, const char* label, VkPipeline pipeline,
                       const Constants& constants, uint32_t groups) {
  gpu_.BeginLabel(commands, label);
  Bind(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline, constants);
  const std::vector<uint32_t> all = GroupsOf(groups);
  vkCmdDispatch(commands, all[0], all[1], all[2]);
  gpu_.EndLabel(commands);
}

void Machine::DispatchIndirect(VkCommandBuffer commands, const char* label, VkPipeline pipeline,
                               VkBuffer arguments, VkDeviceSize offset) {
  gpu_.BeginLabel(commands, label);
  Bind(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline, Bounded());
  vkCmdDispatchIndirect(commands, arguments, offset);
  gpu_.EndLabel(commands);
}

void Machine::Draw(VkCommandBuffer commands, const char* label, VkPipeline pipeline,
                   VkImageView picture, const Constants& constants, uint32_t vertices,
                   uint32_t instances) {
  gpu_.BeginLabel(commands, label);
  VkRenderingAttachmentInfo target = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
  target.imageView = picture;
  target.imageLayout = VK_IMAGE_LAYOUT_GENERAL;
  target.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  target.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  VkRenderingInfo info = {VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.renderArea.extent = {kPictureWidth, kPictureWidth};
  info.layerCount = 1;
  info.colorAttachmentCount = 1;
  info.pColorAttachments = &target;
  vkCmdBeginRendering(commands, &info);
  Bind(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline, constants);
  vkCmdDraw(commands, vertices, instances, 0, 0);
  vkCmdEndRendering(commands);
  gpu_.EndLabel(commands);
}

void Machine::Barrier(VkCommandBuffer commands) {
  VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                       VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

VkFence Machine::Submit(const GpuQueue& queue, VkCommandBuffer commands, const Point* waits,
                        const Point* signals) {
  Check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  const VkFence fence = gpu_.CreateFence();
  VkTimelineSemaphoreSubmitInfo values = {VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
  VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.pNext = &values;
  const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  if (waits != nullptr) {
    info.waitSemaphoreCount = values.waitSemaphoreValueCount = 1;
    info.pWaitSemaphores = &waits->timeline;
    info.pWaitDstStageMask = &all;
    values.pWaitSemaphoreValues = &waits->value;
  }
  if (signals != nullptr) {
    info.signalSemaphoreCount = values.signalSemaphoreValueCount = 1;
    info.pSignalSemaphores = &signals->timeline;
    values.pSignalSemaphoreValues = &signals->value;
  }
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  const VkResult result = vkQueueSubmit(queue.queue, 1, &info, fence);
  if (result == VK_ERROR_DEVICE_LOST) End(1, "the device is lost");
  Check(result, "vkQueueSubmit");
  return fence;
}

void Machine::Wait(VkFence fence) {
  const VkResult result =
      vkWaitForFences(device(), 1, &fence, VK_TRUE, static_cast<uint64_t>(limit_s_ * 1e9));
  if (result == VK_ERROR_DEVICE_LOST) End(1, "the device is lost");
  if (result == VK_TIMEOUT) End(3, "the limit was reached");
  Check(result, "vkWaitForFences");
}

double Machine::Time(VkPipeline pipeline, const Constants& constants, uint32_t groups) {
  const VkCommandBuffer commands = Begin(gpu_.graphics(), "Measure");
  Dispatch(commands, "Measure", pipeline, constants, groups);
  const auto start = std::chrono::steady_clock::now();
  Finish(gpu_.graphics(), commands);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Machine::ScriptSlow(VkCommandBuffer commands, const char* of) const {
  gpu_.Script(commands, std::string("duration 40") + of);
}

void Machine::ScriptRace(VkCommandBuffer commands, const char* of) const {
  gpu_.Script(commands, std::string("race") + of);
}

void Machine::Measure(double seconds) {
  if (is_scripted()) {
    size_ = {1, 256, 1};  // all work takes steps, and no time
    return;
  }
  const VkPipeline loop = Compute(kStepZeroCompSpv);
  const VkPipeline crowd = Compute(kCrowdCompSpv);
  const auto time_loop = [&](const Size& size) {
    Constants constants;
    constants.most_trips = size.trips;
    constants.limit = 1;
    return Time(loop, constants, size.groups);
  };
  const auto time_crowd = [&](const Size& size) {
    Constants constants;
    constants.most_trips = size.trips;
    return Time(crowd, constants, size.crowd);
  };
  size_ = MeasureSize(seconds, on_cpu(), time_loop, time_crowd);
}

}  // namespace cairn::truth::why
