// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/exact_compute_state.h"

#include <algorithm>
#include <new>

namespace cairn {
namespace {

enum class Kind : uint8_t { kImage, kBuffer, kView, kOther };

// Returns the array of a write that descriptors of this type use.
Kind KindOf(VkDescriptorType type) {
  switch (type) {
    case VK_DESCRIPTOR_TYPE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE: return Kind::kImage;
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER: return Kind::kBuffer;
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER: return Kind::kView;
    default: return Kind::kOther;
  }
}

bool CanBeCopied(const VkWriteDescriptorSet& write) {
  return write.pNext == nullptr && KindOf(write.descriptorType) != Kind::kOther;
}

}  // namespace

void ExactComputeState::Clear() {
  pipeline_ = VK_NULL_HANDLE;
  bound_.clear();
  constants_.clear();
  restorable_ = true;
}

void ExactComputeState::BindSets(VkPipelineLayout layout, uint32_t first,
                                 std::span<const VkDescriptorSet> sets,
                                 std::span<const uint32_t> dynamic_offsets) noexcept {
  const size_t end = first + sets.size();
  std::erase_if(bound_, [first, end](const Bound& before) {
    return before.first >= first && before.end() <= end;
  });
  try {
    bound_.push_back({layout,
                      first,
                      {sets.begin(), sets.end()},
                      {dynamic_offsets.begin(), dynamic_offsets.end()},
                      {}});
  } catch (const std::bad_alloc&) {
    GiveUp();
  }
}

// Earlier pushes to the set stay valid, but for what is pushed now.
void ExactComputeState::Push(VkPipelineLayout layout, uint32_t set,
                             std::span<const VkWriteDescriptorSet> writes) noexcept {
  if (writes.empty()) return;
  if (!std::ranges::all_of(writes, CanBeCopied)) return GiveUp();
  std::erase_if(bound_, [&](const Bound& before) {
    return before.first == set && !before.pushed.empty() &&
           std::ranges::all_of(before.pushed, [&](const Pushed& old) {
             return std::ranges::any_of(
                 writes, [&](const VkWriteDescriptorSet& write) { return old.SamePlace(write); });
           });
  });
  try {
    bound_.push_back({layout, set, {}, {}, {writes.begin(), writes.end()}});
  } catch (const std::bad_alloc&) {
    GiveUp();
  }
}

void ExactComputeState::PushConstants(VkPipelineLayout layout, VkShaderStageFlags stages,
                                      uint32_t offset, std::span<const std::byte> values) noexcept {
  std::erase_if(constants_, [&](const Constants& before) {
    return before.offset >= offset &&
           before.offset + before.values.size() <= offset + values.size();
  });
  try {
    constants_.push_back({layout, stages, offset, {values.begin(), values.end()}});
  } catch (const std::bad_alloc&) {
    GiveUp();
  }
}

ExactComputeState::Pushed::Pushed(const VkWriteDescriptorSet& from) : write(from) {
  const uint32_t count = from.descriptorCount;
  switch (KindOf(from.descriptorType)) {
    case Kind::kImage: images.assign(from.pImageInfo, from.pImageInfo + count); break;
    case Kind::kBuffer: buffers.assign(from.pBufferInfo, from.pBufferInfo + count); break;
    case Kind::kView: views.assign(from.pTexelBufferView, from.pTexelBufferView + count); break;
    case Kind::kOther: break;
  }
}

VkWriteDescriptorSet ExactComputeState::Pushed::Write() const {
  VkWriteDescriptorSet copy = write;
  copy.pImageInfo = images.data();
  copy.pBufferInfo = buffers.data();
  copy.pTexelBufferView = views.data();
  return copy;
}

bool ExactComputeState::Pushed::SamePlace(const VkWriteDescriptorSet& other) const {
  return write.dstBinding == other.dstBinding && write.dstArrayElement == other.dstArrayElement &&
         write.descriptorCount == other.descriptorCount;
}

void ExactComputeState::Restore(const DeviceFunctions& next, VkCommandBuffer commands) const {
  if (pipeline_ != VK_NULL_HANDLE) {
    next.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
  }
  for (const Bound& bound : bound_) {
    if (!bound.pushed.empty()) {
      std::vector<VkWriteDescriptorSet> writes;
      for (const Pushed& pushed : bound.pushed) writes.push_back(pushed.Write());
      next.CmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, bound.layout,
                                   bound.first, static_cast<uint32_t>(writes.size()),
                                   writes.data());
      continue;
    }
    next.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, bound.layout, bound.first,
                               static_cast<uint32_t>(bound.sets.size()), bound.sets.data(),
                               static_cast<uint32_t>(bound.dynamic_offsets.size()),
                               bound.dynamic_offsets.data());
  }
  // By the specification, no other command changes push constants, and binding a pipeline keeps
  // them. Mesa's lavapipe 22.3 loses those pushed since the last dispatch all the same.
  for (const Constants& one : constants_) {
    next.CmdPushConstants(commands, one.layout, one.stages, one.offset,
                          static_cast<uint32_t>(one.values.size()), one.values.data());
  }
}

}  // namespace cairn
