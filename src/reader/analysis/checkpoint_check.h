// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of a driver as a second opinion on the words.
#ifndef CAIRN_READER_ANALYSIS_CHECKPOINT_CHECK_H_
#define CAIRN_READER_ANALYSIS_CHECKPOINT_CHECK_H_

#include <cstdint>
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

// The evidence for the relation.
enum class CheckpointEvidence : uint8_t {
  kNone,            // kNotCompared
  kNotStarted,      // words say that its list has not started: kWordsBehind
  kFinishedLast,    // its list had finished, and nothing behind it on the queue had begun: kAgrees
  kLaterWorkBegan,  // its list had finished, and something behind it had begun: kCheckpointBehind
  kWordIsFurther,   // kCheckpointBehind
  kWordIsSame,      // kAgrees
  kWriteIsMissing,  // an event between the word and the checkpoint was to write it: kWordsBehind
  kNoWriteBetween,  // no such event does: kTellsMore
};

struct CheckpointVerdict {
  uint32_t checkpoint = 0;  // into Snapshot::checkpoints
  CheckpointRelation relation = CheckpointRelation::kNotCompared;
  CheckpointEvidence evidence = CheckpointEvidence::kNone;
  // Sequence numbers of events: the word of the checkpoint's stage, from kWordIsFurther on, and of
  // kWriteIsMissing the first event that was to write.
  uint32_t word = 0;
  uint32_t missing_write = 0;
};

// Returns a verdict for each of Snapshot::checkpoints, in their order. `analysis` is that of
// `snapshot`. Any snapshot whose indices are in range is safe.
std::vector<CheckpointVerdict> CheckCheckpoints(const Snapshot& snapshot, const Analysis& analysis);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_CHECKPOINT_CHECK_H_
