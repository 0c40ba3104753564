// SPDX-License-Identifier: Apache-2.0
//
// Raw markers of a device that failed, where stores at the top of the pipe may have been lost with it.
// docs/raw-markers.md, "When a store is lost".
#ifndef CAIRN_READER_ANALYSIS_LOST_STORES_H_
#define CAIRN_READER_ANALYSIS_LOST_STORES_H_

#include <vector>

#include "reader/analysis/raw_marker_verdicts.h"

namespace cairn {

// Where a device was lost, faulted or hung, and neither its words nor its raw markers leave any work that can be
// the culprit: of each of its queues, the first work that is not proven to have finished becomes
// likely, and what is behind it possible. `verdicts` are those of `snapshot`, which `analysis` is of. Time O(n) of the
// works.
void AllowForLostStores(const Snapshot& snapshot, const Analysis& analysis,
                        std::vector<RawMarkerVerdict>* verdicts);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_LOST_STORES_H_
