// SPDX-License-Identifier: Apache-2.0
//
// Recording of work that has no effect on memory (draws, dispatches, operations on images), of
// secondary command buffers, and of commands that are no work at all.
#include "icd/entry.h"
#include "icd/recording.h"

namespace cairn::icd {
namespace {

template <uint32_t kKinds, typename Function>
struct WorkOf;
template <uint32_t kKinds, typename... Parameters>
struct WorkOf<kKinds, void(VKAPI_PTR*)(VkCommandBuffer, Parameters...)> {
  static void VKAPI_CALL Call(VkCommandBuffer commands, Parameters...) {
    RecordWork(commands, kKinds, {});
  }
};

#define CAIRN_ICD_WORK(name, kinds) \
  CAIRN_ICD_NAMED(vkCmd##name, (WorkOf<kinds, PFN_vkCmd##name>::Call), nullptr)

// The commands of a secondary become part of the primary: it cannot be recorded again before the
// primary is.
void VKAPI_CALL CmdExecuteCommands(VkCommandBuffer commands, uint32_t count,
                                   const VkCommandBuffer* secondaries) {
  for (uint32_t i = 0; i < count; ++i) {
    for (const Command& command : Of(secondaries[i])->commands) Record(commands, command);
  }
}

const Entry kEntries[] = {
    CAIRN_ICD_WORK(Draw, kGraphicsWork),
    CAIRN_ICD_WORK(DrawIndexed, kGraphicsWork),
    CAIRN_ICD_WORK(DrawIndirect, kGraphicsWork),
    CAIRN_ICD_WORK(DrawIndexedIndirect, kGraphicsWork),
    CAIRN_ICD_WORK(DrawIndirectCount, kGraphicsWork),
    CAIRN_ICD_WORK(DrawIndexedIndirectCount, kGraphicsWork),
    CAIRN_ICD_WORK(ClearAttachments, kGraphicsWork),
    CAIRN_ICD_WORK(Dispatch, kComputeWork),
    CAIRN_ICD_WORK(DispatchBase, kComputeWork),
    CAIRN_ICD_WORK(DispatchIndirect, kComputeWork),
    CAIRN_ICD_WORK(CopyImage, kTransferWork),
    CAIRN_ICD_WORK(CopyImage2, kTransferWork),
    CAIRN_ICD_WORK(BlitImage, kTransferWork),
    CAIRN_ICD_WORK(BlitImage2, kTransferWork),
    CAIRN_ICD_WORK(ResolveImage, kTransferWork),
    CAIRN_ICD_WORK(ResolveImage2, kTransferWork),
    CAIRN_ICD_WORK(CopyBufferToImage, kTransferWork),
    CAIRN_ICD_WORK(CopyBufferToImage2, kTransferWork),
    CAIRN_ICD_WORK(CopyImageToBuffer, kTransferWork),
    CAIRN_ICD_WORK(CopyImageToBuffer2, kTransferWork),
    CAIRN_ICD_WORK(ClearColorImage, kTransferWork),
    CAIRN_ICD_WORK(ClearDepthStencilImage, kTransferWork),
    CAIRN_ICD_WORK(CopyQueryPoolResults, kTransferWork),
    CAIRN_ICD_ENTRY(CmdExecuteCommands),
};

#define CAIRN_ICD_STATE(name) CAIRN_ICD_NOTHING(Cmd##name)

const Entry kStateEntries[] = {
    CAIRN_ICD_STATE(BindPipeline),
    CAIRN_ICD_STATE(BindDescriptorSets),
    CAIRN_ICD_STATE(BindIndexBuffer),
    CAIRN_ICD_STATE(BindVertexBuffers),
    CAIRN_ICD_STATE(BindVertexBuffers2),
    CAIRN_ICD_STATE(PushConstants),
    CAIRN_ICD_STATE(BeginRenderPass),
    CAIRN_ICD_STATE(BeginRenderPass2),
    CAIRN_ICD_STATE(NextSubpass),
    CAIRN_ICD_STATE(NextSubpass2),
    CAIRN_ICD_STATE(EndRenderPass),
    CAIRN_ICD_STATE(EndRenderPass2),
    CAIRN_ICD_STATE(BeginRendering),
    CAIRN_ICD_STATE(EndRendering),
    CAIRN_ICD_NAMED(vkCmdBeginRenderingKHR, Nothing<PFN_vkCmdBeginRendering>::Call,
                    VK_KHR_DYNAMIC_RENDERING_EXTENSION_NAME),
    CAIRN_ICD_NAMED(vkCmdEndRenderingKHR, Nothing<PFN_vkCmdEndRendering>::Call,
                    VK_KHR_DYNAMIC_RENDERING_EXTENSION_NAME),
    CAIRN_ICD_STATE(BeginQuery),
    CAIRN_ICD_STATE(EndQuery),
    CAIRN_ICD_STATE(ResetQueryPool),
    CAIRN_ICD_STATE(WriteTimestamp),
    CAIRN_ICD_STATE(WriteTimestamp2),
    CAIRN_ICD_STATE(SetDeviceMask),
    CAIRN_ICD_STATE(SetViewport),
    CAIRN_ICD_STATE(SetScissor),
    CAIRN_ICD_STATE(SetLineWidth),
    CAIRN_ICD_STATE(SetDepthBias),
    CAIRN_ICD_STATE(SetBlendConstants),
    CAIRN_ICD_STATE(SetDepthBounds),
    CAIRN_ICD_STATE(SetStencilCompareMask),
    CAIRN_ICD_STATE(SetStencilWriteMask),
    CAIRN_ICD_STATE(SetStencilReference),
    CAIRN_ICD_STATE(SetCullMode),
    CAIRN_ICD_STATE(SetFrontFace),
    CAIRN_ICD_STATE(SetPrimitiveTopology),
    CAIRN_ICD_STATE(SetViewportWithCount),
    CAIRN_ICD_STATE(SetScissorWithCount),
    CAIRN_ICD_STATE(SetDepthTestEnable),
    CAIRN_ICD_STATE(SetDepthWriteEnable),
    CAIRN_ICD_STATE(SetDepthCompareOp),
    CAIRN_ICD_STATE(SetDepthBoundsTestEnable),
    CAIRN_ICD_STATE(SetStencilTestEnable),
    CAIRN_ICD_STATE(SetStencilOp),
    CAIRN_ICD_STATE(SetRasterizerDiscardEnable),
    CAIRN_ICD_STATE(SetDepthBiasEnable),
    CAIRN_ICD_STATE(SetPrimitiveRestartEnable),
};

}  // namespace

std::span<const Entry> CommandEntries() {
  return kEntries;
}

std::span<const Entry> StateCommandEntries() {
  return kStateEntries;
}

}  // namespace cairn::icd
