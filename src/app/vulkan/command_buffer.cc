// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/command_buffer.h"

#include <array>
#include <utility>

#include "app/breadcrumbs/context.h"
#include "app/settings/log.h"
#include "app/vulkan/checkpoint_marker.h"
#include "app/vulkan/command_pool.h"
#include "app/vulkan/device_objects.h"
#include "app/vulkan/exact.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/pipelines.h"

namespace cairn {

constinit HandleMap<VkCommandBuffer, CommandBufferState> command_buffers;

namespace {

// Query pools whose queries would count the writes, if a driver makes those of shaders or draws. Only the
// type is kept: two objects stand for all of them.
struct CountingQueries {
  bool performance;
};
constinit CountingQueries statistics_queries{false};
constinit CountingQueries performance_queries{true};
constinit HandleMap<VkQueryPool, CountingQueries> query_pools;

// ---- Recordings ----------------------------------------------------------------------------------

void ForgetPosition(CommandBufferState& state) {
  state.ForgetBinds();
  state.in_render_pass = false;
  state.only_secondaries = false;
  state.suspends = false;
  state.suspended = false;
  state.in_video = false;
  state.conditional = state.secondary;  // it may inherit a condition
  state.after_performance_query = false;
  state.counting_queries = 0;
  state.open_labels = 0;
  state.work_label = 0;
  state.announced_at = WorkPoint::kCount;
}

uint32_t ListFlags(const CommandBufferState& state, const VkCommandBufferBeginInfo& info) {
  const bool simultaneous = (info.flags & VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT) != 0;
  uint32_t flags = CAIRN_LIST_HELD | (state.secondary ? CAIRN_LIST_SECONDARY : 0);
  const bool counted = state.secondary && info.pInheritanceInfo != nullptr &&
                       info.pInheritanceInfo->pipelineStatistics != 0;
  // A secondary that may run several times at once has no words of its own: those of the primary
  // around it show the execution.
  if (state.pool->silent || counted || (state.secondary && simultaneous)) {
    return flags | CAIRN_LIST_SILENT;
  }
  return flags | (simultaneous ? static_cast<uint32_t>(CAIRN_LIST_REUSABLE) : CAIRN_LIST_EXCLUSIVE);
}

void StartRecording(CommandBufferState& state, const VkCommandBufferBeginInfo& info) {
  CairnCommandListDesc desc = {};
  desc.struct_size = sizeof(desc);
  desc.flags = ListFlags(state, info);
  desc.native = state.handle;
  desc.queue_type = state.pool->queue_type;
  desc.name = state.name.empty() ? nullptr : state.name.c_str();
  CommandList* list = nullptr;
  if (const Status status = state.device->context->BeginCommandList(desc, &list); !status.ok()) {
    LogOnce(LogLevel::kWarning, "vulkan recordings",
            "some command buffers have no breadcrumbs: " + status.message());
    return;
  }
  state.list = list;
  state.open = list;
  state.identity.recording = list;
  state.labels_only = list->progress_value();
  constexpr VkCommandBufferUsageFlags kContinue = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT;
  if (state.secondary && (info.flags & kContinue) != 0) {
    state.in_render_pass = true;
    UpdateSilence(state);
  }
}

VKAPI_ATTR VkResult VKAPI_CALL BeginCommandBuffer(VkCommandBuffer commandBuffer,
                                                  const VkCommandBufferBeginInfo* pBeginInfo) {
  CommandBufferState& state = *CommandBufferOf(commandBuffer);
  ReleaseRecording(state);
  const VkResult result = state.vk->BeginCommandBuffer(commandBuffer, pBeginInfo);
  if (result == VK_SUCCESS && pBeginInfo != nullptr) {
    Quietly([&] { StartRecording(state, *pBeginInfo); });
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL EndCommandBuffer(VkCommandBuffer commandBuffer) {
  CommandBufferState& state = *CommandBufferOf(commandBuffer);
  if (state.open != nullptr) {
    // Between a dynamic render pass that suspends and the one that resumes it, in the command buffers
    // before and after this one, the GPU may be given nothing.
    if (state.open->progress_value() == state.labels_only &&
        state.device->suspends_render_passes.load(std::memory_order_relaxed)) {
      state.open->SetSilent(true);
    }
    state.open->End();
    state.open = nullptr;
  }
  return state.vk->EndCommandBuffer(commandBuffer);
}

VKAPI_ATTR VkResult VKAPI_CALL ResetCommandBuffer(VkCommandBuffer commandBuffer,
                                                  VkCommandBufferResetFlags flags) {
  CommandBufferState& state = *CommandBufferOf(commandBuffer);
  ReleaseRecording(state);
  return state.vk->ResetCommandBuffer(commandBuffer, flags);
}

// ---- What commands use ---------------------------------------------------------------------------

VKAPI_ATTR void VKAPI_CALL CmdBindPipeline(VkCommandBuffer commandBuffer,
                                           VkPipelineBindPoint pipelineBindPoint,
                                           VkPipeline pipeline) {
  CommandBufferState& state = *CommandBufferOf(commandBuffer);
  const WorkPoint point = PointOf(pipelineBindPoint);
  if (state.open != nullptr && point != WorkPoint::kNone) {
    state.pipelines[static_cast<size_t>(point)] = PipelineNumberFor(*state.device, pipeline);
  }
  state.vk->CmdBindPipeline(commandBuffer, pipelineBindPoint, pipeline);
}

#ifdef VK_EXT_shader_object
// Shader objects take the place of the pipeline that was bound for their stages.
VKAPI_ATTR void VKAPI_CALL CmdBindShadersEXT(VkCommandBuffer commandBuffer, uint32_t stageCount,
                                             const VkShaderStageFlagBits* pStages,
                                             const VkShaderEXT* pShaders) {
  CommandBufferState& state = *CommandBufferOf(commandBuffer);
  for (uint32_t i = 0; i < stageCount; ++i) {
    const WorkPoint point =
        pStages[i] == VK_SHADER_STAGE_COMPUTE_BIT ? WorkPoint::kCompute : WorkPoint::kGraphics;
    state.pipelines[static_cast<size_t>(point)] = 0;
  }
  state.vk->CmdBindShadersEXT(commandBuffer, stageCount, pStages, pShaders);
}
#endif

// ---- Queries -------------------------------------------------------------------------------------

VKAPI_ATTR VkResult VKAPI_CALL CreateQueryPool(VkDevice device,
                                               const VkQueryPoolCreateInfo* pCreateInfo,
                                               const VkAllocationCallbacks* pAllocator,
                                               VkQueryPool* pQueryPool) {
  const VkResult result =
      DeviceOf(device)->vk.CreateQueryPool(device, pCreateInfo, pAllocator, pQueryPool);
  if (result != VK_SUCCESS) return result;
  switch (pCreateInfo->queryType) {
    // Occlusion queries do not count writes, and timestamps are not begun and ended.
    case VK_QUERY_TYPE_OCCLUSION:
    case VK_QUERY_TYPE_TIMESTAMP: break;
    case VK_QUERY_TYPE_PERFORMANCE_QUERY_KHR:
      query_pools.Set(*pQueryPool, &performance_queries);
      break;
    default: query_pools.Set(*pQueryPool, &statistics_queries); break;
  }
  return result;
}

VKAPI_ATTR void VKAPI_CALL DestroyQueryPool(VkDevice device, VkQueryPool queryPool,
                                            const VkAllocationCallbacks* pAllocator) {
  const DeviceState& state = *DeviceOf(device);
  query_pools.Erase(queryPool);
  state.objects->Forget(VK_OBJECT_TYPE_QUERY_POOL, HandleValue(queryPool));
  state.vk.DestroyQueryPool(device, queryPool, pAllocator);
}

void NoteBeginQuery(CommandBufferState& state, VkQueryPool pool) {
  const CountingQueries* const counting = query_pools.Find(pool);
  if (counting == nullptr) return;
  ++state.counting_queries;
  state.after_performance_query |= counting->performance;
  UpdateSilence(state);
}

void NoteEndQuery(CommandBufferState& state, VkQueryPool pool) {
  if (query_pools.Find(pool) == nullptr || state.counting_queries == 0) return;
  --state.counting_queries;
  UpdateSilence(state);
}

VKAPI_ATTR void VKAPI_CALL CmdBeginQuery(VkCommandBuffer commandBuffer, VkQueryPool queryPool,
                                         uint32_t query, VkQueryControlFlags flags) {
  CommandBufferState& state = *CommandBufferOf(commandBuffer);
  NoteBeginQuery(state, queryPool);
  state.vk->CmdBeginQuery(commandBuffer, queryPool, query, flags);
}

VKAPI_ATTR void VKAPI_CALL CmdEndQuery(VkCommandBuffer commandBuffer, VkQueryPool queryPool,
                                       uint32_t query) {
  CommandBufferState& state = *CommandBufferOf(commandBuffer);
  state.vk->CmdEndQuery(commandBuffer, queryPool, query);
  NoteEndQuery(state, queryPool);
}

VKAPI_ATTR void VKAPI_CALL CmdBeginQueryIndexedEXT(VkCommandBuffer commandBuffer,
                                                   VkQueryPool queryPool, uint32_t query,
                                                   VkQueryControlFlags flags, uint32_t index) {
  CommandBufferState& state = *CommandBufferOf(commandBuffer);
  NoteBeginQuery(state, queryPool);
  state.vk->CmdBeginQueryIndexedEXT(commandBuffer, queryPool, query, flags, index);
}

VKAPI_ATTR void VKAPI_CALL CmdEndQueryIndexedEXT(VkCommandBuffer commandBuffer,
                                                 VkQueryPool queryPool, uint32_t query,
                                                 uint32_t index) {
  CommandBufferState& state = *CommandBufferOf(commandBuffer);
  state.vk->CmdEndQueryIndexedEXT(commandBuffer, queryPool, query, index);
  NoteEndQuery(state, queryPool);
}

}  // namespace

void ReleaseRecording(CommandBufferState& state) noexcept {
  state.open = nullptr;
  state.identity.recording = nullptr;
  ForgetPosition(state);
  if (state.list == nullptr) return;
  CommandList* const list = std::exchange(state.list, nullptr);
  // This fails only if the application released the recording itself, through libcairn.
  Quietly([&] { static_cast<void>(state.device->context->ReleaseCommandList(list).ok()); });
}

CommandBufferState::CommandBufferState() = default;
CommandBufferState::~CommandBufferState() = default;

void UpdateSilence(CommandBufferState& state) {
  if (state.open == nullptr) return;
  // Mode exact closes render passes between commands.
  state.open->SetInsideRenderPass(state.exact != nullptr ? state.exact->inside_pass()
                                                         : state.in_render_pass);
  state.open->SetSilent(state.only_secondaries || state.suspended || state.in_video ||
                        state.after_performance_query || state.counting_queries != 0);
}

void SetCheckpoint(CommandBufferState& state) {
  if (state.open->silent()) return;
  state.vk->CmdSetCheckpointNV(
      state.handle, EncodeCheckpoint({state.open->slot_index(), state.open->progress_value()}));
}

std::span<const Intercept> CommandBufferIntercepts() {
  static const std::array intercepts = {
      InterceptOf<PFN_vkBeginCommandBuffer>("vkBeginCommandBuffer", BeginCommandBuffer),
      InterceptOf<PFN_vkEndCommandBuffer>("vkEndCommandBuffer", EndCommandBuffer),
      InterceptOf<PFN_vkResetCommandBuffer>("vkResetCommandBuffer", ResetCommandBuffer),
      InterceptOf<PFN_vkCmdBindPipeline>("vkCmdBindPipeline", CmdBindPipeline),
#ifdef VK_EXT_shader_object
      InterceptOf<PFN_vkCmdBindShadersEXT>("vkCmdBindShadersEXT", CmdBindShadersEXT),
#endif
      InterceptOf<PFN_vkCreateQueryPool>("vkCreateQueryPool", CreateQueryPool),
      InterceptOf<PFN_vkDestroyQueryPool>("vkDestroyQueryPool", DestroyQueryPool),
      InterceptOf<PFN_vkCmdBeginQuery>("vkCmdBeginQuery", CmdBeginQuery),
      InterceptOf<PFN_vkCmdEndQuery>("vkCmdEndQuery", CmdEndQuery),
      InterceptOf<PFN_vkCmdBeginQueryIndexedEXT>("vkCmdBeginQueryIndexedEXT",
                                                 CmdBeginQueryIndexedEXT),
      InterceptOf<PFN_vkCmdEndQueryIndexedEXT>("vkCmdEndQueryIndexedEXT", CmdEndQueryIndexedEXT),
  };
  return intercepts;
}

}  // namespace cairn
