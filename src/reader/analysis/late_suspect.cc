// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/late_suspect.h"

#include <algorithm>
#include <vector>

#include "cairn/marker_types.h"

#include "format/block/marker_kinds.h"
#include "reader/analysis/monotonic_time.h"
#include "reader/analysis/work_class.h"

namespace cairn {
namespace {

// Commands in which nothing can touch memory that is not there.
bool CannotFault(uint16_t type) {
  switch (type) {
    case CAIRN_MARKER_SET_MARKER:
    case CAIRN_MARKER_INSERT_DEBUG_UTILS_LABEL:
    case CAIRN_MARKER_BARRIER:
    case CAIRN_MARKER_RESOURCE_BARRIER:
    case CAIRN_MARKER_PIPELINE_BARRIER:
    case CAIRN_MARKER_SET_EVENT:
    case CAIRN_MARKER_RESET_EVENT:
    case CAIRN_MARKER_WAIT_EVENTS: return true;
    default: return false;
  }
}

class LateSuspectFinder {
 public:
  LateSuspectFinder(const Snapshot& snapshot, std::span<const uint32_t> queue_order,
                    Analysis* analysis)
      : snapshot_(snapshot), order_(queue_order), analysis_(*analysis) {}

  void Run() {
    const std::vector<bool> faulted = Faulted();
    const std::vector<bool> at_rest = FindDevicesAtRest(snapshot_, analysis_);
    std::vector<QueueVerdict*> named(snapshot_.devices.size());
    std::vector<bool> several(snapshot_.devices.size());
    for (QueueVerdict& verdict : analysis_.verdicts) {
      if (verdict.device == kNone || !at_rest[verdict.device]) continue;
      const bool by_fault = faulted[verdict.device];
      if (!by_fault && !StoppedInABarrier(verdict)) continue;
      FindSuspect(by_fault, &verdict);
      if (!by_fault || verdict.late_suspect == kNone) continue;
      several[verdict.device] = several[verdict.device] || named[verdict.device] != nullptr;
      named[verdict.device] = &verdict;
    }
    // The driver does not say which queue the fault was on.
    for (QueueVerdict& verdict : analysis_.verdicts) {
      if (verdict.device == kNone || !several[verdict.device]) continue;
      verdict.late_suspect = verdict.late_suspect_execution = kNone;
    }
  }

 private:
  // Returns, for each device, if its driver reports a fault at an address.
  std::vector<bool> Faulted() const {
    std::vector<bool> faulted(snapshot_.devices.size());
    for (const Fault& fault : snapshot_.faults) {
      if (fault.device != kNone && fault.result >= 0 && fault.address_count != 0) {
        faulted[fault.device] = true;
      }
    }
    return faulted;
  }

  // Returns true if the queue hangs or was lost in a barrier, which ends once the work before it has: the ends of that
  // work were written. A barrier in flight at another moment shows nothing.
  bool StoppedInABarrier(const QueueVerdict& verdict) const {
    if (verdict.queue == kNone) return false;
    const uint64_t still_since_ns = snapshot_.queues[verdict.queue].still_since_ns;
    const auto hangs = [&](const Incident& incident) {
      return incident.kind == IncidentKind::kHang && incident.queue == verdict.queue &&
             still_since_ns <= MonotonicOf(snapshot_.process, incident.time_ns);
    };
    if (!snapshot_.devices[verdict.device].device_lost &&
        std::none_of(snapshot_.incidents.begin(), snapshot_.incidents.end(), hangs)) {
      return false;
    }
    return std::any_of(verdict.candidates.begin(), verdict.candidates.end(),
                       [this](uint32_t scope) {
                         return IsBarrier(snapshot_.events[analysis_.scopes[scope].event].type);
                       });
  }

  bool BelongsTo(const QueueVerdict& verdict, const Execution& execution) const {
    return snapshot_.recordings[execution.recording].device == verdict.device &&
           QueueOfExecution(snapshot_, execution) == verdict.queue;
  }

