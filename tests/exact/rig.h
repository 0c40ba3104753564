// SPDX-License-Identifier: Apache-2.0
//
// What the programs of this folder need before they get to their point. Everything that is made lives until
// the Rig ends. What fails ends the program with 2 and one line on stderr.
#ifndef CAIRN_TESTS_EXACT_RIG_H_
#define CAIRN_TESTS_EXACT_RIG_H_

#include <vulkan/vulkan.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace exact {

inline constexpr uint32_t kSize = 64;  // width and height of all pictures
inline constexpr VkFormat kColour = VK_FORMAT_R8G8B8A8_UNORM;
inline constexpr VkFormat kDepth = VK_FORMAT_D16_UNORM;
inline constexpr VkImageSubresourceRange kColourRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};

[[noreturn]] void Fail(const std::string& message);
void Check(VkResult result, const char* call);

struct Image {
  VkImage image = VK_NULL_HANDLE;
  VkImageView view = VK_NULL_HANDLE;
};

struct Buffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  uint32_t* words = nullptr;
  uint32_t word_count = 0;
};

// The push constants of draws, for solid.vert and solid.frag.
struct Draw {
  float x, y, half_width, half_height;
  float red, green, blue, alpha;
};

class Rig {
 public:
  // With VK_KHR_push_descriptor if the device has it.
  Rig();
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  VkDevice device() const { return device_; }
  VkQueue queue() const { return queue_; }
  VkPipelineLayout draw_layout() const { return draw_layout_; }
  // Null where there are no push descriptors.
  PFN_vkCmdPushDescriptorSetKHR push_descriptor_set() const { return push_descriptor_set_; }

  Image MakeImage(VkFormat format, VkImageUsageFlags usage,
                  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT);
  Buffer MakeBuffer(uint32_t word_count);
  VkShaderModule MakeShader(const unsigned char* bytes, size_t size_bytes);

  // Triangles with alpha blending; with depth: those that are nearer, and none is nearer than one of the
  // same depth. For dynamic rendering if `render_pass` is null.
  struct DrawPipeline {
    VkRenderPass render_pass = VK_NULL_HANDLE;
    uint32_t subpass = 0;
    VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
    bool depth = false;
    bool slow = false;  // hang.frag: Draw is then {trips, seed} as numbers
  };
  VkPipeline MakeDrawPipeline(const DrawPipeline& desc);

  VkCommandBuffer Allocate(VkCommandBufferLevel level = VK_COMMAND_BUFFER_LEVEL_PRIMARY);
  // Records, submits, and waits until it is done.
  void Run(const std::function<void(VkCommandBuffer)>& record);
  void Submit(const std::vector<VkCommandBuffer>& commands);

  void Label(VkCommandBuffer commands, const char* name) const;  // null: the end
  void Name(VkPipeline pipeline, const char* name) const;

  // Adds a step of the rig's end; steps run in reverse order.
  void Later(std::function<void()> destroy) { later_.push_back(std::move(destroy)); }

 private:
  void MakeInstance();
  void ChooseDevice();
  void MakeDevice();
  uint32_t FindMemory(uint32_t allowed, VkMemoryPropertyFlags needed) const;

  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_device_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  uint32_t family_ = 0;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkPipelineLayout draw_layout_ = VK_NULL_HANDLE;
  PFN_vkCmdPushDescriptorSetKHR push_descriptor_set_ = nullptr;
  PFN_vkCmdBeginDebugUtilsLabelEXT begin_label_ = nullptr;
  PFN_vkCmdEndDebugUtilsLabelEXT end_label_ = nullptr;
  PFN_vkSetDebugUtilsObjectNameEXT set_name_ = nullptr;
  std::vector<std::function<void()>> later_;
};

// ---- Commands that scenes share ------------------------------------------------------------------------

void SetViewport(VkCommandBuffer commands);
void DrawOne(VkCommandBuffer commands, const Rig& rig, const Draw& draw);
// Five triangles that overlap, half transparent.
void DrawFive(VkCommandBuffer commands, const Rig& rig);
// Everything before is done, and seen by everything after.
void ImageBarrier(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to,
                  VkImageAspectFlags aspect = VK_IMAGE_ASPECT_COLOR_BIT);
void CopyToBuffer(VkCommandBuffer commands, VkImage image, const Buffer& buffer);

}  // namespace exact

#endif  // CAIRN_TESTS_EXACT_RIG_H_
