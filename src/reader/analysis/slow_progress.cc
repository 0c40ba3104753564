// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/slow_progress.h"

#include <algorithm>

#include "cairn/marker_types.h"

#include "base/signal_name.h"
#include "reader/analysis/monotonic_time.h"
#include "reader/analysis/queue_weight.h"
#include "reader/analysis/work_class.h"

namespace cairn {
namespace {

constexpr uint64_t kLeastDurationNs = 500'000'000;
constexpr uint64_t kLeastDone = 4;
// The watcher looks every 0.1 s at most, and may be late on a busy machine.
constexpr uint64_t kLooksNs = 300'000'000;
constexpr uint64_t kWorksUntilStill = 3;

// Returns true if the user, or the program itself, may have ended it because the GPU took so long.
// An abort is the only fault of the CPU that counts: others may be those of GPU work that runs
// there.
bool MayHaveGivenUp(const Snapshot& snapshot, const CulpritFinding& finding) {
  switch (finding.kind) {
    case FindingKind::kNothingWrong:
    case FindingKind::kExited:
    case FindingKind::kKilled: return true;
    case FindingKind::kCpuFault: return snapshot.incidents[finding.incident].value == kSignalAbort;
    default: return false;
  }
}

// Adds the works of one execution.
void Count(const Snapshot& snapshot, const Analysis& analysis, const Execution& execution,
           SlowProgress* progress) {
  const Recording& recording = snapshot.recordings[execution.recording];
  const uint32_t last = std::max(recording.reached, recording.passed);
  for (uint32_t i = 0; i < execution.scope_count; ++i) {
    const Scope& scope = analysis.scopes[execution.first_scope + i];
    const Event& begin = snapshot.events[scope.event];
    if (begin.type == CAIRN_MARKER_PASS || ClassOfScope(snapshot, scope) == WorkClass::kNoWork)
      continue;
    ++progress->work_count;
    const bool begun = scope.state == WorkState::kInFlight && progress->counts_begun &&
                       scope.event - recording.first_event + 1 <= last;
    if (scope.state == WorkState::kCompleted || begun) ++progress->done_count;
  }
}

}  // namespace

SlowProgress FindSlowProgress(const Snapshot& snapshot, const Analysis& analysis,
                              const CulpritFinding& finding) {
  if (!MayHaveGivenUp(snapshot, finding) || finding.suspects.empty()) return {};
  const uint32_t verdict = finding.suspects.front().verdict;
  const QueueVerdict& of_queue = analysis.verdicts[verdict];
  const uint32_t first = FirstUnfinished(analysis, of_queue);
  const uint64_t end_ns = MonotonicOf(snapshot.process, snapshot.process.snapshot_time_ns);
  if (of_queue.queue == kNone || of_queue.device == kNone || first == kNone) return {};
  const uint64_t still_since_ns = snapshot.queues[of_queue.queue].still_since_ns;
  const uint64_t begin_ns = snapshot.submissions[first].time_ns;
  if (still_since_ns == 0 || begin_ns == 0 || still_since_ns < begin_ns ||
      end_ns < still_since_ns) {
    return {};
  }
  SlowProgress progress;
  progress.duration_ns = end_ns - begin_ns;
  progress.counts_begun = !WritesAllEnds(snapshot.devices[of_queue.device].mode);
  // Together with it: a little before, and all that came later.
  const uint64_t from_ns = begin_ns - std::min(begin_ns, progress.duration_ns / 10);
  for (const Execution& execution : analysis.executions) {
    if (execution.submission == kNone ||
        snapshot.submissions[execution.submission].time_ns < from_ns)
      continue;
    if (VerdictOfExecution(snapshot, analysis, execution) != verdict) continue;
    Count(snapshot, analysis, execution, &progress);
  }
  if (progress.done_count < kLeastDone || progress.duration_ns < kLeastDurationNs) return {};
  const uint64_t each_ns = progress.duration_ns / progress.done_count;
  const uint64_t still_ns = end_ns - still_since_ns;
  if (still_ns > std::max(kLooksNs, kWorksUntilStill * each_ns) ||
      still_ns > progress.duration_ns / 2) {
    return {};
  }
  progress.verdict = verdict;
  return progress;
}

}  // namespace cairn
