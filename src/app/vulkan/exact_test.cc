// SPDX-License-Identifier: Apache-2.0
//
// The parts of mode exact alone: the render passes that are cut, their parts, and the bindings
// restored behind the canary. vulkan_layer_test.cc and tests/exact test the whole on a driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/vulkan/exact_compute_state.h"
#include "app/vulkan/exact_pass_parts.h"
#include "app/vulkan/exact_render_pass.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

template <typename Handle>
Handle Made(uint64_t number) {
  return reinterpret_cast<Handle>(number * 8);
}

// ---- A driver that notes what it is asked for ----------------------------------------------------------

std::vector<std::vector<VkAttachmentDescription>> made_passes;
std::vector<VkRenderPass> destroyed_passes;
uint64_t fail_at = 0;  // the creation that fails, counted from 1

VkResult VKAPI_CALL CreatePass(VkDevice, const VkRenderPassCreateInfo* info,
                               const VkAllocationCallbacks*, VkRenderPass* pass) {
  if (made_passes.size() + 1 == fail_at) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  made_passes.emplace_back(info->pAttachments, info->pAttachments + info->attachmentCount);
  *pass = Made<VkRenderPass>(100 + made_passes.size());
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyPass(VkDevice, VkRenderPass pass, const VkAllocationCallbacks*) {
  if (pass != VK_NULL_HANDLE) destroyed_passes.push_back(pass);
}

// ---- Render passes -------------------------------------------------------------------------------------

constexpr VkImageLayout kColourLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
constexpr VkImageLayout kDepthLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL;

// A colour attachment that is cleared and kept, a depth attachment that is neither loaded nor kept, and one that
// the subpass does not use.
struct Pass {
  VkAttachmentDescription attachments[3] = {
      {0, VK_FORMAT_R8G8B8A8_UNORM, VK_SAMPLE_COUNT_1_BIT, VK_ATTACHMENT_LOAD_OP_CLEAR,
       VK_ATTACHMENT_STORE_OP_STORE, VK_ATTACHMENT_LOAD_OP_DONT_CARE,
       VK_ATTACHMENT_STORE_OP_DONT_CARE, VK_IMAGE_LAYOUT_UNDEFINED,
       VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL},
      {0, VK_FORMAT_D24_UNORM_S8_UINT, VK_SAMPLE_COUNT_1_BIT, VK_ATTACHMENT_LOAD_OP_DONT_CARE,
       VK_ATTACHMENT_STORE_OP_DONT_CARE, VK_ATTACHMENT_LOAD_OP_CLEAR,
       VK_ATTACHMENT_STORE_OP_DONT_CARE, kDepthLayout, VK_IMAGE_LAYOUT_GENERAL},
      {0, VK_FORMAT_R8G8B8A8_UNORM, VK_SAMPLE_COUNT_1_BIT, VK_ATTACHMENT_LOAD_OP_LOAD,
       VK_ATTACHMENT_STORE_OP_STORE, VK_ATTACHMENT_LOAD_OP_DONT_CARE,
       VK_ATTACHMENT_STORE_OP_DONT_CARE, VK_IMAGE_LAYOUT_GENERAL,
       VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL}};
  VkAttachmentReference colour = {0, kColourLayout};
  VkAttachmentReference depth = {1, kDepthLayout};
  VkSubpassDescription subpass = {};
  VkRenderPassCreateInfo info = {VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};

  Pass() {
    subpass.colorAttachmentCount = 1;
    subpass.pColorAttachments = &colour;
    subpass.pDepthStencilAttachment = &depth;
    info.attachmentCount = 3;
    info.pAttachments = attachments;
    info.subpassCount = 1;
    info.pSubpasses = &subpass;
  }
  Pass(const Pass&) = delete;
};

class ExactRenderPassesTest : public testing::Test {
 protected:
  ExactRenderPassesTest() {
    made_passes.clear();
    destroyed_passes.clear();
    fail_at = 0;
    next_.CreateRenderPass = CreatePass;
    next_.DestroyRenderPass = DestroyPass;
  }
  bool IsCut(const std::function<void(Pass& pass)>& change) {
    Pass pass;
    change(pass);
    ExactRenderPasses passes(VK_NULL_HANDLE, next_);
    passes.Add(Made<VkRenderPass>(1), pass.info);
    return passes.Find(Made<VkRenderPass>(1)).has_value();
  }

  DeviceFunctions next_;
};

std::vector<int> Loads(const VkAttachmentDescription& one) {
  return {one.loadOp, one.storeOp, one.stencilLoadOp, one.stencilStoreOp};
}
std::vector<int> Layouts(const VkAttachmentDescription& one) {
  return {one.initialLayout, one.finalLayout};
}

TEST_F(ExactRenderPassesTest, PartsLoadAndStoreAllButAtTheEndsOfThePass) {
  constexpr int kLoad = VK_ATTACHMENT_LOAD_OP_LOAD;
  constexpr int kClear = VK_ATTACHMENT_LOAD_OP_CLEAR;
  constexpr int kAny = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
  constexpr int kStore = VK_ATTACHMENT_STORE_OP_STORE;
  constexpr int kDrop = VK_ATTACHMENT_STORE_OP_DONT_CARE;
  ExactRenderPasses passes(VK_NULL_HANDLE, next_);
  const Pass pass;
  passes.Add(Made<VkRenderPass>(1), pass.info);
  ASSERT_THAT(made_passes, SizeIs(3));
  const auto& [first, middle, last] = std::tie(made_passes[0], made_passes[1], made_passes[2]);
  EXPECT_THAT(Loads(first[0]), ElementsAre(kClear, kStore, kAny, kStore));
  EXPECT_THAT(Loads(middle[0]), ElementsAre(kLoad, kStore, kLoad, kStore));
  EXPECT_THAT(Loads(last[0]), ElementsAre(kLoad, kStore, kLoad, kDrop));
  EXPECT_THAT(Loads(first[1]), ElementsAre(kAny, kStore, kClear, kStore));
  EXPECT_THAT(Loads(last[1]), ElementsAre(kLoad, kDrop, kLoad, kDrop));
  EXPECT_THAT(Layouts(first[0]), ElementsAre(VK_IMAGE_LAYOUT_UNDEFINED, kColourLayout));
  EXPECT_THAT(Layouts(middle[0]), ElementsAre(kColourLayout, kColourLayout));
  EXPECT_THAT(Layouts(last[0]), ElementsAre(kColourLayout, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL));
  EXPECT_THAT(Layouts(last[1]), ElementsAre(kDepthLayout, VK_IMAGE_LAYOUT_GENERAL));
  // The layout of what is not used changes as well, once.
  constexpr int kRead = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
  EXPECT_THAT(Layouts(first[2]), ElementsAre(VK_IMAGE_LAYOUT_GENERAL, kRead));
  EXPECT_THAT(Layouts(middle[2]), ElementsAre(kRead, kRead));
  EXPECT_THAT(Layouts(last[2]), ElementsAre(kRead, kRead));
}

TEST_F(ExactRenderPassesTest, PartsEndWithThePass) {
  {
    ExactRenderPasses passes(VK_NULL_HANDLE, next_);
    const Pass pass;
    passes.Add(Made<VkRenderPass>(1), pass.info);
    passes.Add(Made<VkRenderPass>(2), pass.info);
    passes.Remove(Made<VkRenderPass>(1));
    EXPECT_THAT(destroyed_passes, ElementsAre(Made<VkRenderPass>(101), Made<VkRenderPass>(102),
                                              Made<VkRenderPass>(103)));
    EXPECT_FALSE(passes.Find(Made<VkRenderPass>(1)).has_value());
    EXPECT_EQ(passes.Find(Made<VkRenderPass>(2))->middle, Made<VkRenderPass>(105));
    passes.Remove(Made<VkRenderPass>(7));  // never seen
  }
  EXPECT_THAT(destroyed_passes, SizeIs(6)) << "what is left ends with the device";
}

TEST_F(ExactRenderPassesTest, WhereTheDriverRefusesAPartThereIsNone) {
  fail_at = 3;
  EXPECT_FALSE(IsCut([](Pass&) {}));
  EXPECT_THAT(destroyed_passes, ElementsAre(Made<VkRenderPass>(101), Made<VkRenderPass>(102)));
}

TEST_F(ExactRenderPassesTest, WhatIsNotKnownToStayTheSameIsNotCut) {
  EXPECT_TRUE(IsCut([](Pass&) {}));
  static const VkRenderPassMultiviewCreateInfo views = {
      VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO};
  EXPECT_FALSE(IsCut([](Pass& pass) { pass.info.pNext = &views; }));
  EXPECT_FALSE(IsCut(
      [](Pass& pass) { pass.attachments[0].flags = VK_ATTACHMENT_DESCRIPTION_MAY_ALIAS_BIT; }));
  EXPECT_FALSE(
      IsCut([](Pass& pass) { pass.attachments[1].loadOp = VK_ATTACHMENT_LOAD_OP_NONE_EXT; }));
  EXPECT_FALSE(IsCut([](Pass& pass) {
    pass.subpass.inputAttachmentCount = 1;
    pass.subpass.pInputAttachments = &pass.colour;
  }));
  EXPECT_FALSE(IsCut([](Pass& pass) { pass.depth.attachment = 0; })) << "used twice";
  EXPECT_FALSE(IsCut([](Pass& pass) { pass.depth.attachment = 3; })) << "is not there";
  EXPECT_FALSE(IsCut([](Pass& pass) { pass.info.subpassCount = 2; }));
  EXPECT_FALSE(IsCut([](Pass& pass) { pass.info.flags = 2; }));
  EXPECT_TRUE(IsCut([](Pass& pass) { pass.depth.attachment = VK_ATTACHMENT_UNUSED; }));
  EXPECT_TRUE(IsCut([](Pass& pass) { pass.subpass.pDepthStencilAttachment = nullptr; }));
}

// ---- Dynamic rendering ---------------------------------------------------------------------------------

TEST(PassPartsTest, DynamicPassesThatAreNotCut) {
  VkRenderingAttachmentInfo colour = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
  VkRenderingInfo info = {VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.colorAttachmentCount = 1;
  info.pColorAttachments = &colour;
  const auto cut = [&] { return PassParts().Set(info, false); };
  EXPECT_TRUE(cut());
  for (const VkRenderingFlags flags : {VK_RENDERING_SUSPENDING_BIT, VK_RENDERING_RESUMING_BIT,
                                       VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT}) {
    info.flags = flags;
    EXPECT_FALSE(cut()) << flags;
  }
  info.flags = 0;
  info.viewMask = 3;
  EXPECT_FALSE(cut());
  info.viewMask = 0;
  info.pNext = &colour;
  EXPECT_FALSE(cut());
  info.pNext = nullptr;
  colour.loadOp = VK_ATTACHMENT_LOAD_OP_NONE_EXT;
  EXPECT_FALSE(cut());
}

std::vector<std::vector<int>> begun;

// Everything is resolved at the end, once; the caller's structures may be gone by then.
TEST(PassPartsTest, PartsOfADynamicPass) {
  DeviceFunctions next;
  next.CmdBeginRendering = [](VkCommandBuffer, const VkRenderingInfo* info) {
    const VkRenderingAttachmentInfo& colour = info->pColorAttachments[0];
    const VkRenderingAttachmentInfo& depth = *info->pDepthAttachment;
    begun.push_back({colour.loadOp, colour.storeOp, static_cast<int>(colour.resolveMode),
                     depth.loadOp, depth.storeOp, static_cast<int>(info->layerCount)});
  };
  PassParts parts;
  {
    VkRenderingAttachmentInfo colour = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    colour.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    colour.storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
    colour.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
    VkRenderingAttachmentInfo depth = colour;
    depth.loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
    VkRenderingInfo info = {VK_STRUCTURE_TYPE_RENDERING_INFO};
    info.layerCount = 5;
    info.colorAttachmentCount = 1;
    info.pColorAttachments = &colour;
    info.pDepthAttachment = &depth;
    ASSERT_TRUE(parts.Set(info, false));
    colour = depth = {};
  }
  begun.clear();
  for (const PassPart part : {PassPart::kFirst, PassPart::kMiddle, PassPart::kLast}) {
    parts.Begin(next, VK_NULL_HANDLE, part);
  }
  constexpr int kLoad = VK_ATTACHMENT_LOAD_OP_LOAD;
  constexpr int kStore = VK_ATTACHMENT_STORE_OP_STORE;
  EXPECT_THAT(begun, ElementsAre(ElementsAre(VK_ATTACHMENT_LOAD_OP_CLEAR, kStore, 0,
                                             VK_ATTACHMENT_LOAD_OP_DONT_CARE, kStore, 5),
                                 ElementsAre(kLoad, kStore, 0, kLoad, kStore, 5),
                                 ElementsAre(kLoad, VK_ATTACHMENT_STORE_OP_DONT_CARE,
                                             VK_RESOLVE_MODE_AVERAGE_BIT, kLoad,
                                             VK_ATTACHMENT_STORE_OP_DONT_CARE, 5)));
}

// ---- What is bound for compute ---------------------------------------------------------------------------

std::vector<std::string> calls;

class ExactComputeStateTest : public testing::Test {
 protected:
  ExactComputeStateTest() {
    next_.CmdBindPipeline = [](VkCommandBuffer, VkPipelineBindPoint, VkPipeline pipeline) {
      calls.push_back("pipeline " + std::to_string(reinterpret_cast<uint64_t>(pipeline) / 8));
    };
    next_.CmdBindDescriptorSets = [](VkCommandBuffer, VkPipelineBindPoint, VkPipelineLayout,
                                     uint32_t first, uint32_t count, const VkDescriptorSet* sets,
                                     uint32_t offset_count, const uint32_t* offsets) {
      std::string call = "sets " + std::to_string(first) + ":";
      for (uint32_t i = 0; i < count; ++i) {
        call += " " + std::to_string(reinterpret_cast<uint64_t>(sets[i]) / 8);
      }
      for (uint32_t i = 0; i < offset_count; ++i) call += " +" + std::to_string(offsets[i]);
      calls.push_back(call);
    };
    next_.CmdPushConstants = [](VkCommandBuffer, VkPipelineLayout, VkShaderStageFlags,
                                uint32_t offset, uint32_t size, const void* values) {
      std::string call = "constants " + std::to_string(offset) + ":";
      for (uint32_t i = 0; i < size; ++i) {
        call += " " + std::to_string(static_cast<const uint8_t*>(values)[i]);
      }
      calls.push_back(call);
    };
    next_.CmdPushDescriptorSetKHR = [](VkCommandBuffer, VkPipelineBindPoint, VkPipelineLayout,
                                       uint32_t set, uint32_t count,
                                       const VkWriteDescriptorSet* writes) {
      std::string call = "push " + std::to_string(set) + ":";
      for (uint32_t i = 0; i < count; ++i) {
        call += " " + std::to_string(writes[i].dstBinding) + "=" +
                std::to_string(writes[i].pBufferInfo[0].offset);
      }
      calls.push_back(call);
    };
  }
  void Bind(uint32_t first, std::vector<uint64_t> numbers, std::vector<uint32_t> offsets = {}) {
    std::vector<VkDescriptorSet> sets;
    for (const uint64_t number : numbers) sets.push_back(Made<VkDescriptorSet>(number));
    state_.BindSets(Made<VkPipelineLayout>(1), first, sets, offsets);
  }
  void Push(uint32_t set, const std::vector<std::pair<uint32_t, VkDeviceSize>>& bindings,
            VkDescriptorType type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER) {
    std::vector<VkDescriptorBufferInfo> buffers;
    for (const auto& [binding, offset] : bindings) buffers.push_back({{}, offset, 4});
    std::vector<VkWriteDescriptorSet> writes;
    for (size_t i = 0; i < bindings.size(); ++i) {
      VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
      write.dstBinding = bindings[i].first;
      write.descriptorCount = 1;
      write.descriptorType = type;
      write.pBufferInfo = &buffers[i];
      writes.push_back(write);
    }
    state_.Push(Made<VkPipelineLayout>(1), set, writes);
  }
  std::vector<std::string> Restored() {
    calls.clear();
    state_.Restore(next_, VK_NULL_HANDLE);
    return calls;
  }

  DeviceFunctions next_;
  ExactComputeState state_;
};

TEST_F(ExactComputeStateTest, WhatWasBoundLastIsBoundAgainInItsOrder) {
  EXPECT_THAT(Restored(), IsEmpty());
  state_.BindPipeline(Made<VkPipeline>(1));
  state_.BindPipeline(Made<VkPipeline>(2));
  Bind(0, {10, 11, 12}, {256, 512});
  Bind(1, {21}, {64});
  Bind(3, {30});
  EXPECT_THAT(Restored(), ElementsAre("pipeline 2", "sets 0: 10 11 12 +256 +512", "sets 1: 21 +64",
                                      "sets 3: 30"));
  Bind(0, {40, 41, 42, 43});
  Bind(2, {50});
  Bind(2, {60}, {8});
  EXPECT_THAT(Restored(), ElementsAre("pipeline 2", "sets 0: 40 41 42 43", "sets 2: 60 +8"));
  state_.Clear();
  EXPECT_THAT(Restored(), IsEmpty());
}

TEST_F(ExactComputeStateTest, PushesAddUpUntilTheyAreReplaced) {
  Push(0, {{0, 100}, {1, 200}});
  Push(0, {{1, 300}});
  EXPECT_THAT(Restored(), ElementsAre("push 0: 0=100 1=200", "push 0: 1=300"));
  Push(0, {{1, 400}});
  EXPECT_THAT(Restored(), ElementsAre("push 0: 0=100 1=200", "push 0: 1=400"));
  Push(0, {{1, 5}, {0, 6}});
  EXPECT_THAT(Restored(), ElementsAre("push 0: 1=5 0=6"));
  Push(1, {{0, 7}});
  Bind(0, {10});
  EXPECT_THAT(Restored(), ElementsAre("push 1: 0=7", "sets 0: 10"));
}

TEST_F(ExactComputeStateTest, ConstantsArePushedAgainInTheirOrder) {
  const auto layout = Made<VkPipelineLayout>(1);
  const auto push = [&](uint32_t offset, std::vector<uint8_t> values) {
    state_.PushConstants(layout, VK_SHADER_STAGE_ALL, offset, std::as_bytes(std::span(values)));
  };
  push(0, {1, 1, 1, 1, 2, 2, 2, 2});
  push(4, {3, 3, 3, 3});
  EXPECT_THAT(Restored(), ElementsAre("constants 0: 1 1 1 1 2 2 2 2", "constants 4: 3 3 3 3"));
  push(4, {4, 4, 4, 4, 5, 5, 5, 5});
  EXPECT_THAT(Restored(),
              ElementsAre("constants 0: 1 1 1 1 2 2 2 2", "constants 4: 4 4 4 4 5 5 5 5"));
  push(0, std::vector<uint8_t>(12, 6));
  EXPECT_THAT(Restored(), ElementsAre("constants 0: 6 6 6 6 6 6 6 6 6 6 6 6"));
  state_.Clear();
  EXPECT_THAT(Restored(), IsEmpty());
}

TEST_F(ExactComputeStateTest, WhatCannotBeCopiedIsGivenUp) {
  EXPECT_TRUE(state_.restorable());
  Push(0, {{0, 1}}, VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR);
  EXPECT_FALSE(state_.restorable());
  Push(0, {{0, 1}});
  EXPECT_FALSE(state_.restorable()) << "for this recording";
  state_.Clear();
  EXPECT_TRUE(state_.restorable());
}

}  // namespace
}  // namespace cairn
