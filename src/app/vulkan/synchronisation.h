// SPDX-License-Identifier: Apache-2.0
//
// Records waits and signals of the queues and the CPU. Two uses: every wait and every signal is a
// record in the block (SyncRecord), so that a report can show what each queue waits for; and fences
// and timeline semaphores tell how far a queue has come (Context::NotifyCompleted).
//
// Fences and binary semaphores need no state of their own to be recorded; a handle that is not known to
// be a timeline semaphore is a binary one.
//
// Threads: any. Locks are short, and none is held while the next layer is called. May throw
// std::bad_alloc: the record is made all the same, but for waits of the CPU.
#ifndef CAIRN_APP_VULKAN_SYNCHRONISATION_H_
#define CAIRN_APP_VULKAN_SYNCHRONISATION_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <vector>

#include "app/recorder/block_writer.h"
#include "app/vulkan/sharded_map.h"

namespace cairn {

class Context;

class Synchronisation {
 public:
  // Both outlive it.
  Synchronisation(Context& context, BlockWriter& block) : context_(context), block_(block) {}

  // A submission of a queue.
  struct Place {
    VkQueue queue = VK_NULL_HANDLE;
    uint32_t record = kNoQueue;  // index into the block's queue table
    uint64_t number = 0;
    // Later operations also follow the queue's earlier submissions from this number on: 0 for
    // submissions of command buffers, which follow all of them. Sparse binding gives no such
    // guarantee.
    uint64_t first = 0;
  };

  // Records the semaphore; its initial value counts as signalled by the CPU.
  void AddTimeline(VkSemaphore semaphore, uint64_t initial_value);
  // Adds a fence that is made signalled, or signalled elsewhere: its waits are not recorded.
  void AddSignalled(VkFence fence);
  // Call it when another device or process signals the semaphore.
  void SignalledOutside(VkSemaphore semaphore);
  void Forget(VkSemaphore semaphore);
  void Forget(VkFence fence);

  // Records waits. Call it before the queue gets them. `value` counts for timeline semaphores.
  // Ignores null handles.
  void QueueWaits(const Place& place, VkSemaphore semaphore, uint64_t value);
  // `after_everything`: the signal waits for the whole submission, so that its value proves that
  // the submission has finished.
  void QueueSignals(const Place& place, VkSemaphore semaphore, uint64_t value,
                    bool after_everything = true);
  void QueueSignals(const Place& place, VkFence fence);
  // The queue's last submission was `place.number` when this present was made.
  void PresentWaits(const Place& place, VkSemaphore semaphore);
  void PresentSignals(const Place& place, VkFence fence);
  // Withdraws the records from this submission on, which the queue refused: nothing will be
  // signalled.
  void Withdraw(VkQueue queue, uint64_t first_number);

  // Records a wait of the CPU; call it before. A repeated wait, as in a loop that polls, adds no
  // record, nor does one for a value that the application knows to be reached. The record stays
  // current until then: a time-out ends a call, but not the program's wait.
  void CpuWaits(VkFence fence);
  void CpuWaits(VkSemaphore semaphore, uint64_t value);
  // A call that waited for several has what it wanted without this one.
  void CpuWaitsNoMore(VkFence fence);
  void CpuWaitsNoMore(VkSemaphore semaphore, uint64_t value);
  void CpuSignals(VkSemaphore semaphore, uint64_t value);

  // Call it after the presentation engine promised to signal them.
  void Acquired(VkSemaphore semaphore, VkFence fence);

  // The application received these results: the queue has finished the submissions behind them.
  void Signalled(VkFence fence);
  void Reached(VkSemaphore semaphore, uint64_t value);
  void Reset(VkFence fence);

 private:
  // The most pending signals: for a semaphore that only queues wait for, the newest are kept.
  static constexpr size_t kMaxPending = 128;

  struct FenceState {
    Place place;           // number 0: no queue was told to signal it since it was made or reset
    bool no_news = false;  // a wait of the CPU: it is noted, or the fence is signalled
    uint64_t wait = 0;     // the record of a wait of the CPU that is not over; 0: there is none
  };
  struct CpuWait {
    uint64_t value;
    uint64_t record;
  };
  struct Pending {
    uint64_t value;
    Place place;
  };
  struct Timeline {
    std::vector<Pending> pending;  // in the order of the submissions
    uint64_t reached = 0;          // as far as the application was told
    std::vector<CpuWait> waits;    // of the CPU that are not over, the values rising
  };

  // The serial number of the record.
  uint64_t Record(SyncKind kind, uint32_t flags, const Place& place, uint64_t handle,
                  uint64_t value);
  void Complete(const Place& place);
  // Ends the CPU's waits for the fence, which are satisfied or never can be; the fence starts anew.
  void Restart(FenceState* state, const FenceState& next);

  Context& context_;
  BlockWriter& block_;
  ShardedMap<FenceState> fences_;
  ShardedMap<Timeline> timelines_;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_SYNCHRONISATION_H_
