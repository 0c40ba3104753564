// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "mixer.h"
#include "scenes.h"

namespace exact {
namespace {

// The pipeline and set 0 are bound once; push constants change one at a time, and set 1 by its offset alone.
Buffer StateStays(Rig& rig) {
  const Mixer mixer(rig, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, false);
  rig.Run([&](VkCommandBuffer commands) {
    const uint32_t constants[] = {3, 5, 7, 11};
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, mixer.pipeline);
    mixer.BindBoth(commands, 2, 1);
    mixer.Constants(commands, 0, 4, constants);
    mixer.Dispatch(commands);
    mixer.Dispatch(commands);
    for (uint32_t i = 0; i < 6; ++i) {
      mixer.Constants(commands, i % 4, 1, &i);
      if (i % 2 == 0) mixer.BindChanged(commands, i);
      mixer.Dispatch(commands);
    }
  });
  return mixer.into;
}

// A secondary command buffer brings its own state; what the primary one has afterwards it sets itself.
Buffer AroundASecondary(Rig& rig) {
  const Mixer mixer(rig, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, false);
  const VkCommandBuffer secondary = rig.Allocate(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  const VkCommandBufferInheritanceInfo inheritance = {
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
  const VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr, 0,
                                          &inheritance};
  const auto record = [&](VkCommandBuffer commands, uint32_t slice) {
    const uint32_t constants[] = {slice, 13, 17, 19};
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, mixer.pipeline);
    mixer.BindBoth(commands, slice, slice + 1);
    mixer.Constants(commands, 0, 4, constants);
    mixer.Dispatch(commands);
    mixer.Dispatch(commands);
  };
  vkBeginCommandBuffer(secondary, &begin);
  record(secondary, 3);
  vkEndCommandBuffer(secondary);
  rig.Run([&](VkCommandBuffer commands) {
    record(commands, 1);
    vkCmdExecuteCommands(commands, 1, &secondary);
    record(commands, 5);
  });
  return mixer.into;
}

// Set 0 is pushed at the start, and once more in the middle.
Buffer PushDescriptors(Rig& rig) {
  if (rig.push_descriptor_set() == nullptr) return {};
  const Mixer mixer(rig, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, true);
  rig.Run([&](VkCommandBuffer commands) {
    const uint32_t constants[] = {23, 29, 31, 37};
    const VkDescriptorBufferInfo range = {mixer.from.buffer, 0, kSliceWords * 4};
    const VkWriteDescriptorSet write = Mixer::Write(VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, &range);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, mixer.pipeline);
    rig.push_descriptor_set()(commands, VK_PIPELINE_BIND_POINT_COMPUTE, mixer.layout, 0, 1, &write);
    mixer.Constants(commands, 0, 4, constants);
    const VkDescriptorBufferInfo second = {mixer.from.buffer, 3 * kSliceWords * 4, kSliceWords * 4};
    const VkWriteDescriptorSet other = Mixer::Write(VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, &second);
    for (uint32_t slice = 0; slice < 4; ++slice) {
      mixer.BindChanged(commands, slice);
      mixer.Dispatch(commands);
      mixer.Dispatch(commands);
      if (slice != 1) continue;
      rig.push_descriptor_set()(commands, VK_PIPELINE_BIND_POINT_COMPUTE, mixer.layout, 0, 1,
                                &other);
    }
  });
  return mixer.into;
}

}  // namespace

std::span<const Scene> ComputeScenes() {
  static const std::array scenes = {Scene{"compute-state-stays", StateStays},
                                    Scene{"compute-around-a-secondary", AroundASecondary},
                                    Scene{"compute-push-descriptors", PushDescriptors}};
  return scenes;
}

}  // namespace exact
