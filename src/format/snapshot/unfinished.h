// SPDX-License-Identifier: Apache-2.0
//
// Finds recordings that may still run, and the objects that they use: a snapshot keeps the
// expensive data of these only. A first estimate, before the analysis; it errs towards unfinished.
// Pure.
#ifndef CAIRN_FORMAT_SNAPSHOT_UNFINISHED_H_
#define CAIRN_FORMAT_SNAPSHOT_UNFINISHED_H_

#include <vector>

#include "format/snapshot/snapshot.h"

namespace cairn {

// Returns, for each recording, if it was submitted and neither the application nor its words show
// that it has finished.
std::vector<bool> FindUnfinished(const Snapshot& snapshot);

// Returns, for each pipeline, if unfinished parts of a submitted recording use it, or recordings
// that these execute.
std::vector<bool> PipelinesInUse(const Snapshot& snapshot);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_UNFINISHED_H_
