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
constexpr VkImageLayout kSource = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;

struct PassDesc {
  VkAttachmentLoadOp load = VK_ATTACHMENT_LOAD_OP_CLEAR;
  VkImageLayout initial = VK_IMAGE_LAYOUT_UNDEFINED;
  VkImageLayout final = kSource;
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;  // more: attachment 2 is the picture
  bool depth = false;                                     // attachment 1
  uint32_t subpasses = 1;
  bool version_2 = false;
};

// Attachments, references and dependencies for both versions of vkCreateRenderPass.
struct PassParts {
  VkAttachmentDescription attachments[3] = {};
  uint32_t attachment_count = 0;
  VkAttachmentReference colour = {0, kAttachment};
  VkAttachmentReference depth = {1, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL};
  VkAttachmentReference resolve = {VK_ATTACHMENT_UNUSED, kAttachment};
  VkSubpassDescription subpasses[2] = {};
  VkSubpassDependency between = {
      0,
      1,
      VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
      VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
      VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
      VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
      VK_DEPENDENCY_BY_REGION_BIT};
  VkSubpassDependency before = {VK_SUBPASS_EXTERNAL,
                                0,
                                VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT,
                                VK_ACCESS_MEMORY_WRITE_BIT,
                                VK_ACCESS_COLOR_ATTACHMENT_READ_BIT |
                                    VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT |
                                    VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                                    VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
                                0};
  VkSubpassDependency after = {0,
                               VK_SUBPASS_EXTERNAL,
                               VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                               VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                               VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                               VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
                               0};
  std::vector<VkSubpassDependency> dependencies;

  explicit PassParts(const PassDesc& desc) {
    const bool resolves = desc.samples != VK_SAMPLE_COUNT_1_BIT;
    attachments[0] = {0,
                      kColour,
                      desc.samples,
                      desc.load,
                      resolves ? VK_ATTACHMENT_STORE_OP_DONT_CARE : VK_ATTACHMENT_STORE_OP_STORE,
                      VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                      VK_ATTACHMENT_STORE_OP_DONT_CARE,
                      desc.initial,
                      resolves ? kAttachment : desc.final};
    attachment_count = 1;
    if (desc.depth) {
      attachments[1] = {0,
                        kDepth,
                        desc.samples,
                        VK_ATTACHMENT_LOAD_OP_CLEAR,
                        VK_ATTACHMENT_STORE_OP_DONT_CARE,
                        VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                        VK_ATTACHMENT_STORE_OP_DONT_CARE,
                        VK_IMAGE_LAYOUT_UNDEFINED,
                        VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL};
      attachment_count = 2;
    }
    if (resolves) {
      attachments[2] = {0,
                        kColour,
                        VK_SAMPLE_COUNT_1_BIT,
                        VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                        VK_ATTACHMENT_STORE_OP_STORE,
                        VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                        VK_ATTACHMENT_STORE_OP_DONT_CARE,
                        VK_IMAGE_LAYOUT_UNDEFINED,
                        desc.final};
      attachment_count = 3;
      resolve.attachment = 2;
    }
    for (VkSubpassDescription& subpass : subpasses) {
      subpass.colorAttachmentCount = 1;
      subpass.pColorAttachments = &colour;
      subpass.pResolveAttachments = resolves ? &resolve : nullptr;
      subpass.pDepthStencilAttachment = desc.depth ? &depth : nullptr;
    }
    after.srcSubpass = desc.subpasses - 1;
    dependencies = {before, after};
    if (desc.subpasses == 2) dependencies.push_back(between);
  }
};

