// SPDX-License-Identifier: Apache-2.0
//
// The device of why_program, and the few steps that its faults are made of. Whatever cannot be made ends the program
// with 2, a lost device with 1, work that goes on and on with 3.
#ifndef CAIRN_TESTS_TRUTH_WHY_MACHINE_H_
#define CAIRN_TESTS_TRUTH_WHY_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "truth/gpu.h"

namespace cairn::truth::why {

// SPIR-V that is embedded in the program.
struct Shader {
  constexpr Shader() = default;
  template <size_t size>
  constexpr Shader(const unsigned char (&bytes)[size]) : code(bytes, size) {}

  std::span<const unsigned char> code;
};

// Push constants of all shaders; shaders/why.glsl.
struct Constants {
  uint64_t address = 0;
  uint64_t other = 0;
  uint32_t most_trips = UINT32_MAX;
  uint32_t count = 0;
  float start = 0;
  float step = 0;
  float limit = 0;
  uint32_t value = 0;
};

// Words of the buffer that all shaders have; shaders/why.glsl.
enum Place : uint32_t {
  kList = 1088,
  kTable = 1104,
  kLock = 1120,
  kBound = 1122,  // three words
  kLink = 1128,   // three words
  kWordCount = 2048,
};

// How much work takes the seconds that were asked for, on this device.
struct Size {
  // Of a loop. On a GPU groups run side by side, and make as many trips as it takes; lavapipe leaves all loops of an
  // invocation after 65,535 trips, so there it takes more groups.
  uint32_t groups = 0;
  uint32_t trips = 0;
  uint32_t crowd = 0;  // groups without loops
};

// Threes of groups that are no more than 65,535 in a direction, as the arguments of a dispatch.
std::vector<uint32_t> GroupsOf(uint32_t crowd);

class Machine {
 public:
  Machine();

  // Fills size() by measuring.
  void Measure(double seconds);
  void SetSize(const Size& size) { size_ = size; }
  const Size& size() const { return size_; }
  // Waits give up then.
  void SetLimit(double seconds) { limit_s_ = seconds; }

  Gpu& gpu() { return gpu_; }
  VkDevice device() const { return gpu_.device(); }
  bool on_cpu() const { return gpu_.backend() == Backend::kCpu; }
  const GpuBuffer& words() const { return words_; }
  uint64_t AddressOf(Place place) const { return words_.address + sizeof(uint32_t) * place; }
  // With most_trips.
  Constants Bounded() const;
  // Constants::count of healthy_loops and writer, and their groups: that takes a while, but no watchdog's time.
  uint32_t short_count() const;
  uint32_t short_groups() const;

  // `special`: the value of the specialisation constant 0.
  VkPipeline Compute(Shader shader, uint32_t special = 0);
  VkPipeline Draws(Shader vertex, Shader pixel);
  // Binding 2 of the one descriptor set.
  void SetBuffer(VkBuffer buffer);

  VkCommandBuffer Begin(const GpuQueue& queue, const char* name);
  // Within a label.
  void Dispatch(VkCommandBuffer commands, const char* label, VkPipeline pipeline,
                const Constants& constants, uint32_t groups);
  void DispatchIndirect(VkCommandBuffer commands, const char* label, VkPipeline pipeline,
                        VkBuffer arguments, VkDeviceSize offset);
  // Into a picture of kPictureWidth.
  void Draw(VkCommandBuffer commands, const char* label, VkPipeline pipeline, VkImageView picture,
            const Constants& constants, uint32_t vertices, uint32_t instances);
  // Of everything.
  static void Barrier(VkCommandBuffer commands);
  // Ends the commands. `waits`: for this value of the timeline; `signals`: likewise; null: not so.
  struct Point {
    VkSemaphore timeline;
    uint64_t value;
  };
  VkFence Submit(const GpuQueue& queue, VkCommandBuffer commands, const Point* waits = nullptr,
                 const Point* signals = nullptr);
  void Wait(VkFence fence);
  // Both.
  void Finish(const GpuQueue& queue, VkCommandBuffer commands) { Wait(Submit(queue, commands)); }

 private:
  void CreateSet();
  void Bind(VkCommandBuffer commands, VkPipelineBindPoint point, VkPipeline pipeline,
            const Constants& constants);
  double Time(VkPipeline pipeline, const Constants& constants, uint32_t groups);

  Gpu gpu_;
  Size size_;
  double limit_s_ = 60;
  GpuBuffer words_;
  GpuBuffer uniforms_;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
};

}  // namespace cairn::truth::why

#endif  // CAIRN_TESTS_TRUTH_WHY_MACHINE_H_
