// SPDX-License-Identifier: Apache-2.0
//
// The device of the faulting program: two queues where there are, memory that shaders reach by address, one
// pipeline for all dispatches and one for all draws. Whatever fails here ends the program with 2. What is
// created is destroyed by the driver with the process: this program rarely comes to an orderly end.
#ifndef CAIRN_TESTS_TRUTH_GPU_H_
#define CAIRN_TESTS_TRUTH_GPU_H_

#include <vulkan/vulkan.h>

#include <cstdint>
#include <string>

#include "truth/faults.h"
#include "truth/notes.h"

namespace cairn::truth {

[[noreturn]] void Fail(const std::string& message);
void Check(VkResult result, const char* call);

// Push constants of all shaders; shaders/misdeed.glsl.
struct Constants {
  enum Do : uint32_t { kNothing, kStore, kLoad, kStoreToSet, kLoadFromSet, kLoop, kWait };
  static constexpr uint32_t kAllLanes = 0xFFFFFFFF;

  uint64_t notes = 0;
  uint64_t address = 0;
  uint32_t misdeed = kNothing;
  uint32_t stage = 0;
  uint32_t lane = kAllLanes;
  uint32_t trips = 0;
  uint32_t ticks = 0;  // 0: no bound but the trips
};

struct GpuQueue {
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0;
  VkCommandPool pool = VK_NULL_HANDLE;
};

struct GpuBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceSize size_bytes = 0;
  uint64_t address = 0;
  void* mapped = nullptr;  // null if the CPU does not see it
};

struct GpuPicture {
  VkImage image = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkImageView view = VK_NULL_HANDLE;
};

struct Pipeline {
  VkPipeline pipeline = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
};

// Which of them a Gpu makes.
enum class Pipelines : uint8_t {
  kNone,
  kOfDispatches,
  kOfDraws,  // of dispatches as well, and a picture
};

inline constexpr uint32_t kPictureWidth = 8;  // 64 pixels: kInvocations
inline constexpr VkFormat kPictureFormat = VK_FORMAT_R8G8B8A8_UNORM;

class Gpu {
 public:
  // `scripted`: the library of tests/icd, which runs this; "" for any other driver. The device is the one whose
  // name contains CAIRN_SAMPLE_DEVICE, otherwise the first GPU, otherwise the first.
  Gpu(const std::string& scripted, Pipelines pipelines);

  VkDevice device() const { return device_; }
  Backend backend() const { return backend_; }
  const char* name() const { return properties_.deviceName; }
  const GpuQueue& graphics() const { return queues_[0]; }
  const GpuQueue& compute() const { return queues_[1]; }
  bool two_queues() const { return queues_[0].queue != queues_[1].queue; }
  // Shaders can tell the time (VK_KHR_shader_clock): Constants::ticks counts, and works note how many they took.
  bool has_clock() const { return has_clock_; }

  // Holds zeros if the CPU sees it.
  GpuBuffer CreateBuffer(VkDeviceSize size_bytes, bool visible, const char* name);
  // Holds what the driver left there.
  GpuBuffer CreateUnwritten(VkDeviceSize size_bytes, bool visible, const char* name);
  void Destroy(const GpuBuffer& buffer);
  // Has the GPU write the notes' own file, where the driver imports it; otherwise a buffer, which is copied.
  GpuBuffer CreateWords(Notes* notes);
  bool words_are_imported() const { return words_are_imported_; }

  const Pipeline& dispatches() const { return dispatches_; }
  const Pipeline& draws() const { return draws_; }
  VkDescriptorSet CreateSet(const GpuBuffer& buffer);
  VkImageView picture() const { return picture_.view; }
  // A square to draw into.
  GpuPicture CreatePicture(uint32_t width);

  VkSemaphore CreateTimeline(const char* name);
  VkFence CreateFence();
  VkCommandBuffer Begin(const GpuQueue& queue, const char* name,
                        const VkCommandBufferInheritanceInfo* inheritance,
                        VkCommandBufferUsageFlags flags);
  // Waits for the end of commands that are no part of a frame, and returns the seconds that they took.
  double Run(VkCommandBuffer commands);

  void BeginLabel(VkCommandBuffer commands, const char* label) const;
  void EndLabel(VkCommandBuffer commands) const;
  // A directive for the driver of tests/icd, which no layer sees. Does nothing elsewhere.
  void Script(VkCommandBuffer commands, const std::string& directive) const;
  // `name` may be null.
  void Name(VkObjectType type, uint64_t handle, const char* name) const;

 private:
  void CreateInstance();
  void ChoosePhysicalDevice(bool scripted);
  void ChooseQueues();
  void CreateDevice();
  void LoadFunctions(const std::string& scripted);
  void CreatePools();
  void CreatePipelines(bool drawing);
  VkPipelineLayout CreateLayout();
  VkPipeline CreateDrawPipeline(VkPipelineLayout layout);
  bool Import(Notes* notes, GpuBuffer* buffer);
  uint32_t FindMemory(uint32_t allowed_types, VkMemoryPropertyFlags needed,
                      VkMemoryPropertyFlags wanted) const;
  VkDeviceMemory Allocate(const VkMemoryRequirements& needs, uint32_t type, const void* import);
  bool Has(const char* extension) const;
  bool CanTellTime() const;

  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_device_ = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties properties_ = {};
  VkDevice device_ = VK_NULL_HANDLE;
  Backend backend_ = Backend::kGpu;
  GpuQueue queues_[2];
  uint32_t second_index_ = 0;  // of the second queue in its family
  bool words_are_imported_ = false;
  bool has_clock_ = false;
  VkDescriptorPool descriptors_ = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  Pipeline dispatches_;
  Pipeline draws_;
  GpuPicture picture_;
  PFN_vkCmdBeginDebugUtilsLabelEXT begin_label_ = nullptr;
  PFN_vkCmdEndDebugUtilsLabelEXT end_label_ = nullptr;
  PFN_vkSetDebugUtilsObjectNameEXT set_name_ = nullptr;
  PFN_vkCmdInsertDebugUtilsLabelEXT script_ = nullptr;
};

}  // namespace cairn::truth

#endif  // CAIRN_TESTS_TRUTH_GPU_H_
