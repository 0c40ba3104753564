// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of a driver as a second opinion on the words.
#ifndef CAIRN_READER_ANALYSIS_CHECKPOINT_CHECK_H_
#define CAIRN_READER_ANALYSIS_CHECKPOINT_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "format/snapshot/snapshot.h"
#include "reader/analysis/analysis.h"

namespace cairn {

enum class CheckpointRelation : uint8_t {
  kAgrees,
  kTellsMore,         // it is further than the words, where they could not have told
  kWordsBehind,       // it is further, where a word was to be written: that write is late or lost
  kCheckpointBehind,  // the words are further
  kNotCompared,       // it belongs to another stage, or to no one recording
};

struct CheckpointVerdict {
  uint32_t checkpoint = 0;  // into Snapshot::checkpoints
  CheckpointRelation relation = CheckpointRelation::kNotCompared;
  // A sentence without names that the application gave.
  std::string reason;
};

// Returns a verdict for each of Snapshot::checkpoints, in their order. `analysis` is that of
// `snapshot`. Any snapshot whose indices are in range is safe.
std::vector<CheckpointVerdict> CheckCheckpoints(const Snapshot& snapshot, const Analysis& analysis);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_CHECKPOINT_CHECK_H_
