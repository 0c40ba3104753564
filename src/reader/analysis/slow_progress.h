// SPDX-License-Identifier: Apache-2.0
//
// Recognises a GPU that was working through much work when the program ended: then it was slow, and
// no work is the culprit. Part of culprit.h.
#ifndef CAIRN_READER_ANALYSIS_SLOW_PROGRESS_H_
#define CAIRN_READER_ANALYSIS_SLOW_PROGRESS_H_

#include "reader/analysis/culprit.h"

namespace cairn {

// Counts what was submitted to the queue of the first suspect together with its unfinished work,
// and how much of it was done by the end. Returns nothing (SlowProgress::verdict is kNone) unless
// `finding` is kNothingWrong, or the program exited, was killed or aborted, and
// - the watcher looked at that queue (Queue::still_since_ns), and the times of submissions and of
//   the end are known;
// - by then half a second had gone by, and four works had been done;
// - the queue had moved not long before, as measured by how long each work took.
// `finding` has its kind and suspects. Pure, linear in the executions and the scopes of that queue.
SlowProgress FindSlowProgress(const Snapshot& snapshot, const Analysis& analysis,
                              const CulpritFinding& finding);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_SLOW_PROGRESS_H_
