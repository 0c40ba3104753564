// SPDX-License-Identifier: Apache-2.0
//
// A Vulkan device for tests and benchmarks: command buffers, submissions, a slow draw, and the
// validation layer listening.
#ifndef CAIRN_APP_BREADCRUMBS_TESTING_VULKAN_TEST_DEVICE_H_
#define CAIRN_APP_BREADCRUMBS_TESTING_VULKAN_TEST_DEVICE_H_

#include <string>
#include <vector>

#include "app/breadcrumbs/backend.h"
#include "app/breadcrumbs/vulkan_device_setup.h"
#include "base/status.h"
#include "os/shared_memory.h"

namespace cairn {

class VulkanTestDevice {
 public:
  // The first device of the machine, with those of `extensions` that it has. With `validation` the
  // validation layer is loaded if it is installed, synchronization checks included.
  Status Create(const std::vector<std::string>& extensions, bool validation);
  ~VulkanTestDevice();

  const VulkanOwnDevice& own() const { return device_; }
  VkDevice device() const { return device_.device(); }
  VkPhysicalDevice physical_device() const { return device_.physical_device(); }
  VulkanBackendParams params() const { return device_.params(); }
  uint32_t main_family() const { return device_.main_family(); }

  // Dynamic rendering is enabled.
  bool renders() const { return renders_; }

  bool validating() const { return validating_; }
  // Warnings and errors so far.
  const std::vector<std::string>& messages() const { return messages_; }
  void ForgetMessages() { messages_.clear(); }

  // A command buffer that is open for recording; `reusable` ones may be submitted again. Freed with
  // the device. Null if the driver refuses.
  VkCommandBuffer Begin(uint32_t family, bool reusable = false);
  VkResult End(VkCommandBuffer commands);
  // Empties a command buffer that the GPU has finished with and opens it again.
  VkResult Restart(VkCommandBuffer commands);
  // Submits `times` times without waiting.
  VkResult Submit(uint32_t family, VkCommandBuffer commands, int times = 1);
  // Waits for a fence behind everything on the family's queue; VK_TIMEOUT after 30 s.
  VkResult Wait(uint32_t family);

 private:
  friend VkBool32 VKAPI_CALL OnMessage(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                       VkDebugUtilsMessageTypeFlagsEXT,
                                       const VkDebugUtilsMessengerCallbackDataEXT*, void*);

  VulkanInstance instance_;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  VulkanOwnDevice device_;
  std::vector<VkCommandPool> pools_;  // one a family
  bool validating_ = false;
  bool renders_ = false;
  std::vector<std::string> messages_;
};

// A draw that takes as long as asked, into an image that the CPU can look at while the GPU works.
class VulkanTestDraw {
 public:
  explicit VulkanTestDraw(VulkanTestDevice& device) : device_(device) {}
  ~VulkanTestDraw();

  // kUnsupported if the device cannot draw into an image that the CPU can read.
  Status Create();

  // Dynamic rendering: Mesa puts barriers of its own around a VkRenderPass, which would hide that ours
  // is missing.
  void BeginRendering(VkCommandBuffer commands);
  void Draw(VkCommandBuffer commands, uint32_t trips);
  void EndRendering(VkCommandBuffer commands);

  // The pixel in the middle as the memory holds it now; kCleared before the draw has finished.
  uint32_t MiddlePixel() const;
  void ClearPixels();
  static constexpr uint32_t kCleared = 0;
  // Returns the pixel that Draw writes after `trips` trips of 64 rounds.
  static uint32_t ExpectedPixel(uint32_t trips);

 private:
  Status CreateImage();
  Status PrepareLayout();
  Status CreatePipeline();

  VulkanTestDevice& device_;
  VkImage image_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  VkImageView view_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  std::byte* pixels_ = nullptr;
  VkSubresourceLayout pixel_layout_ = {};
};

// SPIR-V of samples/shaders/vulkan; the caller destroys it.
Result<VkShaderModule> LoadTestShader(VkDevice device, const char* name);

// Words as the context lays them out, in shared memory that is mapped twice.
struct VulkanTestRegion {
  static Result<VulkanTestRegion> Create(uint32_t recording_capacity, uint32_t raw_marker_count);

  SharedMemory memory;
  SharedMemory observed;  // what the watcher would see
  WordRegion region;

  const ProgressWords& words(uint32_t slot) const;
  uint64_t raw(uint32_t index) const;
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_TESTING_VULKAN_TEST_DEVICE_H_
