// SPDX-License-Identifier: Apache-2.0
//
// Pipelines and pictures for the Vulkan samples. Everything is owned by the device.
#ifndef CAIRN_SAMPLES_VULKAN_WORK_H_
#define CAIRN_SAMPLES_VULKAN_WORK_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "vulkan_device.h"

namespace sample {

// SPIR-V and the name that reports give it.
struct Shader {
  const unsigned char* bytes;
  size_t size_bytes;
  const char* name;
};

struct Pipeline {
  VkPipeline pipeline = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkDescriptorSet buffer_set = VK_NULL_HANDLE;  // set 0, binding 0: a storage buffer
  Telling::Pipeline told = 0;
};

// A compute pipeline with up to 32 bytes of push constants that works on `buffer`.
Pipeline CreateComputePipeline(Device& device, const char* name, const Shader& shader,
                               const Buffer& buffer);

// Records a dispatch of `group_count` groups inside a marker, and a barrier after it.
void Dispatch(const List& list, const char* name, const Pipeline& pipeline, const void* constants,
              uint32_t constants_bytes, uint32_t group_count);

// The parts of it, for a sample that records something in between.
void BindForDispatch(const List& list, const Pipeline& pipeline, const void* constants,
                     uint32_t constants_bytes);
// Makes what a dispatch wrote visible to all that follows and to the CPU.
void BarrierAfterDispatch(const List& list);

// fill.comp: stores value + i at word first + i, for every i below count.
struct FillConstants {
  uint32_t value;
  uint32_t first;
  uint32_t count;
};
Pipeline CreateFillPipeline(Device& device, const Buffer& buffer);
void DispatchFill(const List& list, const char* name, const Pipeline& pipeline,
                  const FillConstants& constants);
// True if the buffer holds what DispatchFill stores.
bool Filled(const Buffer& buffer, const FillConstants& constants);

// A picture of 8-bit RGBA that is drawn into and copied to the CPU.
class Picture {
 public:
  Picture(Device& device, uint32_t width, uint32_t height);

  // Starts rendering: clears to black. `flags` may say that secondary command buffers hold the draws.
  void Begin(const List& list, VkRenderingFlags flags = 0);
  void End(const List& list);
  // Records the copy to the CPU, inside a marker.
  void CopyToCpu(const List& list);

  // Valid once the copy was executed. Row by row, red in the lowest byte.
  uint32_t Pixel(uint32_t x, uint32_t y) const { return pixels_.words[y * width_ + x]; }
  // Returns "" or what went wrong.
  std::string WritePng(const std::string& path) const;

 private:
  uint32_t width_;
  uint32_t height_;
  VkImage image_ = VK_NULL_HANDLE;
  VkImageView view_ = VK_NULL_HANDLE;
  Buffer pixels_;
};

// The format of pictures.
inline constexpr VkFormat kPictureFormat = VK_FORMAT_R8G8B8A8_UNORM;

// Draws triangles into pictures of this size; up to 32 bytes of push constants for both stages. Pixel
// shaders find `storage` as set 0, binding 0, if it is not null.
Pipeline CreateGraphicsPipeline(Device& device, const char* name, const Shader& vertex,
                                const Shader& pixel, uint32_t width, uint32_t height,
                                const Buffer* storage = nullptr);

}  // namespace sample

#endif  // CAIRN_SAMPLES_VULKAN_WORK_H_
