// SPDX-License-Identifier: Apache-2.0
//
// How long submissions like the one in question took before. Part of findings.h.
#ifndef CAIRN_READER_ANALYSIS_USUAL_DURATION_H_
#define CAIRN_READER_ANALYSIS_USUAL_DURATION_H_

#include <cstdint>

#include "reader/analysis/culprit.h"

namespace cairn {

// A submission takes from the moment at which it was made, or at which the one before it on its queue was seen to
// have ended, to the moment at which the CPU saw its own end: it takes no longer. Submissions of one queue are alike
// if their commands have the same pipelines.
struct UsualDuration {
  uint32_t execution =
      kNone;  // of the first suspect, into Analysis::executions; kNone: nothing is known
  uint64_t unfinished_ns = 0;  // its submission, up to the incident
  uint32_t count = 0;          // earlier submissions like it whose ends were seen, at least 1
  uint64_t median_ns = 0;      // of these
  uint64_t longest_ns = 0;     // of these
};

// Returns nothing (execution is kNone) unless the submission of the first suspect has not ended, its commands have
// pipelines, and the end of one like it was seen. Pure; O(n log n) in the submissions.
UsualDuration FindUsualDuration(const Snapshot& snapshot, const Analysis& analysis,
                                const CulpritFinding& finding);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_USUAL_DURATION_H_
