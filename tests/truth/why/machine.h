// SPDX-License-Identifier: Apache-2.0
//
// The device of why_program, and the few steps that its faults are made of. Whatever cannot be made ends the program
// with 2, a lost device with 1, work that goes on and on with 3.
#ifndef CAIRN_TESTS_TRUTH_WHY_MACHINE_H_
#define CAIRN_TESTS_TRUTH_WHY_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "truth/gpu.h"
#include "truth/why/cause.h"
#include "truth/why/size.h"

namespace cairn::truth::why {

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
  kResults = 64,
  kList = 1088,
  kTable = 1104,
  kLock = 1120,
  kBound = 1122,  // three words
  kLink = 1128,   // three words
  kWordCount = 2048,
};

// Behind the array of vectors in the uniform buffer; shaders/uniform_index.comp.
constexpr uint32_t kUniformBehind = 8;

class Machine {
 public:
  // `scripted`: that of Gpu.
  explicit Machine(const std::string& scripted);

  // Fills size() by measuring.
  void Measure(double seconds);
  void SetSize(const Size& size) { size_ = size; }
  const Size& size() const { return size_; }
  // Waits give up then.
  void SetLimit(double seconds) { limit_s_ = seconds; }

  Gpu& gpu() { return gpu_; }
  VkDevice device() const { return gpu_.device(); }
  bool on_cpu() const { return gpu_.backend() == Backend::kCpu; }
  bool is_scripted() const { return gpu_.backend() == Backend::kScripted; }
  // Directives for the driver of tests/icd, which runs no shader; nothing elsewhere. The next work takes a while; the next
  // dispatch loses the device if it begins before what it needs is there, as the program's own shaders would.
  void ScriptSlow(VkCommandBuffer commands, const char* of = "") const;
  void ScriptRace(VkCommandBuffer commands, const char* of = "") const;
  const GpuBuffer& words() const { return words_; }
  uint64_t AddressOf(Place place) const { return words_.address + sizeof(uint32_t) * place; }
  // With most_trips.
  Constants Bounded() const;
  // The work of healthy_loops and writer.
  uint32_t short_count() const { return ShortCount(size_, on_cpu()); }
  uint32_t short_groups() const { return ShortGroups(size_, on_cpu()); }

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
