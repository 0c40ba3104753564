// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/exact_render_pass.h"

#include <array>
#include <span>
#include <vector>

#include "app/vulkan/exact.h"
#include "app/vulkan/intercept.h"

namespace cairn {
namespace {

// The structures of both versions have the same members, but for these.
bool HasMore(const VkRenderPassCreateInfo&, const VkSubpassDescription&) {
  return false;
}
bool HasMore(const VkRenderPassCreateInfo2& info, const VkSubpassDescription2& subpass) {
  return info.correlatedViewMaskCount != 0 || subpass.viewMask != 0;
}
const void* ChainOf(const VkAttachmentDescription&) {
  return nullptr;
}
const void* ChainOf(const VkAttachmentDescription2& attachment) {
  return attachment.pNext;
}
const void* ChainOf(const VkAttachmentReference&) {
  return nullptr;
}
const void* ChainOf(const VkAttachmentReference2& reference) {
  return reference.pNext;
}

// The attachment that depth and stencil are resolved to; false for anything else in the chain.
bool DepthResolveOf(const VkSubpassDescription&, const VkAttachmentReference** reference) {
  *reference = nullptr;
  return true;
}
bool DepthResolveOf(const VkSubpassDescription2& subpass,
                    const VkAttachmentReference2** reference) {
  *reference = nullptr;
  if (subpass.pNext == nullptr) return true;
  const auto* const resolve =
      static_cast<const VkSubpassDescriptionDepthStencilResolve*>(subpass.pNext);
  if (resolve->sType != VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE ||
      resolve->pNext != nullptr) {
    return false;
  }
  *reference = resolve->pDepthStencilResolveAttachment;
  return true;
}

// The layouts that attachments have inside of the subpass: those that it does not use have their final one.
template <typename Info>
class Layouts {
 public:
  // False if the render pass cannot be cut.
  bool Find(const Info& info) {
    for (uint32_t i = 0; i < info.attachmentCount; ++i) {
      if (!MayBeCut(info.pAttachments[i])) return false;
      layouts_.push_back(info.pAttachments[i].finalLayout);
    }
    used_.assign(info.attachmentCount, false);
    const auto& subpass = info.pSubpasses[0];
    for (uint32_t i = 0; i < subpass.colorAttachmentCount; ++i) {
      if (!Note(&subpass.pColorAttachments[i])) return false;
      if (subpass.pResolveAttachments != nullptr && !Note(&subpass.pResolveAttachments[i])) {
        return false;
      }
    }
    decltype(subpass.pDepthStencilAttachment) depth_resolve = nullptr;
    return Note(subpass.pDepthStencilAttachment) && DepthResolveOf(subpass, &depth_resolve) &&
           Note(depth_resolve);
  }
  VkImageLayout operator[](size_t attachment) const { return layouts_[attachment]; }

 private:
  // An attachment that may share its memory with another one is not.
  template <typename Attachment>
  static bool MayBeCut(const Attachment& attachment) {
    return attachment.flags == 0 && ChainOf(attachment) == nullptr &&
           attachment.loadOp <= VK_ATTACHMENT_LOAD_OP_DONT_CARE &&
           attachment.stencilLoadOp <= VK_ATTACHMENT_LOAD_OP_DONT_CARE;
  }

  template <typename Reference>
  bool Note(const Reference* reference) {
    if (reference == nullptr || reference->attachment == VK_ATTACHMENT_UNUSED) return true;
    const uint32_t attachment = reference->attachment;
    if (attachment >= used_.size() || used_[attachment] || ChainOf(*reference) != nullptr ||
        reference->layout == VK_IMAGE_LAYOUT_UNDEFINED) {
      return false;
    }
    used_[attachment] = true;
    layouts_[attachment] = reference->layout;
    return true;
  }

