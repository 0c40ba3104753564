// SPDX-License-Identifier: Apache-2.0
//
// Mode exact: commands that matter to it and that only newer headers than 1.3.239 know, by their names. Where
// the headers know one, its generated function goes before.
#include <algorithm>
#include <array>
#include <cstddef>

#include "app/vulkan/exact.h"
#include "app/vulkan/exact_work.h"

namespace cairn {
namespace {

template <size_t kSize>
struct Name {
  consteval Name(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }  // NOLINT
  char text[kSize];
};

template <typename... Arguments>
void CallNext(const ExactCommands& commands, const char* name, VkCommandBuffer handle,
              Arguments... arguments) {
  using Function = void(VKAPI_PTR*)(VkCommandBuffer, Arguments...);
  const DeviceState& device = commands.device().device();
  reinterpret_cast<Function>(device.next_get(device.handle, name))(handle, arguments...);
}

// The command may bind state that cannot be restored for compute.
template <Name kName, typename... Arguments>
VKAPI_ATTR void VKAPI_CALL Binds(VkCommandBuffer handle, Arguments... arguments) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  commands.compute().GiveUp();
  CallNext(commands, kName.text, handle, arguments...);
}

// The effect lasts until the render pass ends: from here on the pass is not cut.
template <Name kName, typename... Arguments>
VKAPI_ATTR void VKAPI_CALL StaysInPass(VkCommandBuffer handle, Arguments... arguments) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  commands.Hold();
  CallNext(commands, kName.text, handle, arguments...);
}

template <Name kName, typename... Arguments>
VKAPI_ATTR void VKAPI_CALL Draws(VkCommandBuffer handle, Arguments... arguments) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  const ExactWork work(handle, ExactKind::kInPass);
  CallNext(commands, kName.text, handle, arguments...);
}

template <Name kName>
ExactFunction BindsInfo() {
  return OnlyByName(kName.text, Binds<kName, const void*>);
}

template <Name kName>
ExactFunction StaysInPassInfo() {
  return OnlyByName(kName.text, StaysInPass<kName, const void*>);
}

}  // namespace

// The parameters are those of the Vulkan specification, pointers without what they point to.
std::span<const ExactFunction> ExactNewerFunctions() {
  static const std::array functions = {
      BindsInfo<"vkCmdBindDescriptorSets2">(),
      BindsInfo<"vkCmdBindDescriptorSets2KHR">(),
      BindsInfo<"vkCmdPushConstants2">(),
      BindsInfo<"vkCmdPushConstants2KHR">(),
      BindsInfo<"vkCmdPushDescriptorSet2">(),
      BindsInfo<"vkCmdPushDescriptorSet2KHR">(),
      BindsInfo<"vkCmdPushDescriptorSetWithTemplate2">(),
      BindsInfo<"vkCmdPushDescriptorSetWithTemplate2KHR">(),
      BindsInfo<"vkCmdSetDescriptorBufferOffsets2EXT">(),
      BindsInfo<"vkCmdBindDescriptorBufferEmbeddedSamplers2EXT">(),
      OnlyByName("vkCmdPushDescriptorSet",
                 Binds<"vkCmdPushDescriptorSet", VkPipelineBindPoint, VkPipelineLayout, uint32_t,
                       uint32_t, const void*>),
      OnlyByName("vkCmdPushDescriptorSetWithTemplate",
                 Binds<"vkCmdPushDescriptorSetWithTemplate", VkDescriptorUpdateTemplate,
                       VkPipelineLayout, uint32_t, const void*>),
      OnlyByName("vkCmdBindShadersEXT",
                 Binds<"vkCmdBindShadersEXT", uint32_t, const void*, const void*>),
      StaysInPassInfo<"vkCmdSetRenderingAttachmentLocations">(),
      StaysInPassInfo<"vkCmdSetRenderingAttachmentLocationsKHR">(),
      StaysInPassInfo<"vkCmdSetRenderingInputAttachmentIndices">(),
      StaysInPassInfo<"vkCmdSetRenderingInputAttachmentIndicesKHR">(),
      StaysInPassInfo<"vkCmdBeginCustomResolveEXT">(),
      OnlyByName("vkCmdExecuteGeneratedCommandsEXT",
                 Draws<"vkCmdExecuteGeneratedCommandsEXT", VkBool32, const void*>),
  };
  return functions;
}

}  // namespace cairn
