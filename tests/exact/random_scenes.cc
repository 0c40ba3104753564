// SPDX-License-Identifier: Apache-2.0
//
// Draws, clears, dispatches, queries and changes of state in orders that nobody would write. Seeds are fixed.
#include <algorithm>
#include <random>
#include <string>

#include "mixer.h"
#include "scenes.h"

namespace exact {
namespace {

constexpr VkImageLayout kAttachment = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
constexpr uint32_t kQueries = 16;

class RandomScene {
 public:
  RandomScene(Rig& rig, uint32_t seed)
      : rig_(rig), random_(seed), mixer_(rig, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, false) {
    picture_ = rig.MakeImage(kColour,
                             VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    pipeline_ = rig.MakeDrawPipeline({});
    VkQueryPoolCreateInfo info = {VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_OCCLUSION;
    info.queryCount = kQueries;
    Check(vkCreateQueryPool(rig.device(), &info, nullptr, &queries_), "vkCreateQueryPool");
    rig.Later([&rig, pool = queries_] { vkDestroyQueryPool(rig.device(), pool, nullptr); });
  }

  Buffer Run() {
    const Buffer bytes = rig_.MakeBuffer(kSize * kSize + mixer_.into.word_count + kQueries);
    rig_.Run([&](VkCommandBuffer commands) {
      commands_ = commands;
      vkCmdResetQueryPool(commands, queries_, 0, kQueries);
      ImageBarrier(commands, picture_.image, VK_IMAGE_LAYOUT_UNDEFINED, kAttachment);
      vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, mixer_.pipeline);
      vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline_);
      SetViewport(commands);
      mixer_.BindBoth(commands, 0, 1);
      for (int i = 0; i < 40; ++i) Outside(i == 0);
      ImageBarrier(commands, picture_.image, kAttachment, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
      CopyToBuffer(commands, picture_.image, bytes);
    });
    uint32_t* const more = bytes.words + kSize * kSize;
    std::copy_n(mixer_.into.words, mixer_.into.word_count, more);
    for (uint32_t i = 0; i < used_queries_; ++i) {
      uint32_t passed = 0;
      Check(vkGetQueryPoolResults(rig_.device(), queries_, i, 1, sizeof(passed), &passed,
                                  sizeof(passed), VK_QUERY_RESULT_WAIT_BIT),
            "vkGetQueryPoolResults");
      more[mixer_.into.word_count + i] = passed != 0;
    }
    return bytes;
  }

 private:
  uint32_t Below(uint32_t limit) { return random_() % limit; }
  float Part() { return static_cast<float>(Below(100)) / 100; }

  void Outside(bool first) {
    const bool query = used_queries_ < kQueries && Below(6) == 0;
    if (query) vkCmdBeginQuery(commands_, queries_, used_queries_, 0);
    if (first || Below(2) == 0) {
      DrawPass(first, /*queries=*/!query);
    } else if (Below(3) == 0) {
      ChangeState();
    } else {
      // A draw's constants have another layout: ours are undefined after it.
      if (constants_lost_) mixer_.Constants(commands_, 0, 4, constants_);
      constants_lost_ = false;
      mixer_.Dispatch(commands_);
    }
    if (query) vkCmdEndQuery(commands_, queries_, used_queries_++);
  }

  void DrawPass(bool clear, bool queries) {
    // Between two passes everything has to be waited for.
    ImageBarrier(commands_, picture_.image, kAttachment, kAttachment);
    VkRenderingAttachmentInfo colour = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    colour.imageView = picture_.view;
    colour.imageLayout = kAttachment;
    colour.loadOp =
        clear || Below(6) == 0 ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD;
    colour.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    colour.clearValue.color = {{Part(), Part(), Part(), 1}};
    VkRenderingInfo info = {VK_STRUCTURE_TYPE_RENDERING_INFO};
    const auto start = static_cast<int32_t>(clear ? 0 : Below(16));
    const uint32_t size = clear ? kSize : 16 + Below(32);
    info.renderArea = {{start, start}, {size, size}};
    info.layerCount = 1;
    info.colorAttachmentCount = 1;
    info.pColorAttachments = &colour;
    vkCmdBeginRendering(commands_, &info);
    vkCmdSetScissor(commands_, 0, 1, &info.renderArea);
    const uint32_t count = Below(6);
    for (uint32_t i = 0; i < count; ++i) Inside(info.renderArea, queries);
    vkCmdEndRendering(commands_);
  }

  void Inside(const VkRect2D& area, bool queries) {
    const bool query = queries && used_queries_ < kQueries && Below(5) == 0;
    if (query) vkCmdBeginQuery(commands_, queries_, used_queries_, 0);
    switch (Below(5)) {
      case 0: ChangeState(); break;
      case 1: {
        VkClearAttachment clear = {VK_IMAGE_ASPECT_COLOR_BIT, 0, {}};
        clear.clearValue.color = {{Part(), Part(), Part(), Part()}};
        const VkClearRect rect = {{area.offset, {8, 8}}, 0, 1};
        vkCmdClearAttachments(commands_, 1, &clear, 1, &rect);
        break;
      }
      default:
        constants_lost_ = true;
        DrawOne(commands_, rig_,
                {Part() - 0.5f, Part() - 0.5f, Part(), Part(), Part(), Part(), Part(), Part()});
    }
    if (query) vkCmdEndQuery(commands_, queries_, used_queries_++);
  }

  // Changes the state of compute work, which may happen inside of render passes as well.
  void ChangeState() {
    const uint32_t value = Below(1000);
    switch (Below(4)) {
      case 0: {
        const uint32_t index = Below(4);
        constants_[index] = value;
        if (!constants_lost_) mixer_.Constants(commands_, index, 1, &value);
        break;
      }
      case 1: mixer_.BindChanged(commands_, Below(kSlices)); break;
      case 2: mixer_.BindBoth(commands_, Below(kSlices), Below(kSlices)); break;
      default: vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, mixer_.pipeline);
    }
  }

  Rig& rig_;
  std::mt19937 random_;
  Mixer mixer_;
  Image picture_;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  VkQueryPool queries_ = VK_NULL_HANDLE;
  uint32_t used_queries_ = 0;
  uint32_t constants_[4] = {1, 2, 3, 4};
  bool constants_lost_ = true;  // the GPU's may be others
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

}  // namespace

std::vector<Scene> RandomScenes(uint32_t count) {
  std::vector<Scene> scenes;
  for (uint32_t seed = 1; seed <= count; ++seed) {
    scenes.push_back({"random-" + std::to_string(seed),
                      [seed](Rig& rig) { return RandomScene(rig, seed).Run(); }});
  }
  return scenes;
}

}  // namespace exact
