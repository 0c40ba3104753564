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

// By device: nothing that was in flight on any queue of it can have faulted. There is nothing, or only barriers,
// events and labels. The verdicts of `analysis` are known.
std::vector<bool> FindDevicesAtRest(const Snapshot& snapshot, const Analysis& analysis);

// The verdicts of `analysis` are known; `queue_order` are the executions of all queues, each queue's
// together and as submitted. Names a suspect only where this run shows
// that words ran ahead on the device: its driver tells of a fault at an address, and nothing that was in
// flight there can have made it. docs/analysis.md.
void FindLateSuspects(const Snapshot& snapshot, std::span<const uint32_t> queue_order,
                      Analysis* analysis);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_LATE_SUSPECT_H_
