// SPDX-License-Identifier: Apache-2.0
//
// Works between which the GPU writes nothing, as in a render pass without buffer markers: no
// progress word separates them. The arguments and shaders with which they were recorded do, a
// little, at no cost.
#ifndef CAIRN_READER_ANALYSIS_TIES_H_
#define CAIRN_READER_ANALYSIS_TIES_H_

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "format/snapshot/snapshot.h"
#include "reader/analysis/culprit.h"

namespace cairn {

// The evidence for a work; smaller is likelier.
struct TieScore {
  bool is_absurd = false;       // its size alone would hang a GPU: kAbsurdSize
  uint32_t shaders = kUnknown;  // of its pipeline
  uint32_t thousands = 0;       // of its size: 0 below a thousand, 1 below a million, ...
  static constexpr uint32_t kLoops = 0;
  static constexpr uint32_t kUnknown = 1;  // no code of it was read
  static constexpr uint32_t kNoLoops = 2;  // its code was read, and ends by itself

  friend std::strong_ordering operator<=>(const TieScore& a, const TieScore& b);
  friend bool operator==(const TieScore&, const TieScore&) = default;
};

class TieScorer {
 public:
  // The snapshot outlives it. Time: n log n in its shaders, once.
  explicit TieScorer(const Snapshot& snapshot);

  // Returns the score of the work that begins with this event. Linear in its binds.
  TieScore Of(uint32_t event) const;

  // Returns the evidence that puts `first` before `other`, which ties with it.
  static TieEvidence Between(const TieScore& first, const TieScore& other);

 private:
  uint32_t ShadersOf(uint32_t pipeline) const;

  const Snapshot& snapshot_;
  std::vector<std::pair<uint64_t, uint32_t>> traits_;  // by hash
};

// Returns true if the GPU writes a word at an event behind the one with index `from`, up to `to`.
bool IsWrittenBetween(const Snapshot& snapshot, uint32_t from, uint32_t to);

// Returns true if the work that begins with `event` is in a render pass, by the commands before it
// in its recording, which begins with `first_event`.
bool IsInRenderPass(const Snapshot& snapshot, uint32_t first_event, uint32_t event);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_TIES_H_
