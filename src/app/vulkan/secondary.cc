// SPDX-License-Identifier: Apache-2.0
//
// Secondary command buffers: the primary notes which recordings run inside it, and where.
#include <array>

#include "app/vulkan/command_buffer.h"
#include "app/vulkan/intercept.h"

namespace cairn {
namespace {

void NoteSecondaries(CommandBufferState& state, uint32_t count, const VkCommandBuffer* buffers) {
  for (uint32_t i = 0; i < count; ++i) {
    const CommandBufferState* const secondary = CommandBufferOf(buffers[i]);
    if (secondary != nullptr && secondary->list != nullptr) {
      state.open->ExecuteSecondary(*secondary->list);
    }
  }
}

VKAPI_ATTR void VKAPI_CALL CmdExecuteCommands(VkCommandBuffer commandBuffer,
                                              uint32_t commandBufferCount,
                                              const VkCommandBuffer* pCommandBuffers) {
  CommandBufferState& state = *CommandBufferOf(commandBuffer);
  bool begun = false;
  if (state.open != nullptr) {
    Quietly([&] {
      state.open->BeginMarker(CAIRN_MARKER_EXECUTE_COMMANDS, nullptr, CAIRN_NAME_STATIC);
      begun = true;
      if (state.checkpoints) SetCheckpoint(state);
      NoteSecondaries(state, commandBufferCount, pCommandBuffers);
    });
  }
  state.vk->CmdExecuteCommands(commandBuffer, commandBufferCount, pCommandBuffers);
  if (begun) state.open->EndMarker();
  state.ForgetBinds();
}

}  // namespace

std::span<const Intercept> SecondaryIntercepts() {
  static const std::array intercepts = {
      InterceptOf<PFN_vkCmdExecuteCommands>("vkCmdExecuteCommands", CmdExecuteCommands),
  };
  return intercepts;
}

}  // namespace cairn
