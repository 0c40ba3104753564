// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/verdict.h"

#include <algorithm>
#include <utility>

#include "format/block/marker_kinds.h"

namespace cairn {
namespace {

class QueueJudge {
 public:
  QueueJudge(const Snapshot& snapshot, std::span<const Progress> progress,
             std::span<const uint32_t> queue_order, std::vector<bool>& listed,
             const Analysis& analysis)
      : snapshot_(snapshot),
        progress_(progress),
        order_(queue_order),
        listed_(listed),
        analysis_(analysis) {}

  QueueVerdict Run() {
    const Execution& first = analysis_.executions[order_[0]];
    verdict_.device = RecordingOf(first).device;
    verdict_.queue = RecordingOf(first).queue;
    if (first.submission != kNone && snapshot_.submissions[first.submission].queue != kNone) {
      verdict_.queue = snapshot_.submissions[first.submission].queue;
    }
    reason_.execution_count = static_cast<uint32_t>(order_.size());
    for (const uint32_t index : order_) Collect(index);
    verdict_.exact = IsExact();
    if (verdict_.exact) LeaveOutWhatWaits();
    verdict_.ends_unseen =
        reason_.unseen_end_count != 0 && reason_.unseen_end_count == reason_.in_flight_count;
    verdict_.unknown = reason_.unknown_count != 0 || MayHaveBegunSince();
    reason_.words_are_old = WordsAreOld();
    reason_.unwritten_count = static_cast<uint32_t>(
        std::count_if(verdict_.candidates.begin(), verdict_.candidates.end(),
                      [this](uint32_t i) { return (BeginEvent(i).flags & kEventWritesTop) == 0; }));
    if (reason_.first_in_flight != kNone) ExplainProgress();
    return std::move(verdict_);
  }

 private:
  const Recording& RecordingOf(const Execution& execution) const {
    return snapshot_.recordings[execution.recording];
  }
  const Event& BeginEvent(uint32_t scope) const {
    return snapshot_.events[analysis_.scopes[scope].event];
  }

  void Collect(uint32_t index) {
    const Execution& execution = analysis_.executions[index];
    if (execution.state == WorkState::kCompleted) ++reason_.completed_count;
    if (execution.state == WorkState::kUnknown) ++reason_.unknown_count;
    if (execution.state != WorkState::kInFlight) return;
    if (reason_.first_in_flight == kNone) reason_.first_in_flight = index;
    ++reason_.in_flight_count;
    if (EndIsUnseen(snapshot_, RecordingOf(execution))) ++reason_.unseen_end_count;
    const size_t before = verdict_.candidates.size();
    const bool is_new = execution.scope_count != 0 && !listed_[execution.first_scope];
    if (is_new) {
      listed_[execution.first_scope] = true;
      CollectScopes(execution);
    }
    if (verdict_.candidates.size() == before) {
      verdict_.list_candidates.push_back(index);
    } else {
      verdict_.candidate_executions.resize(verdict_.candidates.size(), index);
    }
  }

  // Returns true for scopes inside which all has finished, or nothing has started. Inside a draw or dispatch that
  // finished because all before a barrier has, work of another kind may run.
  static bool NothingInsideRuns(const Scope& scope) {
    return scope.state == WorkState::kNotStarted ||
           (scope.state == WorkState::kCompleted && !IsDraw(scope.type) && !IsDispatch(scope.type));
  }

  // Innermost scopes in flight. Between a scope in flight and its first child in flight there are no
  // others, so that the parent is the last one listed and gives its place to the child.
  void CollectScopes(const Execution& execution) {
    std::vector<uint32_t>& candidates = verdict_.candidates;
    const size_t before = candidates.size();
    for (uint32_t i = execution.first_scope; i < execution.first_scope + execution.scope_count;
         ++i) {
      const Scope& scope = analysis_.scopes[i];
      if (scope.state != WorkState::kInFlight) {
        if (NothingInsideRuns(scope)) i += scope.subtree_size - 1;
        continue;
      }
      if (candidates.size() > before && candidates.back() == scope.parent) candidates.pop_back();
      candidates.push_back(i);
    }
  }