VkRenderPass MakeRenderPass2(Rig& rig, const PassParts& parts) {
  VkAttachmentDescription2 attachment = {VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2};
  const VkAttachmentDescription& from = parts.attachments[0];
  attachment.format = from.format;
  attachment.samples = from.samples;
  attachment.loadOp = from.loadOp;
  attachment.storeOp = from.storeOp;
  attachment.stencilLoadOp = from.stencilLoadOp;
  attachment.stencilStoreOp = from.stencilStoreOp;
  attachment.initialLayout = from.initialLayout;
  attachment.finalLayout = from.finalLayout;
  const VkAttachmentReference2 colour = {VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, nullptr, 0,
                                         kAttachment, VK_IMAGE_ASPECT_COLOR_BIT};
  VkSubpassDescription2 subpass = {VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2};
  subpass.colorAttachmentCount = 1;
  subpass.pColorAttachments = &colour;
  std::vector<VkSubpassDependency2> dependencies;
  for (const VkSubpassDependency& one : parts.dependencies) {
    dependencies.push_back({VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2, nullptr, one.srcSubpass,
                            one.dstSubpass, one.srcStageMask, one.dstStageMask, one.srcAccessMask,
                            one.dstAccessMask, one.dependencyFlags, 0});
  }
  VkRenderPassCreateInfo2 info = {VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2};
  info.attachmentCount = 1;
  info.pAttachments = &attachment;
  info.subpassCount = 1;
  info.pSubpasses = &subpass;
  info.dependencyCount = static_cast<uint32_t>(dependencies.size());
  info.pDependencies = dependencies.data();
  VkRenderPass pass = VK_NULL_HANDLE;
  Check(vkCreateRenderPass2(rig.device(), &info, nullptr, &pass), "vkCreateRenderPass2");
  return pass;
}

