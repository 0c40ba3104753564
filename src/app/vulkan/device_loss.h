// SPDX-License-Identifier: Apache-2.0
//
// DeviceLoss: what is asked when the device is lost, once: checkpoints, faults, memory; then the Context is told,
// and with it the watcher. Calls that fail for want of memory are noted as well.
//
// Threads: any. Threads that learn of the loss while another one asks wait for it, because programs tend
// to end themselves at once; but no longer than kPatience, because drivers have hung here.
#ifndef CAIRN_APP_VULKAN_DEVICE_LOSS_H_
#define CAIRN_APP_VULKAN_DEVICE_LOSS_H_

#include <vulkan/vulkan_core.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace cairn {

class DeviceLoss {
 public:
  static constexpr std::chrono::seconds kPatience{3};

  // `ask(result, function)` is called once, `no_memory(result, function)` for each call that found none; what they
  // throw is lost.
  using Told = std::function<void(VkResult, const char*)>;
  explicit DeviceLoss(Told ask, Told no_memory = {})
      : ask_(std::move(ask)), no_memory_(std::move(no_memory)) {}

  // The result of a call: `function` is a literal, "vkQueueSubmit".
  void Note(VkResult result, const char* function) noexcept {
    if (result < 0) [[unlikely]]
      OnError(result, function);
  }

 private:
  enum class Step { kAlive, kAsking, kDone };

  void OnError(VkResult result, const char* function) noexcept;
  void OnLost(VkResult result, const char* function) noexcept;

  const Told ask_;
  const Told no_memory_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Step step_ = Step::kAlive;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_DEVICE_LOSS_H_
