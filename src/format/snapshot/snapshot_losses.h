// SPDX-License-Identifier: Apache-2.0
//
// The parts of a block that a snapshot lacks. Omissions are counted, and the counts become
// sentences at the end, so that a hostile block cannot make a long list.
#ifndef CAIRN_FORMAT_SNAPSHOT_SNAPSHOT_LOSSES_H_
#define CAIRN_FORMAT_SNAPSHOT_SNAPSHOT_LOSSES_H_

#include <cstdint>

#include "format/snapshot/block_reader.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

struct LossCounts {
  uint64_t raw_markers = 0;
  uint64_t contexts = 0;
  uint64_t queues = 0;
  uint64_t recordings_changed = 0;
  uint64_t recordings_left_out = 0;
  uint64_t recordings_bad = 0;
  uint64_t events_missing = 0;
  uint64_t events_bad = 0;
  uint64_t pipelines_bad = 0;
  uint64_t words_bad = 0;
  uint64_t submissions_torn = 0;
  uint64_t submissions_later = 0;
  uint64_t objects_changed = 0;
  uint64_t objects_bad = 0;
  uint64_t syncs_bad = 0;
  uint64_t checkpoints_bad = 0;
  uint64_t binaries_bad = 0;
  uint64_t shaders_bad = 0;
  uint64_t destructions_torn = 0;
  uint64_t secondaries_unknown = 0;
  uint64_t secondaries_nested = 0;
  uint64_t secondaries_over_budget = 0;
  uint64_t user_data_bad = 0;
  uint64_t names_unreadable = 0;
};

// These, and those that the block itself counted, as sentences in snapshot->losses.
void NoteLosses(const BlockReader& block, const LossCounts& losses, Snapshot* snapshot);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_SNAPSHOT_LOSSES_H_