VkRenderPass MakeRenderPass(Rig& rig, const PassDesc& desc) {
  const PassParts parts(desc);
  VkRenderPass pass = VK_NULL_HANDLE;
  if (desc.version_2) {
    pass = MakeRenderPass2(rig, parts);
  } else {
    VkRenderPassCreateInfo info = {VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
    info.attachmentCount = parts.attachment_count;
    info.pAttachments = parts.attachments;
    info.subpassCount = desc.subpasses;
    info.pSubpasses = parts.subpasses;
    info.dependencyCount = static_cast<uint32_t>(parts.dependencies.size());
    info.pDependencies = parts.dependencies.data();
    Check(vkCreateRenderPass(rig.device(), &info, nullptr, &pass), "vkCreateRenderPass");
  }
  rig.Later([&rig, pass] { vkDestroyRenderPass(rig.device(), pass, nullptr); });
  return pass;
}

VkFramebuffer MakeFramebuffer(Rig& rig, VkRenderPass pass, const std::vector<VkImageView>& views,
                              bool imageless) {
  const VkImageUsageFlags usage = kTarget;
  VkFramebufferAttachmentImageInfo image = {VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENT_IMAGE_INFO};
  image.usage = usage;
  image.width = kSize;
  image.height = kSize;
  image.layerCount = 1;
  image.viewFormatCount = 1;
  image.pViewFormats = &kColour;
  VkFramebufferAttachmentsCreateInfo images = {
      VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENTS_CREATE_INFO};
  images.attachmentImageInfoCount = 1;
  images.pAttachmentImageInfos = &image;
  VkFramebufferCreateInfo info = {VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
  if (imageless) {
    info.pNext = &images;
    info.flags = VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT;
  }
  info.renderPass = pass;
  info.attachmentCount = static_cast<uint32_t>(views.size());
  info.pAttachments = imageless ? nullptr : views.data();
  info.width = kSize;
  info.height = kSize;
  info.layers = 1;
  VkFramebuffer framebuffer = VK_NULL_HANDLE;
  Check(vkCreateFramebuffer(rig.device(), &info, nullptr, &framebuffer), "vkCreateFramebuffer");
  rig.Later([&rig, framebuffer] { vkDestroyFramebuffer(rig.device(), framebuffer, nullptr); });
  return framebuffer;
}

struct Setup {
  VkRenderPass pass;
  VkFramebuffer framebuffer;
  Image picture;
  Buffer bytes;
};

Setup MakeSetup(Rig& rig, const PassDesc& desc, bool imageless = false) {
  Setup setup;
  setup.pass = MakeRenderPass(rig, desc);
  setup.picture = rig.MakeImage(kColour, kTarget);
  std::vector<VkImageView> views = {setup.picture.view};
  if (desc.samples != VK_SAMPLE_COUNT_1_BIT) {
    views[0] = rig.MakeImage(kColour, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, desc.samples).view;
  }
  if (desc.depth) {
    views.push_back(
        rig.MakeImage(kDepth, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, desc.samples).view);
  }
  if (desc.samples != VK_SAMPLE_COUNT_1_BIT) views.push_back(setup.picture.view);
  setup.framebuffer = MakeFramebuffer(rig, setup.pass, views, imageless);
  setup.bytes = rig.MakeBuffer(kSize * kSize);
  return setup;
}

void BeginPass(VkCommandBuffer commands, const Setup& setup, const void* chain = nullptr,
               VkRect2D area = {{0, 0}, {kSize, kSize}}) {
  VkClearValue clears[3] = {};
  clears[0].color = {{0.1f, 0.2f, 0.3f, 1}};
  clears[1].depthStencil = {1, 0};
  VkRenderPassBeginInfo begin = {VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO, chain};
  begin.renderPass = setup.pass;
  begin.framebuffer = setup.framebuffer;
  begin.renderArea = area;
  begin.clearValueCount = 3;
  begin.pClearValues = clears;
  vkCmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
}

// One pass of five draws, and the copy behind it.
Buffer FiveDraws(Rig& rig, const PassDesc& desc) {
  const Setup setup = MakeSetup(rig, desc);
  const VkPipeline pipeline = rig.MakeDrawPipeline(
      {.render_pass = setup.pass, .samples = desc.samples, .depth = desc.depth});
  rig.Run([&](VkCommandBuffer commands) {
    BeginPass(commands, setup);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    SetViewport(commands);
    DrawFive(commands, rig);
    vkCmdEndRenderPass(commands);
    ImageBarrier(commands, setup.picture.image, desc.final, kSource);
    CopyToBuffer(commands, setup.picture.image, setup.bytes);
  });
  return setup.bytes;
}

Buffer Blending(Rig& rig) {
  return FiveDraws(rig, {.depth = true});
}

Buffer Resolve(Rig& rig) {
  return FiveDraws(rig, {.samples = VK_SAMPLE_COUNT_4_BIT, .depth = true});
}

Buffer Version2(Rig& rig) {
  return FiveDraws(rig, {.final = VK_IMAGE_LAYOUT_GENERAL, .version_2 = true});
}

// Attachments that are not loaded are drawn over first.
Buffer DontCare(Rig& rig) {
  const Setup setup = MakeSetup(rig, {.load = VK_ATTACHMENT_LOAD_OP_DONT_CARE});
  const VkPipeline pipeline = rig.MakeDrawPipeline({.render_pass = setup.pass});
  rig.Run([&](VkCommandBuffer commands) {
    BeginPass(commands, setup);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    SetViewport(commands);
    DrawOne(commands, rig, {0, 0, 8, 8, 0.3f, 0.6f, 0.9f, 1});
    DrawFive(commands, rig);
    vkCmdEndRenderPass(commands);
    CopyToBuffer(commands, setup.picture.image, setup.bytes);
  });
  return setup.bytes;
}

// Loaded from another layout, drawn into a part, with the state of the pass before; a framebuffer without
// images.
Buffer LoadPartOfIt(Rig& rig) {
  constexpr VkImageLayout kDestination = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
  const Setup setup =
      MakeSetup(rig, {.load = VK_ATTACHMENT_LOAD_OP_LOAD, .initial = kDestination}, true);
  const VkPipeline pipeline = rig.MakeDrawPipeline({.render_pass = setup.pass});
  rig.Run([&](VkCommandBuffer commands) {
    ImageBarrier(commands, setup.picture.image, VK_IMAGE_LAYOUT_UNDEFINED, kDestination);
    const VkClearColorValue grey = {{0.4f, 0.4f, 0.4f, 1}};
    vkCmdClearColorImage(commands, setup.picture.image, kDestination, &grey, 1, &kColourRange);
    VkRenderPassAttachmentBeginInfo views = {VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO};
    views.attachmentCount = 1;
    views.pAttachments = &setup.picture.view;
    const VkRect2D area = {{8, 8}, {40, 40}};
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    SetViewport(commands);
    vkCmdSetScissor(commands, 0, 1, &area);
    for (int pass = 0; pass < 2; ++pass) {
      if (pass == 1) ImageBarrier(commands, setup.picture.image, kSource, kDestination);
      BeginPass(commands, setup, &views, area);
      DrawFive(commands, rig);
      vkCmdEndRenderPass(commands);
    }
    CopyToBuffer(commands, setup.picture.image, setup.bytes);
  });
  return setup.bytes;
}

// Two subpasses, which stay one piece.
Buffer TwoSubpasses(Rig& rig) {
  const Setup setup = MakeSetup(rig, {.subpasses = 2});
  VkPipeline pipelines[2];
  for (uint32_t subpass = 0; subpass < 2; ++subpass) {
    pipelines[subpass] = rig.MakeDrawPipeline({.render_pass = setup.pass, .subpass = subpass});
  }
  rig.Run([&](VkCommandBuffer commands) {
    BeginPass(commands, setup);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipelines[0]);
    SetViewport(commands);
    DrawFive(commands, rig);
    vkCmdNextSubpass(commands, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipelines[1]);
    DrawOne(commands, rig, {0, 0, 0.5f, 0.5f, 1, 1, 1, 0.5f});
    vkCmdEndRenderPass(commands);
    CopyToBuffer(commands, setup.picture.image, setup.bytes);
  });
  return setup.bytes;
}

// A pass without a draw still clears.
Buffer Empty(Rig& rig) {
  const Setup setup = MakeSetup(rig, {});
  rig.Run([&](VkCommandBuffer commands) {
    BeginPass(commands, setup);
    vkCmdEndRenderPass(commands);
    CopyToBuffer(commands, setup.picture.image, setup.bytes);
  });
  return setup.bytes;
}

}  // namespace

