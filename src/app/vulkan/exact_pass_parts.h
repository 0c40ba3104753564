// SPDX-License-Identifier: Apache-2.0
//
// Mode exact: what it takes to begin a render pass again, one part after the other: copies of what the
// application began it with. Nothing between the parts is lost: they store all and load all, and the state
// of the command buffer does not end with a render pass.
#ifndef CAIRN_APP_VULKAN_EXACT_PASS_PARTS_H_
#define CAIRN_APP_VULKAN_EXACT_PASS_PARTS_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <vector>

#include "app/vulkan/exact_render_pass.h"
#include "vulkangen/device_functions.h"

namespace cairn {

enum class PassPart : uint8_t {
  kFirst,  // loads and clears as the application asked
  kMiddle,
  kLast,  // stores and resolves as the application asked
};

class PassParts {
 public:
  // Each says whether the pass may be cut; only then Begin may be called. Not cut are those with chained
  // structures whose meaning is not known here, several views, suspended and resumed ones, and those with
  // commands of secondary command buffers.
  bool Set(const VkRenderPassBeginInfo& info, VkSubpassContents contents,
           ExactRenderPasses& render_passes) noexcept;
  // `khr`: by the functions of the extension.
  bool Set(const VkRenderingInfo& info, bool khr) noexcept;

  // Records the begin or the end of a part with the next layer's functions.
  void Begin(const DeviceFunctions& next, VkCommandBuffer commands, PassPart part);
  void End(const DeviceFunctions& next, VkCommandBuffer commands) const;

 private:
  void CopyRenderPass(const VkRenderPassBeginInfo& info);
  void CopyRendering(const VkRenderingInfo& info);
  void BeginRenderPass(const DeviceFunctions& next, VkCommandBuffer commands, PassPart part);
  void BeginRendering(const DeviceFunctions& next, VkCommandBuffer commands, PassPart part);

  bool dynamic_ = false;
  // VkRenderPass
  RenderPassParts render_passes_;
  VkRenderPassBeginInfo begin_ = {};
  VkRenderPassAttachmentBeginInfo views_info_ = {};
  std::vector<VkClearValue> clear_values_;
  std::vector<VkImageView> views_;
  // Dynamic rendering
  bool khr_ = false;
  VkRenderingInfo rendering_ = {};
  std::vector<VkRenderingAttachmentInfo> attachments_;  // colours, then depth, then stencil
  std::vector<VkRenderingAttachmentInfo> changed_;      // those of the part
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_EXACT_PASS_PARTS_H_
