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

// By recording: submitted, not known to the application as finished, and its words do not say that it has.
std::vector<bool> FindUnfinished(const Snapshot& snapshot);

// By pipeline: used by what has not passed of a submitted recording, also by what that executes.
std::vector<bool> PipelinesInUse(const Snapshot& snapshot);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_UNFINISHED_H_
