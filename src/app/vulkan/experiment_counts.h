// SPDX-License-Identifier: Apache-2.0
//
// An experiment counts on the board of the run what it changed: `cairn why` draws no conclusion from a run in which
// nothing was (docs/internals/why.md). Without a board nothing is counted. Any thread.
#ifndef CAIRN_APP_VULKAN_EXPERIMENT_COUNTS_H_
#define CAIRN_APP_VULKAN_EXPERIMENT_COUNTS_H_

#include <atomic>

#include "app/breadcrumbs/elimination.h"
#include "format/experiment/robust_features.h"

namespace cairn {

inline void CountChange() noexcept {
  const Elimination* const run = Elimination::Active();
  if (run != nullptr) run->board().header().changes.fetch_add(1, std::memory_order_relaxed);
}

// The experiment had no way to make its change here.
inline void CountNotChanged() noexcept {
  const Elimination* const run = Elimination::Active();
  if (run != nullptr) run->board().header().not_changed.fetch_add(1, std::memory_order_relaxed);
}

// Joins the features of a device in the experiment "robust" to those of the other devices of the run.
inline void NoteRobustDevice(const RobustDevices& devices) noexcept {
  const Elimination* const run = Elimination::Active();
  if (run == nullptr || devices == RobustDevices()) return;
  run->board().header().changes.fetch_or(WordOf(devices), std::memory_order_relaxed);
}

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_EXPERIMENT_COUNTS_H_
