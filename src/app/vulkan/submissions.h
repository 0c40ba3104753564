// SPDX-License-Identifier: Apache-2.0
//
// Submissions of a device: every batch is noted, with what it waits for and signals, before the next
// layer gets it, so that a report tells of it whatever happens then.
//
// A frame ends with a present; without presents, every kSubmissionsPerFrame calls that submit.
#ifndef CAIRN_APP_VULKAN_SUBMISSIONS_H_
#define CAIRN_APP_VULKAN_SUBMISSIONS_H_

#include <vulkan/vulkan_core.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "app/vulkan/device.h"
#include "app/vulkan/queue_labels.h"
#include "format/block/block.h"

namespace cairn {

class CommandList;

// A queue of a device with breadcrumbs. The API has one thread at a time use a queue; the lock is for
// programs that do not.
struct QueueObjects {
  QueueObjects(BlockWriter* block, const QueueState& queue)
      : state(queue), labels(block, queue.handle) {}

  const QueueState& state;
  uint32_t record = kNoQueue;  // index into the block's queue table
  std::mutex mutex;            // what follows
  QueueLabels labels;
  uint64_t submissions = 0;         // the number of the last one
  std::vector<CommandList*> lists;  // of the batch being noted
};

class FrameCounter {
 public:
  static constexpr uint32_t kSubmissionsPerFrame = 64;

  // Each returns whether a frame has ended. Any thread.
  bool Submitted() {
    if (presents_.load(std::memory_order_relaxed)) return false;
    return (submits_.fetch_add(1, std::memory_order_relaxed) + 1) % kSubmissionsPerFrame == 0;
  }
  bool Presented() {
    presents_.store(true, std::memory_order_relaxed);
    return true;
  }

 private:
  std::atomic<uint32_t> submits_{0};
  std::atomic<bool> presents_{false};
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_SUBMISSIONS_H_
