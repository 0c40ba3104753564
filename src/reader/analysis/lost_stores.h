// SPDX-License-Identifier: Apache-2.0
//
// Raw markers of a device that failed, where stores at the top of the pipe may have been lost with it.
// docs/reference/raw-markers.md, "When a store is lost".
#ifndef CAIRN_READER_ANALYSIS_LOST_STORES_H_
#define CAIRN_READER_ANALYSIS_LOST_STORES_H_

#include <vector>

#include "reader/analysis/raw_marker_verdicts.h"

namespace cairn {

// Handles a device that was lost, faulted or hung although neither its words nor its raw markers
// leave a possible culprit: on each of its queues the first work not proven to have finished
// becomes likely, and the work behind it possible. `verdicts` and `analysis` are those of
// `snapshot`. Time O(n) of the works.
void AllowForLostStores(const Snapshot& snapshot, const Analysis& analysis,
                        std::vector<RawMarkerVerdict>* verdicts);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_LOST_STORES_H_
