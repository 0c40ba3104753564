// SPDX-License-Identifier: Apache-2.0
//
// Submits the recorded frames, several in flight, and waits for them: where semaphores go wrong.
#ifndef CAIRN_TESTS_TRUTH_SUBMITTER_H_
#define CAIRN_TESTS_TRUTH_SUBMITTER_H_

#include <vulkan/vulkan.h>

#include <cstdint>
#include <string>
#include <vector>

#include "truth/faults.h"
#include "truth/gpu.h"
#include "truth/scene.h"

namespace cairn::truth {

enum class Outcome : uint8_t { kFinished, kLost, kTimedOut };

class Submitter {
 public:
  // `frame` and `list`: where the fault is.
  Submitter(Gpu* gpu, const Fault& fault, uint32_t frame, uint32_t list);

  // kTimedOut is of waiting only.
  Outcome Submit(uint32_t frame, const std::vector<VkCommandBuffer>& lists);
  // For everything that was submitted.
  Outcome Wait(double seconds);

  // Names of the semaphores that a submission waits for in vain; empty if none does.
  const std::vector<std::string>& vain() const { return vain_; }

 private:
  struct Sync {
    std::vector<VkSemaphore> waits;
    std::vector<uint64_t> wait_values;
    std::vector<VkPipelineStageFlags> stages;
    std::vector<VkSemaphore> signals;
    std::vector<uint64_t> signal_values;
  };
  Sync SyncOf(uint32_t frame, uint32_t list) const;
  VkSemaphore CreateVain(const char* name);

  Gpu& gpu_;
  const Fault& fault_;
  const uint32_t fault_frame_;
  const uint32_t fault_list_;
  VkSemaphore simulated_ = VK_NULL_HANDLE;  // frame + 1 once the simulation of a frame has finished
  VkSemaphore computed_ = VK_NULL_HANDLE;   // the same of the compute queue
  VkSemaphore first_vain_ = VK_NULL_HANDLE;
  VkSemaphore second_vain_ = VK_NULL_HANDLE;
  std::vector<std::string> vain_;
  std::vector<VkFence> fences_;
};

}  // namespace cairn::truth

#endif  // CAIRN_TESTS_TRUTH_SUBMITTER_H_
