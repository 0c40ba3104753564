// SPDX-License-Identifier: Apache-2.0
//
// The verdict of one queue: which scopes can be the culprit, and the facts from which that follows.
#ifndef CAIRN_READER_ANALYSIS_VERDICT_H_
#define CAIRN_READER_ANALYSIS_VERDICT_H_

#include <span>
#include <vector>

#include "reader/analysis/analysis.h"
#include "reader/analysis/progress.h"

namespace cairn {

// `queue_order` are the executions of one queue as submitted, at least one; `analysis` has scopes
// and executions with their states. `listed` is true for scopes that an earlier call named as
// candidates, and is updated: executions that share scopes list them once.
QueueVerdict JudgeQueue(const Snapshot& snapshot, std::span<const Progress> progress,
                        std::span<const uint32_t> queue_order, std::vector<bool>& listed,
                        const Analysis& analysis);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_VERDICT_H_
