// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/exact_pass_parts.h"

#include <new>

namespace cairn {
namespace {

// The views of a framebuffer without images are the only chained structure that is copied.
const VkRenderPassAttachmentBeginInfo* ViewsOf(const VkRenderPassBeginInfo& info) {
  const auto* const views = static_cast<const VkRenderPassAttachmentBeginInfo*>(info.pNext);
  return views != nullptr && views->sType == VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO &&
                 views->pNext == nullptr
             ? views
             : nullptr;
}

bool MayBeCut(const VkRenderingAttachmentInfo* attachment) {
  return attachment == nullptr ||
         (attachment->pNext == nullptr && attachment->loadOp <= VK_ATTACHMENT_LOAD_OP_DONT_CARE);
}

bool MayBeCut(const VkRenderingInfo& info) {
  if (info.pNext != nullptr || info.flags != 0 || info.viewMask != 0) return false;
  for (uint32_t i = 0; i < info.colorAttachmentCount; ++i) {
    if (!MayBeCut(&info.pColorAttachments[i])) return false;
  }
  return MayBeCut(info.pDepthAttachment) && MayBeCut(info.pStencilAttachment);
}

}  // namespace

bool PassParts::Set(const VkRenderPassBeginInfo& info, VkSubpassContents contents,
                    ExactRenderPasses& render_passes) noexcept {
  if (contents != VK_SUBPASS_CONTENTS_INLINE) return false;
  if (info.pNext != nullptr && ViewsOf(info) == nullptr) return false;
  const std::optional<RenderPassParts> found = render_passes.Find(info.renderPass);
  if (!found) return false;
  try {
    CopyRenderPass(info);
  } catch (const std::bad_alloc&) {
    return false;
  }
  dynamic_ = false;
  render_passes_ = *found;
  return true;
}

bool PassParts::Set(const VkRenderingInfo& info, bool khr) noexcept {
  if (!MayBeCut(info)) return false;
  try {
    CopyRendering(info);
  } catch (const std::bad_alloc&) {
    return false;
  }
  dynamic_ = true;
  khr_ = khr;
  return true;
}

void PassParts::CopyRenderPass(const VkRenderPassBeginInfo& info) {
  begin_ = info;
  clear_values_.assign(info.pClearValues, info.pClearValues + info.clearValueCount);
  begin_.pClearValues = clear_values_.data();
  const VkRenderPassAttachmentBeginInfo* const views = ViewsOf(info);
  if (views == nullptr) return;
  views_info_ = *views;
  views_.assign(views->pAttachments, views->pAttachments + views->attachmentCount);
  views_info_.pAttachments = views_.data();
  begin_.pNext = &views_info_;
}

void PassParts::CopyRendering(const VkRenderingInfo& info) {
  rendering_ = info;
  attachments_.assign(info.pColorAttachments, info.pColorAttachments + info.colorAttachmentCount);
  for (const VkRenderingAttachmentInfo* const one :
       {info.pDepthAttachment, info.pStencilAttachment}) {
    if (one != nullptr) attachments_.push_back(*one);
  }
  changed_ = attachments_;
  rendering_.pColorAttachments = changed_.data();
  const VkRenderingAttachmentInfo* next = changed_.data() + info.colorAttachmentCount;
  if (info.pDepthAttachment != nullptr) rendering_.pDepthAttachment = next++;
  if (info.pStencilAttachment != nullptr) rendering_.pStencilAttachment = next;
}

void PassParts::Begin(const DeviceFunctions& next, VkCommandBuffer commands, PassPart part) {
  if (dynamic_) {
    BeginRendering(next, commands, part);
  } else {
    BeginRenderPass(next, commands, part);
  }
}

void PassParts::End(const DeviceFunctions& next, VkCommandBuffer commands) const {
  if (!dynamic_) {
    next.CmdEndRenderPass(commands);
  } else if (khr_) {
    next.CmdEndRenderingKHR(commands);
  } else {
    next.CmdEndRendering(commands);
  }
}

void PassParts::BeginRenderPass(const DeviceFunctions& next, VkCommandBuffer commands,
                                PassPart part) {
  begin_.renderPass = part == PassPart::kFirst    ? render_passes_.first
                      : part == PassPart::kMiddle ? render_passes_.middle
                                                  : render_passes_.last;
  next.CmdBeginRenderPass(commands, &begin_, VK_SUBPASS_CONTENTS_INLINE);
}

void PassParts::BeginRendering(const DeviceFunctions& next, VkCommandBuffer commands,
                               PassPart part) {
  for (size_t i = 0; i < attachments_.size(); ++i) {
    changed_[i] = attachments_[i];
    if (part != PassPart::kFirst) changed_[i].loadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
    if (part == PassPart::kLast) continue;
    changed_[i].storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    changed_[i].resolveMode = VK_RESOLVE_MODE_NONE;
  }
  (khr_ ? next.CmdBeginRenderingKHR : next.CmdBeginRendering)(commands, &rendering_);
}

}  // namespace cairn
