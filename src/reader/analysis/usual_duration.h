// SPDX-License-Identifier: Apache-2.0
//
// How long submissions like the one in question took before, and those with the same label. Part of findings.h.
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

// The same by label: work within a label takes no longer than its submission. Paths of labels are alike if they differ in
// digits only ("Frame 41").
struct LabelDuration {
  // The innermost label around the first suspect that was seen before, into Analysis::scopes; kNone: nothing is known.
  uint32_t scope = kNone;
  uint64_t running_ns =
      0;               // the suspect has run for at least so long, up to the incident; 0: not known
  uint32_t count = 0;  // earlier submissions with such a label whose ends were seen, at least 1
  uint64_t median_ns = 0;   // of these
  uint64_t longest_ns = 0;  // of these
};

// Returns nothing (scope is kNone) unless the submission of the first suspect has not ended, a label with a name stands
// around the suspect, and the report holds an earlier list of its queue with such a label whose end was seen. Pure; O(n log
// n) in the submissions, linear in the scopes.
LabelDuration FindLabelDuration(const Snapshot& snapshot, const Analysis& analysis,
                                const CulpritFinding& finding);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_USUAL_DURATION_H_
