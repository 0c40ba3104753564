// SPDX-License-Identifier: Apache-2.0
//
// Copying words from memory that a device writes into the block. Both have the layout of WordRegion.
#ifndef CAIRN_APP_BREADCRUMBS_MIRROR_WORDS_H_
#define CAIRN_APP_BREADCRUMBS_MIRROR_WORDS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "app/breadcrumbs/backend.h"

namespace cairn {

// Brings one word up to date, and writes only what changed, so that untouched pages of the block stay
// untouched. Two mirrors at once, one of them interrupted with an old value in hand, never turn a
// word back: the exchange fails if the word is not what it was before the old value was read.
template <typename Word>
inline void MirrorWord(std::atomic<Word>* to, const std::atomic<Word>* from) {
  Word before = to->load(std::memory_order_acquire);
  const Word value = from->load(std::memory_order_acquire);
  if (before != value) {
    to->compare_exchange_strong(before, value, std::memory_order_acq_rel,
                                std::memory_order_relaxed);
  }
}

// Safe in a signal handler; several threads may do it at once. The words of a slot change while
// they are copied. A reusable list clears its words before it counts the next execution, so `runs`
// is read first and written last: no reader ever finds the words of one execution beside the number
// of the next.
inline void MirrorProgressWords(ProgressWords* to, const ProgressWords* from) {
  uint32_t runs_before = to->runs.load(std::memory_order_acquire);
  const uint32_t runs = from->runs.load(std::memory_order_acquire);
  MirrorWord(&to->passed, &from->passed);
  MirrorWord(&to->reached, &from->reached);
  if (runs != runs_before) {
    to->runs.compare_exchange_strong(runs_before, runs, std::memory_order_acq_rel,
                                     std::memory_order_relaxed);
  }
}

inline void MirrorWords(const WordRegion& region, const std::byte* source) {
  const auto* progress_from =
      reinterpret_cast<const ProgressWords*>(source + region.progress_offset);
  auto* progress_to = reinterpret_cast<ProgressWords*>(region.base + region.progress_offset);
  const uint32_t used = region.recordings_used == nullptr
                            ? region.recording_capacity
                            : region.recordings_used->load(std::memory_order_acquire);
  for (uint32_t i = 0; i < used; ++i) {
    MirrorProgressWords(progress_to + i, progress_from + i);
  }
  const auto* raw_from =
      reinterpret_cast<const std::atomic<uint64_t>*>(source + region.raw_markers_offset);
  auto* raw_to = reinterpret_cast<std::atomic<uint64_t>*>(region.base + region.raw_markers_offset);
  for (uint32_t i = 0; i < region.raw_marker_count; ++i) MirrorWord(raw_to + i, raw_from + i);
}

// Sets the three words of a slot to 0; `progress` is where ProgressWords[] starts.
inline void ClearProgressWords(std::byte* progress, uint32_t slot) {
  ProgressWords& words = reinterpret_cast<ProgressWords*>(progress)[slot];
  words.reached.store(0, std::memory_order_relaxed);
  words.passed.store(0, std::memory_order_relaxed);
  words.runs.store(0, std::memory_order_relaxed);
}

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_MIRROR_WORDS_H_
