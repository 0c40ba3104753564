// SPDX-License-Identifier: Apache-2.0
//
// The experiment "serial-queues" (docs/internals/why.md): no two submissions run at once, on whatever queues of the
// device. In front of each one the CPU waits until the earlier ones have ended; a call with several is made as several
// calls. In every other run DeviceState::serial is null, and nothing of this is used.
//
// One that waits for a signal that nobody has submitted yet, as timeline semaphores allow, cannot be waited for: what
// comes next may be its signal. It runs beside others, and counts as not changed.
//
// It stands between the intercepts of the layer and the next layer, as mode exact does (exact.h).
#ifndef CAIRN_APP_VULKAN_SERIAL_QUEUES_H_
#define CAIRN_APP_VULKAN_SERIAL_QUEUES_H_

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "app/vulkan/device.h"

namespace cairn {

// The semaphores of one batch.
struct BatchSemaphores {
  struct Point {
    VkSemaphore semaphore = VK_NULL_HANDLE;
    uint64_t value = 0;  // of a timeline semaphore
  };
  std::vector<Point> waits;
  std::vector<Point> signals;
};

// One device. Threads: any. Nothing here fails a call: without memory, or once the device is lost, submissions go as they
// are.
class SerialQueues {
 public:
  // A submission that has not ended after this time is left alone: it hangs, or waits for something else than a
  // semaphore, an event for example. Others may then run beside it.
  static constexpr uint64_t kMostWaitNs = uint64_t{5} * 1'000'000'000;

  explicit SerialQueues(const DeviceState& device) : device_(device.handle), next_(device.vk) {}
  // Waits, kMostWaitNs at most, until the queues are done with the fences.
  ~SerialQueues();
  SerialQueues(const SerialQueues&) = delete;
  SerialQueues& operator=(const SerialQueues&) = delete;

  // Returns the functions of the next layer.
  const DeviceFunctions& next() const { return next_; }

  // Waits for the earlier submissions, and calls submit(fence), which submits one batch to the queue with this fence, and
  // returns its result. `fence` is the program's, or null.
  template <typename Call>
  VkResult Submit(VkQueue queue, BatchSemaphores semaphores, VkFence fence, Call submit) {
    const std::lock_guard turn(turn_);
    WaitForEarlier();
    const VkFence own = Prepare(queue, std::move(semaphores));
    const bool rides = fence == VK_NULL_HANDLE;
    const VkResult result = submit(rides ? own : fence);
    Finish(queue, own, rides, result);
    return result;
  }
  // Waits for all submissions.
  void Drain();

  void AddTimeline(VkSemaphore semaphore);
  // To be called before the semaphore is destroyed: no submission waits for it any more.
  void Forget(VkSemaphore semaphore);

 private:
  struct Pending {
    VkQueue queue = VK_NULL_HANDLE;
    VkFence fence = VK_NULL_HANDLE;
    BatchSemaphores semaphores;
    bool can_end = false;  // with what was submitted and signalled so far
    bool too_long = false;
  };

  void WaitForEarlier();
  void DropEnded();
  void FindWhatCanEnd();
  bool CanEnd(size_t index) const;
  bool IsSignalled(const BatchSemaphores::Point& point, size_t waiter) const;
  uint64_t ValueOf(VkSemaphore timeline) const;
  VkFence Prepare(VkQueue queue, BatchSemaphores&& semaphores) noexcept;
  void Finish(VkQueue queue, VkFence own, bool rode, VkResult result) noexcept;
  VkFence TakeFence();

  const VkDevice device_;
  const DeviceFunctions next_;
  std::mutex turn_;  // of the one that submits; with what follows
  bool lost_ = false;
  std::vector<VkFence> free_;
  // Programs make and destroy semaphores while one submits.
  std::mutex mutex_;
  // Oldest first. Only who has the turn adds, removes, and writes; the semaphores are guarded by mutex_.
  std::vector<Pending> pending_;
  std::unordered_set<VkSemaphore> timelines_;  // guarded by mutex_
};

// For a device that has started, once all that calls the next layer for itself has its functions; nothing unless the run
// asks for it. May throw std::bad_alloc.
void StartSerialQueues(DeviceState& device);

// Ours of that name, for a device with DeviceState::serial; or null.
PFN_vkVoidFunction FindSerialFunction(std::string_view name);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_SERIAL_QUEUES_H_
