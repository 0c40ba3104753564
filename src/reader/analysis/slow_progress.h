// SPDX-License-Identifier: Apache-2.0
//
// Whether the GPU was working through much work when the program ended: then it is slow, and nothing is to blame. Part
// of culprit.h.
#ifndef CAIRN_READER_ANALYSIS_SLOW_PROGRESS_H_
#define CAIRN_READER_ANALYSIS_SLOW_PROGRESS_H_

#include "reader/analysis/culprit.h"

namespace cairn {

// Of the queue of the first suspect: what was submitted with its unfinished work, and how much of it had been done by
// the end. Nothing (SlowProgress::verdict is kNone) but after an exit, a kill or an abort, and unless
// - the watcher looked at that queue (Queue::still_since_ns), and the times of submissions and of the end are known;
// - by then half a second had gone by, and four works had been done;
// - the queue had moved not long before, as measured by how long each work took.
// `finding` has its kind and suspects. Pure, linear in the executions and the scopes of that queue.
SlowProgress FindSlowProgress(const Snapshot& snapshot, const Analysis& analysis,
                              const CulpritFinding& finding);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_SLOW_PROGRESS_H_
