// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include "scenes.h"

namespace exact {
namespace {

constexpr VkImageUsageFlags kTarget = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                      VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                      VK_IMAGE_USAGE_TRANSFER_DST_BIT;
constexpr VkImageLayout kAttachment = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;

VkRenderingAttachmentInfo Colour(VkImageView view, VkAttachmentLoadOp load) {
  VkRenderingAttachmentInfo info = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
  info.imageView = view;
  info.imageLayout = kAttachment;
  info.loadOp = load;
  info.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  info.clearValue.color = {{0.1f, 0.2f, 0.3f, 1}};
  return info;
}

VkRenderingInfo Rendering(const VkRenderingAttachmentInfo* colour) {
  VkRenderingInfo info = {VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.renderArea = {{0, 0}, {kSize, kSize}};
  info.layerCount = 1;
  info.colorAttachmentCount = 1;
  info.pColorAttachments = colour;
  return info;
}

// Draws into a picture that was made ready, and copies it.
Buffer Draw(Rig& rig, const Image& picture,
            const std::function<void(VkCommandBuffer commands)>& draw) {
  const Buffer bytes = rig.MakeBuffer(kSize * kSize);
  rig.Run([&](VkCommandBuffer commands) {
    ImageBarrier(commands, picture.image, VK_IMAGE_LAYOUT_UNDEFINED, kAttachment);
    draw(commands);
    ImageBarrier(commands, picture.image, kAttachment, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    CopyToBuffer(commands, picture.image, bytes);
  });
  return bytes;
}

Buffer Blending(Rig& rig) {
  const Image picture = rig.MakeImage(kColour, kTarget);
  const VkPipeline pipeline = rig.MakeDrawPipeline({});
  return Draw(rig, picture, [&](VkCommandBuffer commands) {
    const VkRenderingAttachmentInfo colour = Colour(picture.view, VK_ATTACHMENT_LOAD_OP_CLEAR);
    const VkRenderingInfo info = Rendering(&colour);
    vkCmdBeginRendering(commands, &info);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    SetViewport(commands);
    DrawFive(commands, rig);
    vkCmdEndRendering(commands);
  });
}

// Several samples that are not kept, resolved; depth that is not kept either.
Buffer ResolveWithDepth(Rig& rig) {
  constexpr VkSampleCountFlagBits kSamples = VK_SAMPLE_COUNT_4_BIT;
  const Image samples = rig.MakeImage(kColour, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, kSamples);
  const Image depth = rig.MakeImage(kDepth, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, kSamples);
  const Image picture = rig.MakeImage(kColour, kTarget);
  const VkPipeline pipeline = rig.MakeDrawPipeline({.samples = kSamples, .depth = true});
  return Draw(rig, picture, [&](VkCommandBuffer commands) {
    constexpr VkImageLayout kDepthLayout = VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL;
    ImageBarrier(commands, samples.image, VK_IMAGE_LAYOUT_UNDEFINED, kAttachment);
    ImageBarrier(commands, depth.image, VK_IMAGE_LAYOUT_UNDEFINED, kDepthLayout,
                 VK_IMAGE_ASPECT_DEPTH_BIT);
    VkRenderingAttachmentInfo colour = Colour(samples.view, VK_ATTACHMENT_LOAD_OP_CLEAR);
    colour.storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
    colour.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
    colour.resolveImageView = picture.view;
    colour.resolveImageLayout = kAttachment;
    VkRenderingAttachmentInfo depth_info = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    depth_info.imageView = depth.view;
    depth_info.imageLayout = kDepthLayout;
    depth_info.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    depth_info.storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
    depth_info.clearValue.depthStencil = {1, 0};
    VkRenderingInfo info = Rendering(&colour);
    info.pDepthAttachment = &depth_info;
    vkCmdBeginRendering(commands, &info);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    SetViewport(commands);
    DrawFive(commands, rig);
    vkCmdEndRendering(commands);
  });
}

// Earlier contents stay outside of the area, and blend inside of it.
Buffer LoadPartOfIt(Rig& rig) {
  const Image picture = rig.MakeImage(kColour, kTarget);
  const VkPipeline pipeline = rig.MakeDrawPipeline({});
  return Draw(rig, picture, [&](VkCommandBuffer commands) {
    ImageBarrier(commands, picture.image, kAttachment, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    const VkClearColorValue grey = {{0.4f, 0.4f, 0.4f, 1}};
    vkCmdClearColorImage(commands, picture.image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &grey, 1,
                         &kColourRange);
    ImageBarrier(commands, picture.image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, kAttachment);
    const VkRenderingAttachmentInfo colour = Colour(picture.view, VK_ATTACHMENT_LOAD_OP_LOAD);
    VkRenderingInfo info = Rendering(&colour);
    info.renderArea = {{8, 8}, {40, 40}};
    vkCmdBeginRendering(commands, &info);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    SetViewport(commands);
    vkCmdSetScissor(commands, 0, 1, &info.renderArea);
    DrawFive(commands, rig);
    vkCmdEndRendering(commands);
  });
}

// A clear and draws by turns, and a query around some of them; its result is the last word.
Buffer ClearAndQuery(Rig& rig) {
  const Image picture = rig.MakeImage(kColour, kTarget);
  const VkPipeline pipeline = rig.MakeDrawPipeline({});
  VkQueryPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  pool_info.queryType = VK_QUERY_TYPE_OCCLUSION;
  pool_info.queryCount = 2;
  VkQueryPool pool = VK_NULL_HANDLE;
  Check(vkCreateQueryPool(rig.device(), &pool_info, nullptr, &pool), "vkCreateQueryPool");
  rig.Later([&rig, pool] { vkDestroyQueryPool(rig.device(), pool, nullptr); });
  const Buffer bytes = Draw(rig, picture, [&](VkCommandBuffer commands) {
    vkCmdResetQueryPool(commands, pool, 0, 2);
    vkCmdBeginQuery(commands, pool, 1, 0);  // around the whole pass
    const VkRenderingAttachmentInfo colour = Colour(picture.view, VK_ATTACHMENT_LOAD_OP_CLEAR);
    const VkRenderingInfo info = Rendering(&colour);
    vkCmdBeginRendering(commands, &info);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    SetViewport(commands);
    DrawOne(commands, rig, {0, 0, 0.9f, 0.9f, 1, 0, 0, 0.5f});
    VkClearAttachment clear = {VK_IMAGE_ASPECT_COLOR_BIT, 0, {}};
    clear.clearValue.color = {{0, 1, 0, 1}};
    const VkClearRect rect = {{{16, 16}, {16, 16}}, 0, 1};
    vkCmdClearAttachments(commands, 1, &clear, 1, &rect);
    vkCmdEndRendering(commands);
    vkCmdEndQuery(commands, pool, 1);
    const VkRenderingAttachmentInfo again = Colour(picture.view, VK_ATTACHMENT_LOAD_OP_LOAD);
    const VkRenderingInfo more = Rendering(&again);
    vkCmdBeginRendering(commands, &more);
    DrawOne(commands, rig, {0.2f, 0.2f, 0.5f, 0.5f, 0, 0, 1, 0.5f});
    vkCmdBeginQuery(commands, pool, 0, 0);  // inside of it
    DrawOne(commands, rig, {-0.2f, 0.2f, 0.5f, 0.5f, 0, 1, 1, 0.5f});
    DrawOne(commands, rig, {-0.2f, -0.2f, 0.5f, 0.5f, 1, 0, 1, 0.5f});
    vkCmdEndQuery(commands, pool, 0);
    DrawOne(commands, rig, {0.2f, -0.2f, 0.5f, 0.5f, 1, 1, 0, 0.5f});
    vkCmdEndRendering(commands);
  });
  uint32_t results[2] = {};
  Check(vkGetQueryPoolResults(rig.device(), pool, 0, 2, sizeof(results), results, sizeof(uint32_t),
                              VK_QUERY_RESULT_WAIT_BIT),
        "vkGetQueryPoolResults");
  bytes.words[bytes.word_count - 2] = results[0] != 0;
  bytes.words[bytes.word_count - 1] = results[1] != 0;
  return bytes;
}

// A pass that is suspended and resumed, and in a second command buffer resumed again.
Buffer Suspended(Rig& rig) {
  const Image picture = rig.MakeImage(kColour, kTarget);
  const VkPipeline pipeline = rig.MakeDrawPipeline({});
  const Buffer bytes = rig.MakeBuffer(kSize * kSize);
  const VkCommandBuffer buffers[] = {rig.Allocate(), rig.Allocate()};
  const VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  const VkRenderingAttachmentInfo colour = Colour(picture.view, VK_ATTACHMENT_LOAD_OP_CLEAR);
  VkRenderingInfo info = Rendering(&colour);
  const VkRenderingFlags flags[] = {VK_RENDERING_SUSPENDING_BIT,
                                    VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT,
                                    VK_RENDERING_RESUMING_BIT};
  for (int part = 0; part < 3; ++part) {
    const VkCommandBuffer commands = buffers[part / 2];
    if (part != 1) vkBeginCommandBuffer(commands, &begin);
    if (part == 0) {
      ImageBarrier(commands, picture.image, VK_IMAGE_LAYOUT_UNDEFINED, kAttachment);
    }
    info.flags = flags[part];
    vkCmdBeginRendering(commands, &info);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    SetViewport(commands);
    DrawFive(commands, rig);
    vkCmdEndRendering(commands);
    if (part == 1) vkEndCommandBuffer(commands);
  }
  ImageBarrier(buffers[1], picture.image, kAttachment, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
  CopyToBuffer(buffers[1], picture.image, bytes);
  vkEndCommandBuffer(buffers[1]);
  rig.Submit({buffers[0], buffers[1]});
  return bytes;
}

// Draws of secondary command buffers.
Buffer Secondaries(Rig& rig) {
  const Image picture = rig.MakeImage(kColour, kTarget);
  const VkPipeline pipeline = rig.MakeDrawPipeline({});
  const VkCommandBuffer secondary = rig.Allocate(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  VkCommandBufferInheritanceRenderingInfo formats = {
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO};
  formats.colorAttachmentCount = 1;
  formats.pColorAttachmentFormats = &kColour;
  formats.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
  const VkCommandBufferInheritanceInfo inheritance = {
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO, &formats, {}, 0, {}, 0, 0, 0};
  const VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                          VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT,
                                          &inheritance};
  Check(vkBeginCommandBuffer(secondary, &begin), "vkBeginCommandBuffer");
  vkCmdBindPipeline(secondary, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
  SetViewport(secondary);
  DrawFive(secondary, rig);
  Check(vkEndCommandBuffer(secondary), "vkEndCommandBuffer");
  return Draw(rig, picture, [&](VkCommandBuffer commands) {
    const VkRenderingAttachmentInfo colour = Colour(picture.view, VK_ATTACHMENT_LOAD_OP_CLEAR);
    VkRenderingInfo info = Rendering(&colour);
    info.flags = VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT;
    vkCmdBeginRendering(commands, &info);
    vkCmdExecuteCommands(commands, 1, &secondary);
    vkCmdEndRendering(commands);
  });
}

}  // namespace

std::span<const Scene> DynamicScenes() {
  static const std::array scenes = {
      Scene{"dynamic-blending", Blending},      Scene{"dynamic-resolve-depth", ResolveWithDepth},
      Scene{"dynamic-load-part", LoadPartOfIt}, Scene{"dynamic-clear-query", ClearAndQuery},
      Scene{"dynamic-suspended", Suspended},    Scene{"dynamic-secondaries", Secondaries}};
  return scenes;
}

}  // namespace exact
