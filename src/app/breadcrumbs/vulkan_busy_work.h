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

#include "app/breadcrumbs/vulkan_compute.h"
#include "app/breadcrumbs/vulkan_functions.h"
#include "app/breadcrumbs/vulkan_memory.h"
#include "base/status.h"
#include "vulkangen/device_functions.h"

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
  Result<VkDeviceMemory> AllocateMemory(const VkMemoryRequirements& needs);
  // Adds a step of the destruction; steps run in reverse order.
  void Later(std::function<void()> destroy) { destroy_.push_back(std::move(destroy)); }

  const VulkanDevice& device_;
  const uint32_t size_;
  DeviceFunctions vk_;
  std::vector<std::function<void()>> destroy_;
  // For a dispatch.
  VkBuffer result_ = VK_NULL_HANDLE;
  VulkanCompute dispatch_;
  // For a draw.
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  VkImageView target_ = VK_NULL_HANDLE;
  VkRenderPass render_pass_ = VK_NULL_HANDLE;
  VkFramebuffer framebuffer_ = VK_NULL_HANDLE;
  // For a copy: its first half is copied to the second.
  VulkanBuffer copied_;
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_BUSY_WORK_H_
