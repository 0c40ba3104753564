// SPDX-License-Identifier: Apache-2.0
#include "truth/submitter.h"

#include <chrono>
#include <thread>

namespace cairn::truth {
namespace {

// Larger than any that is signalled.
constexpr uint64_t kTooFar = 1000;

}  // namespace

Submitter::Submitter(Gpu* gpu, const Fault& fault, uint32_t frame, uint32_t list)
    : gpu_(*gpu), fault_(fault), fault_frame_(frame), fault_list_(list) {
  simulated_ = gpu->CreateTimeline("Simulated");
  computed_ = gpu->CreateTimeline("Computed");
  if (fault.misdeed == Misdeed::kWaitForever) first_vain_ = CreateVain("Nobody signals");
  if (fault.misdeed == Misdeed::kWaitTooFar) vain_ = {"Computed"};
  if (fault.misdeed == Misdeed::kDeadlock) {
    first_vain_ = CreateVain("Geometry for compute");
    second_vain_ = CreateVain("Occlusion for graphics");
  }
}

VkSemaphore Submitter::CreateVain(const char* name) {
  vain_.emplace_back(name);
  return gpu_.CreateTimeline(name);
}

Submitter::Sync Submitter::SyncOf(uint32_t frame, uint32_t list) const {
  Sync sync;
  const auto wait = [&](VkSemaphore semaphore, uint64_t value) {
    sync.waits.push_back(semaphore);
    sync.wait_values.push_back(value);
    sync.stages.push_back(VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  };
  const auto signal = [&](VkSemaphore semaphore, uint64_t value) {
    sync.signals.push_back(semaphore);
    sync.signal_values.push_back(value);
  };
  if (list == kSimulation) signal(simulated_, frame + 1);
  if (list == kAsync) {
    wait(simulated_, frame + 1);
    signal(computed_, frame + 1);
  }
  if (list == kPost) wait(computed_, frame + 1);
  if (frame != fault_frame_) return sync;
  if (list == fault_list_) {
    if (fault_.misdeed == Misdeed::kWaitForever) wait(first_vain_, 1);
    if (fault_.misdeed == Misdeed::kWaitTooFar) wait(computed_, kTooFar);
  }
  if (fault_.misdeed == Misdeed::kDeadlock && (list == kAsync || list == kMain)) {
    wait(list == kAsync ? first_vain_ : second_vain_, 1);
    signal(list == kAsync ? second_vain_ : first_vain_, 1);
  }
  return sync;
}

Outcome Submitter::Submit(uint32_t frame, const std::vector<VkCommandBuffer>& lists) {
  for (uint32_t list = 0; list < lists.size(); ++list) {
    const Sync sync = SyncOf(frame, list);
    VkTimelineSemaphoreSubmitInfo values = {VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
    values.waitSemaphoreValueCount = static_cast<uint32_t>(sync.waits.size());
    values.pWaitSemaphoreValues = sync.wait_values.data();
    values.signalSemaphoreValueCount = static_cast<uint32_t>(sync.signals.size());
    values.pSignalSemaphoreValues = sync.signal_values.data();
    VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.pNext = &values;
    submit.waitSemaphoreCount = values.waitSemaphoreValueCount;
    submit.pWaitSemaphores = sync.waits.data();
    submit.pWaitDstStageMask = sync.stages.data();
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &lists[list];
    submit.signalSemaphoreCount = values.signalSemaphoreValueCount;
    submit.pSignalSemaphores = sync.signals.data();
    const bool compute = Frame(FrameKind::kWhole)[list].queue == QueueKind::kCompute;
    const VkQueue queue = compute ? gpu_.compute().queue : gpu_.graphics().queue;
    fences_.push_back(gpu_.CreateFence());
    const VkResult result = vkQueueSubmit(queue, 1, &submit, fences_.back());
    if (result == VK_ERROR_DEVICE_LOST) return Outcome::kLost;
    Check(result, "vkQueueSubmit");
  }
  return Outcome::kFinished;
}

Outcome Submitter::Wait(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const auto count = static_cast<uint32_t>(fences_.size());
  const VkResult result = vkWaitForFences(gpu_.device(), count, fences_.data(), VK_TRUE,
                                          static_cast<uint64_t>(seconds * 1e9));
  if (result == VK_ERROR_DEVICE_LOST) return Outcome::kLost;
  if (result == VK_TIMEOUT) {
    // A scripted driver knows at once that nothing will come.
    std::this_thread::sleep_until(end);
    return Outcome::kTimedOut;
  }
  Check(result, "vkWaitForFences");
  return Outcome::kFinished;
}

}  // namespace cairn::truth
