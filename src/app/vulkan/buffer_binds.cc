// SPDX-License-Identifier: Apache-2.0
//
// The calls that bind vertex and index buffers. A recording notes the entry of the buffer in the table of objects,
// where another one is bound than before.
#include <array>

#include "app/vulkan/command_buffer.h"
#include "app/vulkan/device_objects.h"
#include "app/vulkan/intercept.h"

namespace cairn {
namespace {

void BindBuffer(CommandBufferState& state, BindPoint point, uint32_t slot, VkBuffer buffer) {
  const uint32_t place =
      buffer == VK_NULL_HANDLE ? 0 : state.device->objects->names.PlaceOf(buffer);
  NoteBind(state, point, slot, place, /*is_address=*/false);
}

void BindVertexBuffers(CommandBufferState& state, uint32_t first, uint32_t count,
                       const VkBuffer* buffers) {
  if (state.open == nullptr) return;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t slot = first + i;
    if (slot < kRememberedVertexBuffers) {
      if (state.vertex_buffers[slot] == buffers[i]) continue;
      state.vertex_buffers[slot] = buffers[i];
    }
    BindBuffer(state, BindPoint::kVertexBuffer, slot, buffers[i]);
  }
}

void BindIndexBuffer(CommandBufferState& state, VkBuffer buffer) {
  if (state.open == nullptr || state.index_buffer == buffer) return;
  state.index_buffer = buffer;
  BindBuffer(state, BindPoint::kIndexBuffer, 0, buffer);
}

void VKAPI_CALL CmdBindVertexBuffers(VkCommandBuffer commands, uint32_t first, uint32_t count,
                                     const VkBuffer* buffers, const VkDeviceSize* offsets) {
  CommandBufferState& state = *CommandBufferOf(commands);
  BindVertexBuffers(state, first, count, buffers);
  state.vk->CmdBindVertexBuffers(commands, first, count, buffers, offsets);
}

template <auto kNext>
void VKAPI_CALL CmdBindVertexBuffers2(VkCommandBuffer commands, uint32_t first, uint32_t count,
                                      const VkBuffer* buffers, const VkDeviceSize* offsets,
                                      const VkDeviceSize* sizes, const VkDeviceSize* strides) {
  CommandBufferState& state = *CommandBufferOf(commands);
  BindVertexBuffers(state, first, count, buffers);
  (state.vk->*kNext)(commands, first, count, buffers, offsets, sizes, strides);
}

void VKAPI_CALL CmdBindIndexBuffer(VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize offset,
                                   VkIndexType type) {
  CommandBufferState& state = *CommandBufferOf(commands);
  BindIndexBuffer(state, buffer);
  state.vk->CmdBindIndexBuffer(commands, buffer, offset, type);
}

#ifdef VK_KHR_maintenance5
template <auto kNext>
void VKAPI_CALL CmdBindIndexBuffer2(VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize offset,
                                    VkDeviceSize size, VkIndexType type) {
  CommandBufferState& state = *CommandBufferOf(commands);
  BindIndexBuffer(state, buffer);
  (state.vk->*kNext)(commands, buffer, offset, size, type);
}
#endif

}  // namespace

std::span<const Intercept> BufferBindIntercepts() {
  using Functions = DeviceFunctions;
  static const std::array intercepts = {
      InterceptOf<PFN_vkCmdBindVertexBuffers>("vkCmdBindVertexBuffers", CmdBindVertexBuffers),
      InterceptOf<PFN_vkCmdBindVertexBuffers2>(
          "vkCmdBindVertexBuffers2", CmdBindVertexBuffers2<&Functions::CmdBindVertexBuffers2>),
      InterceptOf<PFN_vkCmdBindVertexBuffers2>(
          "vkCmdBindVertexBuffers2EXT",
          CmdBindVertexBuffers2<&Functions::CmdBindVertexBuffers2EXT>),
      InterceptOf<PFN_vkCmdBindIndexBuffer>("vkCmdBindIndexBuffer", CmdBindIndexBuffer),
#ifdef VK_KHR_maintenance5
      InterceptOf<PFN_vkCmdBindIndexBuffer2KHR>(
          "vkCmdBindIndexBuffer2KHR", CmdBindIndexBuffer2<&Functions::CmdBindIndexBuffer2KHR>),
#endif
#ifdef VK_VERSION_1_4
      InterceptOf<PFN_vkCmdBindIndexBuffer2>("vkCmdBindIndexBuffer2",
                                             CmdBindIndexBuffer2<&Functions::CmdBindIndexBuffer2>),
#endif
  };
  return intercepts;
}

}  // namespace cairn
