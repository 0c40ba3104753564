// SPDX-License-Identifier: Apache-2.0
//
// Finds the work that each queue executes at this moment: `cairn top`. Pure, like everything here.
#ifndef CAIRN_READER_ANALYSIS_AT_WORK_H_
#define CAIRN_READER_ANALYSIS_AT_WORK_H_

#include <cstdint>
#include <vector>

#include "format/snapshot/snapshot.h"
#include "reader/analysis/analysis.h"

namespace cairn {

// A command list (a command buffer) that is in flight.
struct LiveExecution {
  uint32_t execution = kNone;  // into Analysis::executions
  uint64_t submission = 0;     // number on its queue; 0 if not told
  // The GPU's position: the innermost scope around the event that it reached last, into
  // Analysis::scopes; if that has finished, the first one that has not; kNone outside of all
  // scopes. ScopePath returns the path to it, AppendScopePath of reader/report/describe.h the path
  // as text.
  uint32_t scope = kNone;
  // Innermost scopes in flight: with more than one the GPU may be in any of them, `scope` being the
  // last one that it reached.
  uint32_t candidate_count = 0;
  // Sequence numbers of events: what was reached, what has finished, how many there are.
  uint32_t reached = 0;
  uint32_t passed = 0;
  uint32_t event_count = 0;
};

struct LiveQueue {
  uint32_t queue = kNone;  // into Snapshot::queues; kNone: lists registered without a queue
  uint32_t device = kNone;
  uint64_t submitted = 0;  // submissions made
  uint64_t finished = 0;   // of these, from the first one on
  uint64_t pending = 0;    // submitted - finished
  // For some list that is neither known to have finished nor known not to have started the marker mode is
  // off, or the end cannot be seen (EndIsUnseen).
  bool unknown = false;
  // In submission order; only the first kMostLiveExecutions.
  std::vector<LiveExecution> running;
  uint64_t running_count = 0;      // all of them
  uint64_t not_started_count = 0;  // executions known to wait behind them, as far as they are told
};
inline constexpr size_t kMostLiveExecutions = 16;

struct LiveView {
  // The queues in the order of Snapshot::queues, without those of destroyed devices; then, for each
  // device with lists in flight that have no queue, an entry for these.
  std::vector<LiveQueue> queues;
};

// `analysis` is that of `snapshot`. Linear in executions and in the scopes of those that run. Any
// snapshot whose indices are in range is safe.
LiveView MakeLiveView(const Snapshot& snapshot, const Analysis& analysis);

// The scopes from the outermost one to `scope`, which is an index into Analysis::scopes; empty for kNone.
std::vector<uint32_t> ScopePath(const Analysis& analysis, uint32_t scope);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_AT_WORK_H_