  // The last work of the queue of which a word at the bottom of the pipe says that it finished: it runs the
  // application's shaders, or, where no fault is reported, is a build or other work that reads memory by address. In that
  // case a barrier that ended clears the work before it, and so does the end of a submission that was seen.
  void FindSuspect(bool by_fault, QueueVerdict* verdict) const {
    for (size_t i = order_.size(); i-- > 0;) {
      const Execution& execution = analysis_.executions[order_[i]];
      if (!BelongsTo(*verdict, execution)) continue;
      if (!by_fault && WasSeenToEnd(*verdict, execution)) return;
      for (uint32_t scope = execution.first_scope + execution.scope_count;
           scope-- > execution.first_scope;) {
        if (!by_fault && IsBarrierThatEnded(execution, scope)) return;
        if (!IsSuspect(by_fault, order_[i], scope)) continue;
        verdict->late_suspect = scope;
        verdict->late_suspect_execution = order_[i];
        verdict->late_by_barrier = !by_fault;
        return;
      }
    }
  }

  bool WasSeenToEnd(const QueueVerdict& verdict, const Execution& execution) const {
    return execution.submission != kNone &&
           snapshot_.submissions[execution.submission].number <=
               snapshot_.queues[verdict.queue].completed_submission;
  }

  bool IsBarrierThatEnded(const Execution& execution, uint32_t scope_index) const {
    const Scope& scope = analysis_.scopes[scope_index];
    return IsBarrier(snapshot_.events[scope.event].type) && WordProvesTheEnd(execution, scope);
  }

  bool IsSuspect(bool by_fault, uint32_t execution_index, uint32_t scope_index) const {
    const Scope& scope = analysis_.scopes[scope_index];
    const WorkClass work = ClassOfType(snapshot_.events[scope.event].type);
    return !scope.has_children && !scope.left_open &&
           (work == WorkClass::kPipeline || (!by_fault && work == WorkClass::kOther)) &&
           WordProvesTheEnd(analysis_.executions[execution_index], scope);
  }

  // Returns true if a word proves the end. Completion reported by the application, or of later
  // work, does not count.
  bool WordProvesTheEnd(const Execution& execution, const Scope& scope) const {
    const Recording& recording = snapshot_.recordings[execution.recording];
    const uint32_t passed = recording.passed;
    if (passed < scope.end_sequence || passed > recording.event_count) return false;
    const auto writes_bottom = [&](uint32_t sequence) {
      const Event& event = snapshot_.events[recording.first_event + sequence - 1];
      return (event.flags & kEventWritesBottom) != 0;
    };
    // The words are those of the last execution, and of no other that had not finished before.
    const bool are_its = recording.reusable
                             ? execution.run == recording.runs
                             : execution.run >= recording.submit_count &&
                                   recording.submit_count <= recording.finished_runs + 1;
    return are_its && writes_bottom(scope.end_sequence) && writes_bottom(passed);
  }

  const Snapshot& snapshot_;
  std::span<const uint32_t> order_;
  Analysis& analysis_;
};

// Returns true if work that was in flight on the queue may have caused the fault.
bool MayHaveFaulted(const Snapshot& snapshot, const Analysis& analysis,
                    const QueueVerdict& verdict) {
  if (verdict.unknown || !verdict.list_candidates.empty()) return true;
  return !std::all_of(verdict.candidates.begin(), verdict.candidates.end(), [&](uint32_t scope) {
    return CannotFault(snapshot.events[analysis.scopes[scope].event].type);
  });
}

}  // namespace

std::vector<bool> FindDevicesAtRest(const Snapshot& snapshot, const Analysis& analysis) {
  std::vector<bool> at_rest(snapshot.devices.size(), true);
  for (const QueueVerdict& verdict : analysis.verdicts) {
    if (verdict.device != kNone && MayHaveFaulted(snapshot, analysis, verdict)) {
      at_rest[verdict.device] = false;
    }
  }
  return at_rest;
}

void FindLateSuspects(const Snapshot& snapshot, std::span<const uint32_t> queue_order,
                      Analysis* analysis) {
  LateSuspectFinder(snapshot, queue_order, analysis).Run();
}

}  // namespace cairn
