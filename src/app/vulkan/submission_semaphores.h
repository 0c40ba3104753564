// SPDX-License-Identifier: Apache-2.0
//
// The semaphores of one batch of a submission, whichever call submits it.
#ifndef CAIRN_APP_VULKAN_SUBMISSION_SEMAPHORES_H_
#define CAIRN_APP_VULKAN_SUBMISSION_SEMAPHORES_H_

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "app/vulkan/layer_chain.h"

namespace cairn {

template <typename T>
std::span<const T> SpanOf(const T* items, uint32_t count) {
  if (items == nullptr) return {};
  return {items, count};
}

inline uint64_t ValueAt(const uint64_t* values, uint32_t count, size_t index) {
  return values != nullptr && index < count ? values[index] : 0;
}

// Calls wait(semaphore, value) and signal(semaphore, value, stages) for each. The value of a binary semaphore means
// nothing. Info is VkSubmitInfo or VkBindSparseInfo: values of timeline semaphores are in the chain.
template <typename Info, typename Wait, typename Signal>
void VisitSemaphores(const Info& info, Wait wait, Signal signal) {
  const auto* const values = FindInChain<VkTimelineSemaphoreSubmitInfo>(
      info.pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
  const VkTimelineSemaphoreSubmitInfo none = {};
  const VkTimelineSemaphoreSubmitInfo& timeline = values == nullptr ? none : *values;
  const auto waits = SpanOf(info.pWaitSemaphores, info.waitSemaphoreCount);
  for (size_t i = 0; i < waits.size(); ++i) {
    wait(waits[i], ValueAt(timeline.pWaitSemaphoreValues, timeline.waitSemaphoreValueCount, i));
  }
  const auto signals = SpanOf(info.pSignalSemaphores, info.signalSemaphoreCount);
  for (size_t i = 0; i < signals.size(); ++i) {
    signal(signals[i],
           ValueAt(timeline.pSignalSemaphoreValues, timeline.signalSemaphoreValueCount, i),
           VkPipelineStageFlags2{VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT});
  }
}

template <typename Wait, typename Signal>
void VisitSemaphores(const VkSubmitInfo2& info, Wait wait, Signal signal) {
  for (const VkSemaphoreSubmitInfo& one :
       SpanOf(info.pWaitSemaphoreInfos, info.waitSemaphoreInfoCount)) {
    wait(one.semaphore, one.value);
  }
  for (const VkSemaphoreSubmitInfo& one :
       SpanOf(info.pSignalSemaphoreInfos, info.signalSemaphoreInfoCount)) {
    signal(one.semaphore, one.value, one.stageMask);
  }
}

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_SUBMISSION_SEMAPHORES_H_
