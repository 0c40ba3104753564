// SPDX-License-Identifier: Apache-2.0
//
// Mode exact: commands that begin or end something in which others stand.
#include <array>

#include "app/vulkan/exact.h"

namespace cairn {
namespace {

VKAPI_ATTR VkResult VKAPI_CALL BeginCommandBuffer(VkCommandBuffer handle,
                                                  const VkCommandBufferBeginInfo* info) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  const VkResult result = commands.next().BeginCommandBuffer(handle, info);
  if (result == VK_SUCCESS && info != nullptr) commands.Begin(*info);
  return result;
}

VKAPI_ATTR void VKAPI_CALL CmdExecuteCommands(VkCommandBuffer handle, uint32_t count,
                                              const VkCommandBuffer* buffers) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  commands.Precede();
  commands.next().CmdExecuteCommands(handle, count, buffers);
  commands.compute().Clear();  // Secondaries leave the bound state undefined.
  commands.Serialise(ExactCommands::Behind::kWork);
}

// ---- What is bound for compute -------------------------------------------------------------------------

VKAPI_ATTR void VKAPI_CALL CmdBindPipeline(VkCommandBuffer handle, VkPipelineBindPoint point,
                                           VkPipeline pipeline) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  if (point == VK_PIPELINE_BIND_POINT_COMPUTE) commands.compute().BindPipeline(pipeline);
  commands.next().CmdBindPipeline(handle, point, pipeline);
}

VKAPI_ATTR void VKAPI_CALL CmdBindDescriptorSets(VkCommandBuffer handle, VkPipelineBindPoint point,
                                                 VkPipelineLayout layout, uint32_t first,
                                                 uint32_t count, const VkDescriptorSet* sets,
                                                 uint32_t offset_count, const uint32_t* offsets) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  if (point == VK_PIPELINE_BIND_POINT_COMPUTE) {
    commands.compute().BindSets(layout, first, {sets, count}, {offsets, offset_count});
  }
  commands.next().CmdBindDescriptorSets(handle, point, layout, first, count, sets, offset_count,
                                        offsets);
}

VKAPI_ATTR void VKAPI_CALL CmdPushConstants(VkCommandBuffer handle, VkPipelineLayout layout,
                                            VkShaderStageFlags stages, uint32_t offset,
                                            uint32_t size, const void* values) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  commands.compute().PushConstants(layout, stages, offset,
                                   {static_cast<const std::byte*>(values), size});
  commands.next().CmdPushConstants(handle, layout, stages, offset, size, values);
}

VKAPI_ATTR void VKAPI_CALL CmdPushDescriptorSetKHR(VkCommandBuffer handle,
                                                   VkPipelineBindPoint point,
                                                   VkPipelineLayout layout, uint32_t set,
                                                   uint32_t count,
                                                   const VkWriteDescriptorSet* writes) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  if (point == VK_PIPELINE_BIND_POINT_COMPUTE) {
    commands.compute().Push(layout, set, {writes, count});
  }
  commands.next().CmdPushDescriptorSetKHR(handle, point, layout, set, count, writes);
}

// ---- What begins and ends in one part of a render pass -----------------------------------------------

VKAPI_ATTR void VKAPI_CALL CmdBeginQuery(VkCommandBuffer handle, VkQueryPool pool, uint32_t query,
                                         VkQueryControlFlags flags) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  commands.Hold();
  commands.BeginQuery();
  commands.next().CmdBeginQuery(handle, pool, query, flags);
}

VKAPI_ATTR void VKAPI_CALL CmdEndQuery(VkCommandBuffer handle, VkQueryPool pool, uint32_t query) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  commands.next().CmdEndQuery(handle, pool, query);
  commands.EndQuery();
  commands.Release();
}

VKAPI_ATTR void VKAPI_CALL CmdBeginQueryIndexedEXT(VkCommandBuffer handle, VkQueryPool pool,
                                                   uint32_t query, VkQueryControlFlags flags,
                                                   uint32_t index) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  commands.Hold();
  commands.BeginQuery();
  commands.next().CmdBeginQueryIndexedEXT(handle, pool, query, flags, index);
}

VKAPI_ATTR void VKAPI_CALL CmdEndQueryIndexedEXT(VkCommandBuffer handle, VkQueryPool pool,
                                                 uint32_t query, uint32_t index) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  commands.next().CmdEndQueryIndexedEXT(handle, pool, query, index);
  commands.EndQuery();
  commands.Release();
}