std::span<const Scene> RenderPassScenes() {
  static const std::array scenes = {Scene{"pass-blending", Blending},
                                    Scene{"pass-resolve", Resolve},
                                    Scene{"pass-version-2", Version2},
                                    Scene{"pass-dont-care", DontCare},
                                    Scene{"pass-load-part", LoadPartOfIt},
                                    Scene{"pass-two-subpasses", TwoSubpasses},
                                    Scene{"pass-empty", Empty}};
  return scenes;
}

void DrawWithAHang(Rig& rig, uint32_t subpasses, uint32_t trips) {
  const bool dynamic = subpasses == 0;
  const Setup setup = MakeSetup(rig, {.subpasses = dynamic ? 1 : subpasses});
  const VkRenderPass pass = dynamic ? VK_NULL_HANDLE : setup.pass;
  const VkPipeline pipeline = rig.MakeDrawPipeline({.render_pass = pass});
  const VkPipeline slow = rig.MakeDrawPipeline({.render_pass = pass, .slow = true});
  rig.Name(pipeline, "Quick");
  rig.Name(slow, "Slow");
  VkRenderingAttachmentInfo colour = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
  colour.imageView = setup.picture.view;
  colour.imageLayout = kAttachment;
  colour.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  VkRenderingInfo rendering = {VK_STRUCTURE_TYPE_RENDERING_INFO};
  rendering.renderArea = {{0, 0}, {kSize, kSize}};
  rendering.layerCount = 1;
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachments = &colour;
  rig.Run([&](VkCommandBuffer commands) {
    rig.Label(commands, "Frame");
    ImageBarrier(commands, setup.picture.image, VK_IMAGE_LAYOUT_UNDEFINED, kAttachment);
    if (dynamic) {
      vkCmdBeginRendering(commands, &rendering);
    } else {
      BeginPass(commands, setup);
    }
    SetViewport(commands);
    for (int i = 0; i < 5; ++i) {
      const bool hangs = i == 2;
      vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, hangs ? slow : pipeline);
      Draw draw = {0, 0, 1, 1, 0.5f, 0.5f, 0.5f, 1};
      // hang.frag reads the number of trips where solid.vert reads x: so small that it is 0 as a place.
      if (hangs) std::memcpy(&draw.x, &trips, sizeof(trips));
      DrawOne(commands, rig, draw);
    }
    if (subpasses == 2) vkCmdNextSubpass(commands, VK_SUBPASS_CONTENTS_INLINE);
    if (dynamic) {
      vkCmdEndRendering(commands);
    } else {
      vkCmdEndRenderPass(commands);
    }
    rig.Label(commands, nullptr);
  });
}

}  // namespace exact
