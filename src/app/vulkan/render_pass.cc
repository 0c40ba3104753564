// SPDX-License-Identifier: Apache-2.0
//
// Render passes are flat: their begin and their end are commands like others, with the passes' commands
// between them. Inside, only buffer markers are written; between a dynamic pass that suspends and the one
// that resumes it nothing is. The same for the scopes of video coding.
#include <array>

#include "app/vulkan/command_buffer.h"
#include "app/vulkan/exact.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/work.h"

namespace cairn {
namespace {

void Enter(CommandBufferState& state, bool only_secondaries) {
  state.in_render_pass = true;
  state.only_secondaries = only_secondaries;
  UpdateSilence(state);
}

bool OnlySecondaries(VkSubpassContents contents) {
  return contents == VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS;
}

// A later version lets these have commands of their own as well.
constexpr VkRenderingFlags kInlineAsWell = 0x10;  // VK_RENDERING_CONTENTS_INLINE_BIT_KHR
bool OnlySecondaries(VkRenderingFlags flags) {
  return (flags & VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT) != 0 &&
         (flags & kInlineAsWell) == 0;
}

void Leave(CommandBufferState& state) {
  state.in_render_pass = false;
  state.only_secondaries = false;
  UpdateSilence(state);
}

void LeaveRendering(CommandBufferState& state) {
  state.suspended = state.suspends;
  state.suspends = false;
  Leave(state);
}

VKAPI_ATTR void VKAPI_CALL CmdBeginRenderPass(VkCommandBuffer commandBuffer,
                                              const VkRenderPassBeginInfo* pRenderPassBegin,
                                              VkSubpassContents contents) {
  const WorkScope work(commandBuffer, CAIRN_MARKER_BEGIN_RENDER_PASS, WorkPoint::kNone);
  work.next().CmdBeginRenderPass(commandBuffer, pRenderPassBegin, contents);
  Enter(work.state(), OnlySecondaries(contents));
}

VKAPI_ATTR void VKAPI_CALL CmdEndRenderPass(VkCommandBuffer commandBuffer) {
  const WorkScope work(commandBuffer, CAIRN_MARKER_END_RENDER_PASS, WorkPoint::kNone);
  work.next().CmdEndRenderPass(commandBuffer);
  Leave(work.state());
}

VKAPI_ATTR void VKAPI_CALL CmdNextSubpass(VkCommandBuffer commandBuffer,
                                          VkSubpassContents contents) {
  const WorkScope work(commandBuffer, CAIRN_MARKER_NEXT_SUBPASS, WorkPoint::kNone);
  work.next().CmdNextSubpass(commandBuffer, contents);
  Enter(work.state(), OnlySecondaries(contents));
}

template <auto kNext>
VKAPI_ATTR void VKAPI_CALL CmdBeginRenderPass2(VkCommandBuffer commandBuffer,
                                               const VkRenderPassBeginInfo* pRenderPassBegin,
                                               const VkSubpassBeginInfo* pSubpassBeginInfo) {
  const WorkScope work(commandBuffer, CAIRN_MARKER_BEGIN_RENDER_PASS, WorkPoint::kNone);
  (work.next().*kNext)(commandBuffer, pRenderPassBegin, pSubpassBeginInfo);
  Enter(work.state(), OnlySecondaries(pSubpassBeginInfo->contents));
}

template <auto kNext>
VKAPI_ATTR void VKAPI_CALL CmdEndRenderPass2(VkCommandBuffer commandBuffer,
                                             const VkSubpassEndInfo* pSubpassEndInfo) {
  const WorkScope work(commandBuffer, CAIRN_MARKER_END_RENDER_PASS, WorkPoint::kNone);
  (work.next().*kNext)(commandBuffer, pSubpassEndInfo);
  Leave(work.state());
}

template <auto kNext>
VKAPI_ATTR void VKAPI_CALL CmdNextSubpass2(VkCommandBuffer commandBuffer,
                                           const VkSubpassBeginInfo* pSubpassBeginInfo,
                                           const VkSubpassEndInfo* pSubpassEndInfo) {
  const WorkScope work(commandBuffer, CAIRN_MARKER_NEXT_SUBPASS, WorkPoint::kNone);
  (work.next().*kNext)(commandBuffer, pSubpassBeginInfo, pSubpassEndInfo);
  Enter(work.state(), OnlySecondaries(pSubpassBeginInfo->contents));
}

template <auto kNext>
VKAPI_ATTR void VKAPI_CALL CmdBeginRendering(VkCommandBuffer commandBuffer,
                                             const VkRenderingInfo* pRenderingInfo) {
  CommandBufferState& state = *CommandBufferOf(commandBuffer);
  const VkRenderingFlags flags = pRenderingInfo->flags;
  // The one that it resumes may stand at the end of another command buffer.
  if ((flags & VK_RENDERING_RESUMING_BIT) != 0) {
    state.suspended = true;
    UpdateSilence(state);
  }
  const WorkScope work(commandBuffer, CAIRN_MARKER_BEGIN_RENDERING, WorkPoint::kNone);
  (state.vk->*kNext)(commandBuffer, pRenderingInfo);
  state.suspended = false;
  state.suspends = (flags & VK_RENDERING_SUSPENDING_BIT) != 0;
  if (state.suspends) {
    state.device->suspends_render_passes.store(true, std::memory_order_relaxed);
  }
  Enter(state, OnlySecondaries(flags));
}

template <auto kNext>
VKAPI_ATTR void VKAPI_CALL CmdEndRendering(VkCommandBuffer commandBuffer) {
  const WorkScope work(commandBuffer, CAIRN_MARKER_END_RENDERING, WorkPoint::kNone);
  (work.next().*kNext)(commandBuffer);
  LeaveRendering(work.state());
}

// vkCmdEndRendering2EXT and vkCmdEndRendering2KHR, which only newer headers know: what they are given is
// passed on unseen.
using EndRendering2 = void(VKAPI_PTR*)(VkCommandBuffer, const void*);
constexpr char kEndRendering2Ext[] = "vkCmdEndRendering2EXT";
constexpr char kEndRendering2Khr[] = "vkCmdEndRendering2KHR";

template <const char* kName>
VKAPI_ATTR void VKAPI_CALL CmdEndRendering2(VkCommandBuffer commandBuffer, const void* info) {
  const WorkScope work(commandBuffer, CAIRN_MARKER_END_RENDERING, WorkPoint::kNone);
  CommandBufferState& state = work.state();
  const DeviceState& device = *state.device;
  const PFN_vkVoidFunction next =
      device.exact != nullptr ? FindExactFunction(kName) : device.next_get(device.handle, kName);
  reinterpret_cast<EndRendering2>(next)(commandBuffer, info);
  LeaveRendering(state);
}

VKAPI_ATTR void VKAPI_CALL CmdBeginVideoCodingKHR(VkCommandBuffer commandBuffer,
                                                  const VkVideoBeginCodingInfoKHR* pBeginInfo) {
  const WorkScope work(commandBuffer, CAIRN_MARKER_BEGIN_VIDEO_CODING, WorkPoint::kNone);
  work.next().CmdBeginVideoCodingKHR(commandBuffer, pBeginInfo);
  work.state().in_video = true;
  UpdateSilence(work.state());
}

VKAPI_ATTR void VKAPI_CALL CmdEndVideoCodingKHR(VkCommandBuffer commandBuffer,
                                                const VkVideoEndCodingInfoKHR* pEndCodingInfo) {
  const WorkScope work(commandBuffer, CAIRN_MARKER_END_VIDEO_CODING, WorkPoint::kNone);
  work.next().CmdEndVideoCodingKHR(commandBuffer, pEndCodingInfo);
  work.state().in_video = false;
  UpdateSilence(work.state());
}

}  // namespace

std::span<const Intercept> RenderPassIntercepts() {
  using Vk = DeviceFunctions;
  static const std::array intercepts = {
      InterceptOf<PFN_vkCmdBeginRenderPass>("vkCmdBeginRenderPass", CmdBeginRenderPass),
      InterceptOf<PFN_vkCmdEndRenderPass>("vkCmdEndRenderPass", CmdEndRenderPass),
      InterceptOf<PFN_vkCmdNextSubpass>("vkCmdNextSubpass", CmdNextSubpass),
      InterceptOf<PFN_vkCmdBeginRenderPass2>("vkCmdBeginRenderPass2",
                                             CmdBeginRenderPass2<&Vk::CmdBeginRenderPass2>),
      InterceptOf<PFN_vkCmdBeginRenderPass2KHR>("vkCmdBeginRenderPass2KHR",
                                                CmdBeginRenderPass2<&Vk::CmdBeginRenderPass2KHR>),
      InterceptOf<PFN_vkCmdEndRenderPass2>("vkCmdEndRenderPass2",
                                           CmdEndRenderPass2<&Vk::CmdEndRenderPass2>),
      InterceptOf<PFN_vkCmdEndRenderPass2KHR>("vkCmdEndRenderPass2KHR",
                                              CmdEndRenderPass2<&Vk::CmdEndRenderPass2KHR>),
      InterceptOf<PFN_vkCmdNextSubpass2>("vkCmdNextSubpass2",
                                         CmdNextSubpass2<&Vk::CmdNextSubpass2>),
      InterceptOf<PFN_vkCmdNextSubpass2KHR>("vkCmdNextSubpass2KHR",
                                            CmdNextSubpass2<&Vk::CmdNextSubpass2KHR>),
      InterceptOf<PFN_vkCmdBeginRendering>("vkCmdBeginRendering",
                                           CmdBeginRendering<&Vk::CmdBeginRendering>),
      InterceptOf<PFN_vkCmdBeginRenderingKHR>("vkCmdBeginRenderingKHR",
                                              CmdBeginRendering<&Vk::CmdBeginRenderingKHR>),
      InterceptOf<PFN_vkCmdEndRendering>("vkCmdEndRendering",
                                         CmdEndRendering<&Vk::CmdEndRendering>),
      InterceptOf<PFN_vkCmdEndRenderingKHR>("vkCmdEndRenderingKHR",
                                            CmdEndRendering<&Vk::CmdEndRenderingKHR>),
      InterceptOf<EndRendering2>(kEndRendering2Ext, CmdEndRendering2<kEndRendering2Ext>),
      InterceptOf<EndRendering2>(kEndRendering2Khr, CmdEndRendering2<kEndRendering2Khr>),
      InterceptOf<PFN_vkCmdBeginVideoCodingKHR>("vkCmdBeginVideoCodingKHR", CmdBeginVideoCodingKHR),
      InterceptOf<PFN_vkCmdEndVideoCodingKHR>("vkCmdEndVideoCodingKHR", CmdEndVideoCodingKHR),
  };
  return intercepts;
}

}  // namespace cairn
