// SPDX-License-Identifier: Apache-2.0
//
// Compute work whose result depends on all of its state: mix.comp.
#ifndef CAIRN_TESTS_EXACT_MIXER_H_
#define CAIRN_TESTS_EXACT_MIXER_H_

#include <array>

#include "embedded/mix.comp.spv.h"
#include "rig.h"

namespace exact {

inline constexpr uint32_t kSlices = 8;       // of the buffers, by dynamic offsets
inline constexpr uint32_t kSliceWords = 64;  // more than the alignment that any device asks for

// mix.comp: set 0 is what it reads, set 1 what it changes.
class Mixer {
 public:
  Mixer(Rig& rig, VkDescriptorType from_type, bool pushes) : rig_(rig), pushes_(pushes) {
    from = rig.MakeBuffer(kSlices * kSliceWords);
    into = rig.MakeBuffer(kSlices * kSliceWords);
    for (uint32_t i = 0; i < from.word_count; ++i) {
      from.words[i] = i * 2654435761u;
      into.words[i] = i;
    }
    layouts_ = {MakeLayout(from_type, pushes),
                MakeLayout(VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, false)};
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 16};
    VkPipelineLayoutCreateInfo info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    info.setLayoutCount = 2;
    info.pSetLayouts = layouts_.data();
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &range;
    Check(vkCreatePipelineLayout(rig.device(), &info, nullptr, &layout), "vkCreatePipelineLayout");
    rig.Later([&rig, made = layout] { vkDestroyPipelineLayout(rig.device(), made, nullptr); });
    if (!pushes) read = MakeSet(0, from_type, from);
    changed = MakeSet(1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, into);
    MakePipeline();
  }

  void Constants(VkCommandBuffer commands, uint32_t first, uint32_t count,
                 const uint32_t* values) const {
    vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, first * 4, count * 4, values);
  }
  void BindChanged(VkCommandBuffer commands, uint32_t slice) const {
    const uint32_t offset = slice * kSliceWords * 4;
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 1, 1, &changed, 1,
                            &offset);
  }
  void BindBoth(VkCommandBuffer commands, uint32_t from_slice, uint32_t into_slice) const {
    const VkDescriptorSet sets[] = {read, changed};
    const uint32_t offsets[] = {from_slice * kSliceWords * 4, into_slice * kSliceWords * 4};
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 2, sets, 2,
                            offsets);
  }
  // Dispatches like an application: the next dispatch reads the data that this one writes.
  void Dispatch(VkCommandBuffer commands) const {
    vkCmdDispatch(commands, 1, 1, 1);
    const VkMemoryBarrier barrier = {
        VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT,
        VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, nullptr, 0, nullptr);
  }

  Buffer from;
  Buffer into;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkPipeline pipeline = VK_NULL_HANDLE;
  VkDescriptorSet read = VK_NULL_HANDLE;
  VkDescriptorSet changed = VK_NULL_HANDLE;

 private:
  VkDescriptorSetLayout MakeLayout(VkDescriptorType type, bool pushes) {
    const VkDescriptorSetLayoutBinding binding = {0, type, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    VkDescriptorSetLayoutCreateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    if (pushes) info.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
    info.bindingCount = 1;
    info.pBindings = &binding;
    VkDescriptorSetLayout made = VK_NULL_HANDLE;
    Check(vkCreateDescriptorSetLayout(rig_.device(), &info, nullptr, &made),
          "vkCreateDescriptorSetLayout");
    rig_.Later([&rig = rig_, made] { vkDestroyDescriptorSetLayout(rig.device(), made, nullptr); });
    return made;
  }
  VkDescriptorSet MakeSet(uint32_t index, VkDescriptorType type, const Buffer& buffer) {
    const VkDescriptorPoolSize size = {type, 1};
    VkDescriptorPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    pool_info.maxSets = 1;
    pool_info.poolSizeCount = 1;
    pool_info.pPoolSizes = &size;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    Check(vkCreateDescriptorPool(rig_.device(), &pool_info, nullptr, &pool),
          "vkCreateDescriptorPool");
    rig_.Later([&rig = rig_, pool] { vkDestroyDescriptorPool(rig.device(), pool, nullptr); });
    VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    info.descriptorPool = pool;
    info.descriptorSetCount = 1;
    info.pSetLayouts = &layouts_[index];
    VkDescriptorSet set = VK_NULL_HANDLE;
    Check(vkAllocateDescriptorSets(rig_.device(), &info, &set), "vkAllocateDescriptorSets");
    const VkDescriptorBufferInfo range = {buffer.buffer, 0, kSliceWords * 4};
    VkWriteDescriptorSet write = Write(type, &range);
    write.dstSet = set;
    vkUpdateDescriptorSets(rig_.device(), 1, &write, 0, nullptr);
    return set;
  }
  void MakePipeline() {
    VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = rig_.MakeShader(kMixCompSpv, sizeof(kMixCompSpv));
    info.stage.pName = "main";
    info.layout = layout;
    Check(vkCreateComputePipelines(rig_.device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
          "vkCreateComputePipelines");
    rig_.Later([&rig = rig_, made = pipeline] { vkDestroyPipeline(rig.device(), made, nullptr); });
  }

 public:
  static VkWriteDescriptorSet Write(VkDescriptorType type, const VkDescriptorBufferInfo* range) {
    VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.descriptorCount = 1;
    write.descriptorType = type;
    write.pBufferInfo = range;
    return write;
  }

 private:
  Rig& rig_;
  const bool pushes_;
  std::array<VkDescriptorSetLayout, 2> layouts_;
};

}  // namespace exact

#endif  // CAIRN_TESTS_EXACT_MIXER_H_