  std::vector<VkImageLayout> layouts_;
  std::vector<bool> used_;
};

template <typename Info>
bool MayBeCut(const Info& info) {
  if (info.pNext != nullptr || info.flags != 0 || info.subpassCount != 1) return false;
  const auto& subpass = info.pSubpasses[0];
  return subpass.flags == 0 && subpass.pipelineBindPoint == VK_PIPELINE_BIND_POINT_GRAPHICS &&
         subpass.inputAttachmentCount == 0 && !HasMore(info, subpass);
}

template <typename Attachment>
void LoadWhatIsThere(Attachment* attachment, VkImageLayout layout) {
  attachment->loadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
  attachment->stencilLoadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
  attachment->initialLayout = layout;
}

template <typename Attachment>
void KeepForTheNext(Attachment* attachment, VkImageLayout layout) {
  attachment->storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  attachment->stencilStoreOp = VK_ATTACHMENT_STORE_OP_STORE;
  attachment->finalLayout = layout;
}

}  // namespace

ExactRenderPasses::~ExactRenderPasses() {
  parts_.VisitAll([this](const RenderPassParts& parts) { Destroy(parts); });
}

void ExactRenderPasses::Destroy(const RenderPassParts& parts) {
  for (const VkRenderPass one : {parts.first, parts.middle, parts.last}) {
    next_.DestroyRenderPass(device_, one, nullptr);
  }
}

template <typename Info, typename Create>
void ExactRenderPasses::AddParts(VkRenderPass render_pass, const Info& info, Create create) {
  Layouts<Info> layouts;
  if (!MayBeCut(info) || !layouts.Find(info)) return;
  RenderPassParts parts;
  bool made = true;
  for (VkRenderPass* const part : {&parts.first, &parts.middle, &parts.last}) {
    std::vector attachments(info.pAttachments, info.pAttachments + info.attachmentCount);
    for (size_t i = 0; i < attachments.size(); ++i) {
      if (part != &parts.first) LoadWhatIsThere(&attachments[i], layouts[i]);
      if (part != &parts.last) KeepForTheNext(&attachments[i], layouts[i]);
    }
    Info changed = info;
    changed.pAttachments = attachments.data();
    made = made && create(device_, &changed, nullptr, part) == VK_SUCCESS;
  }
  if (made) {
    parts_.Set(HandleValue(render_pass), parts);
  } else {
    Destroy(parts);
  }
}

void ExactRenderPasses::Add(VkRenderPass render_pass, const VkRenderPassCreateInfo& info) noexcept {
  Quietly([&] { AddParts(render_pass, info, next_.CreateRenderPass); });
}

void ExactRenderPasses::Add(VkRenderPass render_pass, const VkRenderPassCreateInfo2& info,
                            PFN_vkCreateRenderPass2 create) noexcept {
  Quietly([&] { AddParts(render_pass, info, create); });
}

void ExactRenderPasses::Remove(VkRenderPass render_pass) noexcept {
  Quietly([&] {
    parts_.VisitAndErase(HandleValue(render_pass),
                         [this](const RenderPassParts& parts) { Destroy(parts); });
  });
}

std::optional<RenderPassParts> ExactRenderPasses::Find(VkRenderPass render_pass) {
  std::optional<RenderPassParts> found;
  parts_.Visit(HandleValue(render_pass), [&](const RenderPassParts& parts) { found = parts; });
  return found;
}

namespace {

VKAPI_ATTR VkResult VKAPI_CALL CreateRenderPass(VkDevice device, const VkRenderPassCreateInfo* info,
                                                const VkAllocationCallbacks* allocator,
                                                VkRenderPass* render_pass) {
  ExactDevice& exact = *DeviceOf(device)->exact;
  const VkResult result = exact.next().CreateRenderPass(device, info, allocator, render_pass);
  if (result == VK_SUCCESS && exact.cuts_passes()) exact.render_passes().Add(*render_pass, *info);
  return result;
}

template <auto kNext>
VKAPI_ATTR VkResult VKAPI_CALL CreateRenderPass2(VkDevice device,
                                                 const VkRenderPassCreateInfo2* info,
                                                 const VkAllocationCallbacks* allocator,
                                                 VkRenderPass* render_pass) {
  ExactDevice& exact = *DeviceOf(device)->exact;
  const auto create = exact.next().*kNext;
  const VkResult result = create(device, info, allocator, render_pass);
  if (result == VK_SUCCESS && exact.cuts_passes()) {
    exact.render_passes().Add(*render_pass, *info, create);
  }
  return result;
}

VKAPI_ATTR void VKAPI_CALL DestroyRenderPass(VkDevice device, VkRenderPass render_pass,
                                             const VkAllocationCallbacks* allocator) {
  ExactDevice& exact = *DeviceOf(device)->exact;
  exact.render_passes().Remove(render_pass);
  exact.next().DestroyRenderPass(device, render_pass, allocator);
}

}  // namespace

std::span<const ExactFunction> ExactRenderPassFunctions() {
  using Vk = DeviceFunctions;
  static const std::array functions = {
      Replace<&Vk::CreateRenderPass>("vkCreateRenderPass", CreateRenderPass),
      Replace<&Vk::CreateRenderPass2>("vkCreateRenderPass2",
                                      CreateRenderPass2<&Vk::CreateRenderPass2>),
      Replace<&Vk::CreateRenderPass2KHR>("vkCreateRenderPass2KHR",
                                         CreateRenderPass2<&Vk::CreateRenderPass2KHR>),
      Replace<&Vk::DestroyRenderPass>("vkDestroyRenderPass", DestroyRenderPass),
  };
  return functions;
}

}  // namespace cairn
