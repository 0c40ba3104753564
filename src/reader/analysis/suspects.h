// SPDX-License-Identifier: Apache-2.0
//
// The candidates of all queues as one list, the likeliest first: half of culprit.h.
#ifndef CAIRN_READER_ANALYSIS_SUSPECTS_H_
#define CAIRN_READER_ANALYSIS_SUSPECTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "reader/analysis/culprit.h"
#include "reader/analysis/queue_weight.h"

namespace cairn {

// Fills `finding->suspects`, `finding->certainty` and `finding->tied`. `weights` are those of WeighQueues
// (queue_weight.h).
void RankSuspects(const Snapshot& snapshot, const Analysis& analysis,
                  std::span<const RawMarkerVerdict> raw_verdicts,
                  std::span<const QueueWeight> weights, uint32_t device, CulpritFinding* finding);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_SUSPECTS_H_
