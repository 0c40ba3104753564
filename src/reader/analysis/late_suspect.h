// SPDX-License-Identifier: Apache-2.0
//
// The late suspect: work that finished by its own word, and is the culprit all the same.
#ifndef CAIRN_READER_ANALYSIS_LATE_SUSPECT_H_
#define CAIRN_READER_ANALYSIS_LATE_SUSPECT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "reader/analysis/analysis.h"

namespace cairn {

// Returns, for each device, if no work in flight on its queues can have faulted: there is none, or
// only barriers, events and labels. The verdicts of `analysis` must be complete.
std::vector<bool> FindDevicesAtRest(const Snapshot& snapshot, const Analysis& analysis);

// Finds late suspects. The verdicts of `analysis` must be complete; `queue_order` are the
// executions of all queues, each queue's together and as submitted. Names a suspect only if this
// run shows that words ran ahead on the device: no work in flight there can have caused the failure, and its driver
// reports a fault at an address, or it hangs or was lost in a barrier, which runs nothing. docs/internals/analysis.md.
void FindLateSuspects(const Snapshot& snapshot, std::span<const uint32_t> queue_order,
                      Analysis* analysis);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_LATE_SUSPECT_H_
