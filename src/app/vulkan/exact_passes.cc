// SPDX-License-Identifier: Apache-2.0
//
// Mode exact: begins and ends of render passes. Passes that may be cut are cut; others are passed
// on unchanged.
#include <array>

#include "app/vulkan/exact.h"

namespace cairn {
namespace {

VKAPI_ATTR void VKAPI_CALL CmdBeginRenderPass(VkCommandBuffer handle,
                                              const VkRenderPassBeginInfo* info,
                                              VkSubpassContents contents) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  if (commands.SetParts(*info, contents, commands.device().render_passes())) {
    return commands.EnterParts();
  }
  commands.Precede();
  commands.next().CmdBeginRenderPass(handle, info, contents);
  commands.EnterWhole(/*suspends=*/false);
}

VKAPI_ATTR void VKAPI_CALL CmdEndRenderPass(VkCommandBuffer handle) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  if (commands.LeaveParts()) return;
  commands.next().CmdEndRenderPass(handle);
  commands.LeaveWhole();
}

template <auto kNext>
VKAPI_ATTR void VKAPI_CALL CmdBeginRenderPass2(VkCommandBuffer handle,
                                               const VkRenderPassBeginInfo* info,
                                               const VkSubpassBeginInfo* subpass) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  if (subpass->pNext == nullptr &&
      commands.SetParts(*info, subpass->contents, commands.device().render_passes())) {
    return commands.EnterParts();
  }
  commands.Precede();
  (commands.next().*kNext)(handle, info, subpass);
  commands.EnterWhole(/*suspends=*/false);
}

template <auto kNext>
VKAPI_ATTR void VKAPI_CALL CmdEndRenderPass2(VkCommandBuffer handle, const VkSubpassEndInfo* info) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  if (commands.LeaveParts()) return;
  (commands.next().*kNext)(handle, info);
  commands.LeaveWhole();
}

template <auto kNext, bool kKhr>
VKAPI_ATTR void VKAPI_CALL CmdBeginRendering(VkCommandBuffer handle, const VkRenderingInfo* info) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  if (commands.SetParts(*info, kKhr)) return commands.EnterParts();
  if ((info->flags & VK_RENDERING_RESUMING_BIT) != 0) {
    commands.Resume();
  } else {
    commands.Precede();
  }
  (commands.next().*kNext)(handle, info);
  commands.EnterWhole((info->flags & VK_RENDERING_SUSPENDING_BIT) != 0);
}

template <auto kNext>
VKAPI_ATTR void VKAPI_CALL CmdEndRendering(VkCommandBuffer handle) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  if (commands.LeaveParts()) return;
  (commands.next().*kNext)(handle);
  commands.LeaveWhole();
}

// vkCmdEndRendering2EXT and vkCmdEndRendering2KHR, which only newer headers know.
using EndRendering2 = void(VKAPI_PTR*)(VkCommandBuffer, const void*);
constexpr char kEndRendering2Ext[] = "vkCmdEndRendering2EXT";
constexpr char kEndRendering2Khr[] = "vkCmdEndRendering2KHR";

template <const char* kName>
VKAPI_ATTR void VKAPI_CALL CmdEndRendering2(VkCommandBuffer handle, const void* info) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  if (commands.LeaveParts()) return;
  const DeviceState& device = commands.device().device();
  reinterpret_cast<EndRendering2>(device.next_get(device.handle, kName))(handle, info);
  commands.LeaveWhole();
}

template <const char* kName>
ExactFunction ByName() {
  const EndRendering2 function = CmdEndRendering2<kName>;
  return {kName, reinterpret_cast<PFN_vkVoidFunction>(function),
          [](DeviceFunctions&, PFN_vkVoidFunction) {}};
}

}  // namespace

std::span<const ExactFunction> ExactPassFunctions() {
  using Vk = DeviceFunctions;
  static const std::array functions = {
      Replace<&Vk::CmdBeginRenderPass>("vkCmdBeginRenderPass", CmdBeginRenderPass),
      Replace<&Vk::CmdEndRenderPass>("vkCmdEndRenderPass", CmdEndRenderPass),
      Replace<&Vk::CmdBeginRenderPass2>("vkCmdBeginRenderPass2",
                                        CmdBeginRenderPass2<&Vk::CmdBeginRenderPass2>),
      Replace<&Vk::CmdBeginRenderPass2KHR>("vkCmdBeginRenderPass2KHR",
                                           CmdBeginRenderPass2<&Vk::CmdBeginRenderPass2KHR>),
      Replace<&Vk::CmdEndRenderPass2>("vkCmdEndRenderPass2",
                                      CmdEndRenderPass2<&Vk::CmdEndRenderPass2>),
      Replace<&Vk::CmdEndRenderPass2KHR>("vkCmdEndRenderPass2KHR",
                                         CmdEndRenderPass2<&Vk::CmdEndRenderPass2KHR>),
      Replace<&Vk::CmdBeginRendering>("vkCmdBeginRendering",
                                      CmdBeginRendering<&Vk::CmdBeginRendering, false>),
      Replace<&Vk::CmdBeginRenderingKHR>("vkCmdBeginRenderingKHR",
                                         CmdBeginRendering<&Vk::CmdBeginRenderingKHR, true>),
      Replace<&Vk::CmdEndRendering>("vkCmdEndRendering", CmdEndRendering<&Vk::CmdEndRendering>),
      Replace<&Vk::CmdEndRenderingKHR>("vkCmdEndRenderingKHR",
                                       CmdEndRendering<&Vk::CmdEndRenderingKHR>),
      ByName<kEndRendering2Ext>(),
      ByName<kEndRendering2Khr>(),
  };
  return functions;
}

}  // namespace cairn
