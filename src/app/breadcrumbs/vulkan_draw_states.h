// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_DRAW_STATES_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_DRAW_STATES_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>

namespace cairn {

// The states of a pipeline that draws triangles into a square of one colour target, without vertex buffers.
struct VulkanDrawStates {
  // `size`: of the square, in pixels.
  VulkanDrawStates(uint32_t size, VkShaderModule vertex, VkShaderModule fragment,
                   VkPipelineLayout layout)
      : whole({0, 0, static_cast<float>(size), static_cast<float>(size), 0, 1}),
        area({{0, 0}, {size, size}}) {
    stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT;
    stages[0].module = vertex;
    stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT;
    stages[1].module = fragment;
    for (VkPipelineShaderStageCreateInfo& stage : stages) {
      stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
      stage.pName = "main";
    }
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    viewport.viewportCount = viewport.scissorCount = 1;
    viewport.pViewports = &whole;
    viewport.pScissors = &area;
    raster.lineWidth = 1;
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    target.colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                            VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT;
    blend.attachmentCount = 1;
    blend.pAttachments = &target;
    info.stageCount = 2;
    info.pStages = stages;
    info.pVertexInputState = &input;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &viewport;
    info.pRasterizationState = &raster;
    info.pMultisampleState = &samples;
    info.pColorBlendState = &blend;
    info.layout = layout;
  }
  VulkanDrawStates(const VulkanDrawStates&) = delete;
  VulkanDrawStates& operator=(const VulkanDrawStates&) = delete;

  // Points to the other members. The caller adds the render pass, or the format of the target.
  VkGraphicsPipelineCreateInfo info = {VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
  VkPipelineShaderStageCreateInfo stages[2] = {};
  VkPipelineVertexInputStateCreateInfo input = {
      VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  VkPipelineInputAssemblyStateCreateInfo assembly = {
      VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
  VkViewport whole;
  VkRect2D area;
  VkPipelineViewportStateCreateInfo viewport = {
      VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
  VkPipelineRasterizationStateCreateInfo raster = {
      VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  VkPipelineMultisampleStateCreateInfo samples = {
      VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  VkPipelineColorBlendAttachmentState target = {};
  VkPipelineColorBlendStateCreateInfo blend = {
      VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_DRAW_STATES_H_