VKAPI_ATTR void VKAPI_CALL CmdBeginConditionalRenderingEXT(
    VkCommandBuffer handle, const VkConditionalRenderingBeginInfoEXT* info) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  commands.Precede();  // It reads a buffer.
  commands.Hold();
  commands.next().CmdBeginConditionalRenderingEXT(handle, info);
}

VKAPI_ATTR void VKAPI_CALL CmdEndConditionalRenderingEXT(VkCommandBuffer handle) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  commands.next().CmdEndConditionalRenderingEXT(handle);
  commands.Release();
}

VKAPI_ATTR void VKAPI_CALL CmdBeginTransformFeedbackEXT(VkCommandBuffer handle, uint32_t first,
                                                        uint32_t count, const VkBuffer* counters,
                                                        const VkDeviceSize* offsets) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  commands.Hold();
  commands.next().CmdBeginTransformFeedbackEXT(handle, first, count, counters, offsets);
}

VKAPI_ATTR void VKAPI_CALL CmdEndTransformFeedbackEXT(VkCommandBuffer handle, uint32_t first,
                                                      uint32_t count, const VkBuffer* counters,
                                                      const VkDeviceSize* offsets) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  commands.next().CmdEndTransformFeedbackEXT(handle, first, count, counters, offsets);
  commands.Release();
}

// ---- Video ----------------------------------------------------------------------------------------

VKAPI_ATTR void VKAPI_CALL CmdBeginVideoCodingKHR(VkCommandBuffer handle,
                                                  const VkVideoBeginCodingInfoKHR* info) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  commands.Precede();
  commands.next().CmdBeginVideoCodingKHR(handle, info);
  commands.SetInVideo(true);
}

VKAPI_ATTR void VKAPI_CALL CmdEndVideoCodingKHR(VkCommandBuffer handle,
                                                const VkVideoEndCodingInfoKHR* info) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  commands.next().CmdEndVideoCodingKHR(handle, info);
  commands.SetInVideo(false);
  commands.Serialise(ExactCommands::Behind::kWork);
}

}  // namespace

std::span<const ExactFunction> ExactCommandFunctions() {
  using Vk = DeviceFunctions;
  static const std::array functions = {
      Replace<&Vk::BeginCommandBuffer>("vkBeginCommandBuffer", BeginCommandBuffer),
      Replace<&Vk::CmdExecuteCommands>("vkCmdExecuteCommands", CmdExecuteCommands),
      Replace<&Vk::CmdBindPipeline>("vkCmdBindPipeline", CmdBindPipeline),
      Replace<&Vk::CmdBindDescriptorSets>("vkCmdBindDescriptorSets", CmdBindDescriptorSets),
      Replace<&Vk::CmdPushConstants>("vkCmdPushConstants", CmdPushConstants),
      Replace<&Vk::CmdPushDescriptorSetKHR>("vkCmdPushDescriptorSetKHR", CmdPushDescriptorSetKHR),
      Replace<&Vk::CmdBeginQuery>("vkCmdBeginQuery", CmdBeginQuery),
      Replace<&Vk::CmdEndQuery>("vkCmdEndQuery", CmdEndQuery),
      Replace<&Vk::CmdBeginQueryIndexedEXT>("vkCmdBeginQueryIndexedEXT", CmdBeginQueryIndexedEXT),
      Replace<&Vk::CmdEndQueryIndexedEXT>("vkCmdEndQueryIndexedEXT", CmdEndQueryIndexedEXT),
      Replace<&Vk::CmdBeginConditionalRenderingEXT>("vkCmdBeginConditionalRenderingEXT",
                                                    CmdBeginConditionalRenderingEXT),
      Replace<&Vk::CmdEndConditionalRenderingEXT>("vkCmdEndConditionalRenderingEXT",
                                                  CmdEndConditionalRenderingEXT),
      Replace<&Vk::CmdBeginTransformFeedbackEXT>("vkCmdBeginTransformFeedbackEXT",
                                                 CmdBeginTransformFeedbackEXT),
      Replace<&Vk::CmdEndTransformFeedbackEXT>("vkCmdEndTransformFeedbackEXT",
                                               CmdEndTransformFeedbackEXT),
      Replace<&Vk::CmdBeginVideoCodingKHR>("vkCmdBeginVideoCodingKHR", CmdBeginVideoCodingKHR),
      Replace<&Vk::CmdEndVideoCodingKHR>("vkCmdEndVideoCodingKHR", CmdEndVideoCodingKHR),
  };
  return functions;
}

}  // namespace cairn
