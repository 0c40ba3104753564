// SPDX-License-Identifier: Apache-2.0
//
// Work that keeps a GPU busy for as long as the self-test wants to look, and ends: a dispatch of groups of one
// thread, a draw of a square, or a copy within the host's memory.
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_BUSY_WORK_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_BUSY_WORK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "app/breadcrumbs/vulkan_functions.h"
#include "app/breadcrumbs/vulkan_memory.h"
#include "base/status.h"

namespace cairn {

enum class BusyKind : uint8_t { kDispatch, kDraw, kCopy };

class VulkanBusyWork {
 public:
  // Lavapipe leaves loops beyond.
  static constexpr uint32_t kMostTrips = 65'000;

  // `device` must outlive it. `size`: groups, or pixels of the square in each direction. kUnsupported with the reason if
  // the driver refuses.
  static Result<std::unique_ptr<VulkanBusyWork>> Create(const VulkanDevice& device, BusyKind kind,
                                                        uint32_t size = 1);
  // The GPU has finished with it.
  ~VulkanBusyWork();
  VulkanBusyWork(const VulkanBusyWork&) = delete;
  VulkanBusyWork& operator=(const VulkanBusyWork&) = delete;

  // Time grows with `trips`, at most kMostTrips: some ten nanoseconds to some microseconds each.
  void Record(VkCommandBuffer commands, uint32_t trips) const;

  // Forgets its objects without destroying them: the GPU may still be using them.
  void Abandon() {
    destroy_.clear();
    copied_.Abandon();
  }

 private:
  VulkanBusyWork(const VulkanDevice& device, uint32_t size) : device_(device), size_(size) {}

  Status Load();
  Status CreateDispatch();
  Status CreateDraw();
  Status CreateResultBuffer();
  Status CreateTarget();
  Status CreateRenderPass();
  Status CreateLayout(VkDescriptorSetLayout set_layout, VkShaderStageFlags stages);
  Result<VkShaderModule> CreateShader(const unsigned char* code, size_t size_bytes);
  Result<VkDeviceMemory> AllocateMemory(const VkMemoryRequirements& needs);
  // Adds a step of the destruction; steps run in reverse order.
  void Later(std::function<void()> destroy) { destroy_.push_back(std::move(destroy)); }

  // Functions that nothing else of the backend calls.
  struct Functions {
    PFN_vkAllocateDescriptorSets AllocateDescriptorSets = nullptr;
    PFN_vkBindImageMemory BindImageMemory = nullptr;
    PFN_vkCmdBeginRenderPass CmdBeginRenderPass = nullptr;
    PFN_vkCmdBindDescriptorSets CmdBindDescriptorSets = nullptr;
    PFN_vkCmdBindPipeline CmdBindPipeline = nullptr;
    PFN_vkCmdDispatch CmdDispatch = nullptr;
    PFN_vkCmdDraw CmdDraw = nullptr;
    PFN_vkCmdEndRenderPass CmdEndRenderPass = nullptr;
    PFN_vkCmdPushConstants CmdPushConstants = nullptr;
    PFN_vkCreateComputePipelines CreateComputePipelines = nullptr;
    PFN_vkCreateDescriptorPool CreateDescriptorPool = nullptr;
    PFN_vkCreateDescriptorSetLayout CreateDescriptorSetLayout = nullptr;
    PFN_vkCreateFramebuffer CreateFramebuffer = nullptr;
    PFN_vkCreateGraphicsPipelines CreateGraphicsPipelines = nullptr;
    PFN_vkCreateImage CreateImage = nullptr;
    PFN_vkCreateImageView CreateImageView = nullptr;
    PFN_vkCreatePipelineLayout CreatePipelineLayout = nullptr;
    PFN_vkCreateRenderPass CreateRenderPass = nullptr;
    PFN_vkCreateShaderModule CreateShaderModule = nullptr;
    PFN_vkDestroyDescriptorPool DestroyDescriptorPool = nullptr;
    PFN_vkDestroyDescriptorSetLayout DestroyDescriptorSetLayout = nullptr;
    PFN_vkDestroyFramebuffer DestroyFramebuffer = nullptr;
    PFN_vkDestroyImage DestroyImage = nullptr;
    PFN_vkDestroyImageView DestroyImageView = nullptr;
    PFN_vkDestroyPipeline DestroyPipeline = nullptr;
    PFN_vkDestroyPipelineLayout DestroyPipelineLayout = nullptr;
    PFN_vkDestroyRenderPass DestroyRenderPass = nullptr;
    PFN_vkDestroyShaderModule DestroyShaderModule = nullptr;
    PFN_vkGetImageMemoryRequirements GetImageMemoryRequirements = nullptr;
    PFN_vkUpdateDescriptorSets UpdateDescriptorSets = nullptr;
  };

  const VulkanDevice& device_;
  const uint32_t size_;
  Functions vk_;
  std::vector<std::function<void()>> destroy_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  // For a dispatch.
  VkBuffer result_ = VK_NULL_HANDLE;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  // For a draw.
  VkImageView target_ = VK_NULL_HANDLE;
  VkRenderPass render_pass_ = VK_NULL_HANDLE;
  VkFramebuffer framebuffer_ = VK_NULL_HANDLE;
  // For a copy: its first half is copied to the second.
  VulkanBuffer copied_;
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_BUSY_WORK_H_
