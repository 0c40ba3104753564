// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/lost_stores.h"

#include <algorithm>

#include "reader/analysis/failed_devices.h"
#include "reader/analysis/raw_markers.h"
#include "reader/analysis/work_class.h"

namespace cairn {
namespace {

class LostStores {
 public:
  LostStores(const Snapshot& snapshot, const Analysis& analysis,
             std::vector<RawMarkerVerdict>* verdicts)
      : snapshot_(snapshot), analysis_(analysis), verdicts_(*verdicts) {}

  void Run() {
    ReadStates();
    for (RawMarkerVerdict& verdict : verdicts_) {
      if (!Failed(verdict.device)) continue;
      if (std::find(with_candidates_.begin(), with_candidates_.end(), verdict.device) ==
          with_candidates_.end()) {
        Allow(verdict);
      }
    }
  }

 private:
  // Finds the devices that have work left that can be the culprit. Scopes that raw markers exclude
  // do not count.
  void ReadStates() {
    std::vector<bool> excluded(analysis_.scopes.size());
    for (const RawMarkerVerdict& verdict : verdicts_) {
      for (const RawMarkerWork& work : verdict.works) {
        if (work.scope != kNone) excluded[work.scope] = work.state != WorkState::kInFlight;
        if (IsCandidate(verdict, work)) with_candidates_.push_back(verdict.device);
      }
    }
    for (const QueueVerdict& queue : analysis_.verdicts) {
      const auto runs = [&](uint32_t scope) { return !excluded[scope] && RunsSomething(scope); };
      const auto unmarked = [&](uint32_t execution) {
        return analysis_.executions[execution].scope_count == 0 && !IsJudged(queue);
      };
      if (std::any_of(queue.candidates.begin(), queue.candidates.end(), runs) ||
          std::any_of(queue.list_candidates.begin(), queue.list_candidates.end(), unmarked)) {
        with_candidates_.push_back(queue.device);
      }
    }
  }

  bool RunsSomething(uint32_t scope) const {
    return ClassOfScope(snapshot_, analysis_.scopes[scope]) != WorkClass::kNoWork;
  }
  bool IsJudged(const QueueVerdict& queue) const {
    return std::any_of(verdicts_.begin(), verdicts_.end(), [&](const RawMarkerVerdict& verdict) {
      return verdict.queue == queue.queue && verdict.device == queue.device;
    });
  }
  // Returns the state that the work has without raw markers.
  WorkState OtherState(const RawMarkerWork& work) const {
    return work.scope != kNone ? analysis_.scopes[work.scope].state
                               : analysis_.executions[work.execution].state;
  }
  bool IsCandidate(const RawMarkerVerdict& verdict, const RawMarkerWork& work) const {
    const WorkState other = OtherState(work);
    return work.state == WorkState::kInFlight && MayHoldWork(verdict, work) &&
           (other == WorkState::kInFlight || other == WorkState::kUnknown);
  }
  // Returns false for a barrier, and in a list without scopes for the place between a marker that
  // ends something and one that begins something: markers stand around work.
  bool MayHoldWork(const RawMarkerVerdict& verdict, const RawMarkerWork& work) const {
    if (work.scope != kNone) return RunsSomething(work.scope);
    const uint32_t next = work.after_marker;
    const bool behind_end = next == 0 || !verdict.markers[next - 1].top;
    const bool before_begin = next == verdict.markers.size() || verdict.markers[next].top;
    return !behind_end || !before_begin;
  }

  bool Failed(uint32_t device) const {
    const auto concerns = [device](uint32_t other) { return other == kNone || other == device; };
    if (device != kNone && snapshot_.devices[device].device_lost) return true;
    for (const Fault& fault : snapshot_.faults) {
      if (fault.result >= 0 && concerns(fault.device)) return true;
    }
    if (FindKernelFault(snapshot_, device) != kNone) return true;
    return std::any_of(snapshot_.incidents.begin(), snapshot_.incidents.end(),
                       [&](const Incident& incident) {
                         return incident.kind == IncidentKind::kHang &&
                                (incident.queue >= snapshot_.queues.size() ||
                                 concerns(snapshot_.queues[incident.queue].device));
                       });
  }

  void Allow(RawMarkerVerdict& verdict) {
    bool first = true;
    for (RawMarkerWork& work : verdict.works) {
      const WorkState other = OtherState(work);
      const bool by_markers = work.state == WorkState::kNotStarted;
      if (work.state == WorkState::kCompleted || other == WorkState::kCompleted ||
          !MayHoldWork(verdict, work) || (!by_markers && other != WorkState::kNotStarted)) {
        continue;
      }
      work.state = WorkState::kInFlight;
      work.by_lost_store = true;
      work.likely = first;
      // Words that say so are top-of-pipe writes, too.
      work.reason = {first ? RawRule::kFirstUnproven : RawRule::kBehindUnproven,
                     by_markers ? verdict.unreached_marker : 0};
      first = false;
    }
    if (first) return;
    for (RawMarkerWork& work : verdict.works) {
      if (work.by_lost_store || work.state != WorkState::kInFlight || !work.likely) continue;
      work.likely = false;
      work.reason.doubts |= work.scope == kNone ? kDoubtOtherWork : kDoubtRunsNothing;
    }
  }

  const Snapshot& snapshot_;
  const Analysis& analysis_;
  std::vector<RawMarkerVerdict>& verdicts_;
  std::vector<uint32_t> with_candidates_;  // devices
};

}  // namespace

void AllowForLostStores(const Snapshot& snapshot, const Analysis& analysis,
                        std::vector<RawMarkerVerdict>* verdicts) {
  LostStores(snapshot, analysis, verdicts).Run();
}

}  // namespace cairn
