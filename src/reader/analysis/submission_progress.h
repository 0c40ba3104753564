// SPDX-License-Identifier: Apache-2.0
//
// Finds the progress of each queue in its submissions: the live view and the graph of waits start
// from it.
#ifndef CAIRN_READER_ANALYSIS_SUBMISSION_PROGRESS_H_
#define CAIRN_READER_ANALYSIS_SUBMISSION_PROGRESS_H_

#include <cstdint>
#include <vector>

#include "format/snapshot/snapshot.h"
#include "reader/analysis/analysis.h"

namespace cairn {

// Submission numbers of one queue, from 1.
struct SubmissionProgress {
  uint64_t submitted = 0;  // the last one made
  // This submission and all before it have finished, by report or by words. A later submission
  // without lists is known to have finished only when one behind it has.
  uint64_t finished = 0;
  // The first one of which a list is known and has not finished; 0: none.
  uint64_t first_with_unfinished_list = 0;
  // Words say that the GPU has begun with it. Then what came before it is over.
  bool begun = false;
};

// Returns the progress of each of Snapshot::queues. `analysis` is that of `snapshot`. Linear in the
// submissions.
std::vector<SubmissionProgress> FindSubmissionProgress(const Snapshot& snapshot,
                                                       const Analysis& analysis);

// A submission of Vulkan that had no command lists, and is known by what it waits for or signals.
struct EmptySubmission {
  uint32_t queue = kNone;
  uint64_t number = 0;
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
};
// Returns the empty submissions in submission order, as far back as Snapshot::submissions goes for
// the queue.
std::vector<EmptySubmission> FindEmptySubmissions(const Snapshot& snapshot);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_SUBMISSION_PROGRESS_H_
