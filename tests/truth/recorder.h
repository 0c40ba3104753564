// SPDX-License-Identifier: Apache-2.0
//
// Records the frames of scene.h, with one of their works changed into the culprit.
#ifndef CAIRN_TESTS_TRUTH_RECORDER_H_
#define CAIRN_TESTS_TRUTH_RECORDER_H_

#include <vulkan/vulkan.h>

#include <cstdint>
#include <string>
#include <vector>

#include "truth/gpu.h"
#include "truth/scene.h"

namespace cairn::truth {

inline constexpr uint32_t kNoWork = 0xFFFFFFFF;

// The resources of all frames.
struct Resources {
  GpuBuffer words;
  GpuBuffer data;
  GpuBuffer vertices;
  GpuBuffer indices;
  GpuBuffer arguments;  // of indirect works, kArgumentsBytes each; the CPU sees it
  VkDescriptorSet set = VK_NULL_HANDLE;
};
inline constexpr uint32_t kArgumentsBytes = 32;
Resources CreateResources(Gpu* gpu, Notes* notes, uint32_t work_count);

// The change of one work.
struct Injection {
  uint32_t work = kNoWork;
  uint32_t misdeed = Constants::kNothing;
  uint64_t address = 0;
  uint32_t stage = 0;
  uint32_t lane = Constants::kAllLanes;
  uint32_t trips = 0;
  uint32_t ticks = 0;
  uint64_t amount = 1;  // of groups or instances
  // In place of those that everybody uses; null: the same.
  VkDescriptorSet set = VK_NULL_HANDLE;
  VkBuffer vertices = VK_NULL_HANDLE;
  VkBuffer indices = VK_NULL_HANDLE;
  VkBuffer arguments = VK_NULL_HANDLE;
  VkEvent event = VK_NULL_HANDLE;  // a command before the work waits for it
  std::string directive;           // for the driver of tests/icd
};

class Recorder {
 public:
  // All of them outlive it. Works have the numbers that WorksOf gives them.
  Recorder(Gpu* gpu, Notes* notes, const Resources* resources,
           const std::vector<Injection>* injections, FrameKind kind)
      : gpu_(*gpu), notes_(*notes), resources_(*resources), injections_(*injections), kind_(kind) {}

  // The lists of the frame, in its order. Frames are recorded one after the other, from 0.
  std::vector<VkCommandBuffer> RecordFrame(uint32_t frame);
  // One work outside of any frame, to see how long it takes; its notes are those of work number `scratch`.
  VkCommandBuffer RecordAlone(bool draw, const Injection& injection, uint32_t scratch);
  // Returns the ticks of the device's clock that a loop of this work took in the last run.
  uint32_t TicksOf(uint32_t work) const { return notes_.WordsOf(work)[kTicksWord]; }

 private:
  void RecordPass(VkCommandBuffer commands, const GpuQueue& queue, const PassPlan& pass);
  void RecordWorks(VkCommandBuffer commands, const PassPlan& pass);
  void RecordWork(VkCommandBuffer commands, WorkType type, uint32_t work, const Injection& change);
  void Dispatch(VkCommandBuffer commands, WorkType type, uint32_t work, const Injection& change);
  void Draw(VkCommandBuffer commands, WorkType type, uint32_t work, const Injection& change);
  void BindFor(VkCommandBuffer commands, bool draw, uint32_t work, const Injection& change);
  VkCommandBuffer RecordSecondary(const GpuQueue& queue, const PassPlan& pass, bool rendering);
  void BeginRendering(VkCommandBuffer commands, VkRenderingFlags flags);
  void WaitForEvent(VkCommandBuffer commands, VkEvent event);
  // Returns the change that is made to this work; an empty one if there is none.
  const Injection& ChangeOf(uint32_t work) const;

  Gpu& gpu_;
  Notes& notes_;
  const Resources& resources_;
  const std::vector<Injection>& injections_;
  const FrameKind kind_;
  uint32_t next_work_ = 0;
};

inline constexpr const char* kWaitLabel = "Wait for the CPU";
// Name of all secondary command buffers, which is no label.
inline constexpr const char* kSecondaryName = "secondary command buffer";

}  // namespace cairn::truth

#endif  // CAIRN_TESTS_TRUTH_RECORDER_H_