  // Returns true if a later candidate of the same list only waits for the first one: a barrier, or
  // the end of a render pass behind a draw, whose attachments it resolves. All scopes in flight
  // around it must be around the first one as well: otherwise work without markers may run there.
  bool WaitsForFirst(uint32_t candidate) const {
    const uint32_t type = BeginEvent(candidate).type;
    const bool behind_draw = IsDraw(BeginEvent(verdict_.candidates[0]).type);
    if (!IsBarrier(type) && !(behind_draw && EndsRenderPass(type))) return false;
    const uint32_t parent = analysis_.scopes[candidate].parent;
    uint32_t around = verdict_.candidates[0];
    do around = analysis_.scopes[around].parent;
    while (around != parent && around != kNone);
    return around == parent;
  }

  // One candidate, reached, which would have written its end had it finished; and everything else on
  // the queue has finished, was not started, or waits for it.
  bool IsExact() const {
    const std::vector<uint32_t>& candidates = verdict_.candidates;
    if (candidates.empty() || reason_.in_flight_count != 1 || WordsAreOld()) return false;
    if (candidates.size() > 1 && IsBarrier(BeginEvent(candidates[0]).type)) return false;
    if (!std::all_of(candidates.begin() + 1, candidates.end(),
                     [this](uint32_t candidate) { return WaitsForFirst(candidate); })) {
      return false;
    }
    const Progress& progress = progress_[reason_.first_in_flight];
    if (!progress.words_are_its || !progress.words_make_sense) return false;
    const Recording& recording = RecordingOf(analysis_.executions[reason_.first_in_flight]);
    const Scope& scope = analysis_.scopes[verdict_.candidates[0]];
    if (scope.left_open || (BeginEvent(verdict_.candidates[0]).flags & kEventWritesTop) == 0) {
      return false;
    }
    const Event& end = snapshot_.events[recording.first_event + scope.end_sequence - 1];
    const uint32_t begin_sequence = scope.event - recording.first_event + 1;
    return (end.flags & kEventWritesBottom) != 0 && recording.reached >= begin_sequence;
  }

  void LeaveOutWhatWaits() {
    reason_.waiting_count = static_cast<uint32_t>(verdict_.candidates.size() - 1);
    if (reason_.waiting_count != 0) reason_.first_waiting = verdict_.candidates[1];
    verdict_.candidates.resize(1);
    verdict_.candidate_executions.resize(1);
  }

  // Returns true if the words are copies that were not updated when the process died.
  bool WordsAreOld() const {
    return verdict_.device != kNone &&
           snapshot_.devices[verdict_.device].memory == WordMemory::kMirrored &&
           std::any_of(snapshot_.incidents.begin(), snapshot_.incidents.end(),
                       [](const Incident& incident) {
                         return incident.kind == IncidentKind::kSignal && incident.detail.empty();
                       });
  }

  // Returns true if the words show no work in flight, but they are old, and the GPU had further
  // work.
  bool MayHaveBegunSince() const {
    return reason_.in_flight_count == 0 && WordsAreOld() &&
           std::any_of(order_.begin(), order_.end(), [this](uint32_t index) {
             const Execution& execution = analysis_.executions[index];
             return execution.state == WorkState::kNotStarted && execution.submission != kNone;
           });
  }

  // The words of the first execution in flight, and what barriers prove beyond them.
  void ExplainProgress() {
    const Progress& progress = progress_[reason_.first_in_flight];
    const Recording& recording = RecordingOf(analysis_.executions[reason_.first_in_flight]);
    reason_.words = !progress.words_make_sense ? ListWords::kImpossible
                    : !progress.told_apart     ? ListWords::kOfSeveral
                    : !progress.words_are_its  ? ListWords::kOfOthers
                                               : ListWords::kItsOwn;
    const Evidence& evidence = progress.evidence;
    const auto beyond = [](uint32_t event, uint32_t known) { return event > known ? event : 0; };
    const uint32_t all = std::max(evidence.passed, recording.passed);
    reason_.drained_work = beyond(evidence.passed, recording.passed);
    reason_.drained_dispatches = beyond(evidence.passed_dispatches, all);
    reason_.drained_draws = beyond(evidence.passed_draws, all);
  }

  const Snapshot& snapshot_;
  std::span<const Progress> progress_;
  std::span<const uint32_t> order_;
  std::vector<bool>& listed_;
  const Analysis& analysis_;
  QueueVerdict verdict_;
  QueueReason& reason_ = verdict_.reason;
};

}  // namespace

QueueVerdict JudgeQueue(const Snapshot& snapshot, std::span<const Progress> progress,
                        std::span<const uint32_t> queue_order, std::vector<bool>& listed,
                        const Analysis& analysis) {
  return QueueJudge(snapshot, progress, queue_order, listed, analysis).Run();
}

}  // namespace cairn
