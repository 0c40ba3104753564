// SPDX-License-Identifier: Apache-2.0
//
// Mode exact: render passes for the parts of one that is cut. They differ from it in load and store
// operations and in layouts alone, so its pipelines and framebuffers fit them.
//
//          loads            stores           layouts
//   first  its own          all              its own initial ones -> those of the subpass
//   middle all              all              those of the subpass
//   last   all              its own          those of the subpass -> its own final ones
//
// Attachments are resolved at the end of each part: the last one decides.
#ifndef CAIRN_APP_VULKAN_EXACT_RENDER_PASS_H_
#define CAIRN_APP_VULKAN_EXACT_RENDER_PASS_H_

#include <vulkan/vulkan_core.h>

#include <optional>

#include "app/vulkan/sharded_map.h"
#include "vulkangen/device_functions.h"

namespace cairn {

struct RenderPassParts {
  VkRenderPass first = VK_NULL_HANDLE;
  VkRenderPass middle = VK_NULL_HANDLE;
  VkRenderPass last = VK_NULL_HANDLE;
};

// The render passes of one device that are cut. Threads: any.
class ExactRenderPasses {
 public:
  // `next` must outlive it.
  ExactRenderPasses(VkDevice device, const DeviceFunctions& next) : device_(device), next_(next) {}
  // Destroys the remaining parts.
  ~ExactRenderPasses();
  ExactRenderPasses(const ExactRenderPasses&) = delete;
  ExactRenderPasses& operator=(const ExactRenderPasses&) = delete;

  // The application made `render_pass`: makes those of its parts, if it may be cut and the driver makes them.
  void Add(VkRenderPass render_pass, const VkRenderPassCreateInfo& info) noexcept;
  void Add(VkRenderPass render_pass, const VkRenderPassCreateInfo2& info,
           PFN_vkCreateRenderPass2 create) noexcept;
  // Call it before the application destroys the render pass.
  void Remove(VkRenderPass render_pass) noexcept;
  // Returns nullopt if the render pass is not cut.
  std::optional<RenderPassParts> Find(VkRenderPass render_pass);

 private:
  template <typename Info, typename Create>
  void AddParts(VkRenderPass render_pass, const Info& info, Create create);
  void Destroy(const RenderPassParts& parts);

  const VkDevice device_;
  const DeviceFunctions& next_;
  ShardedMap<RenderPassParts> parts_;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_EXACT_RENDER_PASS_H_
