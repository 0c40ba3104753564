// SPDX-License-Identifier: Apache-2.0
//
// Labels of VK_EXT_debug_utils on queues: kept in an arena of the queue as Direct3D's events on queues
// are, so that reports show them between the queue's submissions.
//
// Threads: one at a time a queue, as the API asks.
#ifndef CAIRN_APP_VULKAN_QUEUE_LABELS_H_
#define CAIRN_APP_VULKAN_QUEUE_LABELS_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>

#include "app/annotations/marker_arena.h"

namespace cairn {

class QueueLabels {
 public:
  QueueLabels(BlockWriter* block, VkQueue queue)
      : arena_(block, MarkerArena::Lifetime::kQueue, queue) {}

  // `submission`: how many submissions the queue has had. A null name is "".
  void Begin(const char* name, uint64_t submission);
  // Without a begin it is nothing.
  void End(uint64_t submission);
  void Insert(const char* name, uint64_t submission);

 private:
  void Keep(MarkerKind kind, const char* name, uint64_t submission);

  MarkerArena arena_;
  uint64_t open_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_QUEUE_LABELS_H_
