// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/analysis.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "reader/analysis/bindings.h"
#include "reader/analysis/late_suspect.h"
#include "reader/analysis/progress.h"
#include "reader/analysis/scope_tree.h"
#include "reader/analysis/verdict.h"

namespace cairn {
namespace {

class Analyser {
 public:
  explicit Analyser(const Snapshot& snapshot) : snapshot_(snapshot) {}

  Analysis Run() {
    MakeExecutions();
    SortExecutions();
    JudgeExecutions();
    MakeScopes();
    ForEachQueue([this](std::span<const uint32_t> order) {
      analysis_.verdicts.push_back(JudgeQueue(snapshot_, progress_, order, listed_, analysis_));
    });
    FindLateSuspects(snapshot_, queue_order_, &analysis_);
    BindingResolver resolver(snapshot_);
    for (QueueVerdict& verdict : analysis_.verdicts) resolver.Explain(&analysis_, &verdict);
    analysis_.reported_scopes = FindReportedScopes(snapshot_, analysis_.scopes);
    return std::move(analysis_);
  }

 private:
  // Scopes that executions of one recording with the same evidence share.
  struct Tree {
    Evidence evidence;
    uint32_t first_scope = 0;
    uint32_t next = kNone;  // the next tree of the same recording
    bool all_completed = false;
  };

  const Recording& RecordingOf(const Execution& execution) const {
    return snapshot_.recordings[execution.recording];
  }

  void MakeExecutions() {
    const size_t recording_count = snapshot_.recordings.size();
    std::vector<bool> submitted(recording_count);
    for (const Device& device : snapshot_.devices) {
      device_tells_submissions_.push_back(device.tells_submissions);
    }
    analysis_.executions.reserve(recording_count + snapshot_.submissions.size());
    for (uint32_t i = 0; i < snapshot_.submissions.size(); ++i) {
      const Submission& submission = snapshot_.submissions[i];
      if (submission.queue != kNone) NoteSubmissions(snapshot_.queues[submission.queue].device);
      if (submission.recording == kNone) continue;
      submitted[submission.recording] = true;
      NoteSubmissions(snapshot_.recordings[submission.recording].device);
      Execution execution;
      execution.recording = submission.recording;
      execution.submission = i;
      execution.frame = submission.frame;
      execution.run = submission.run;
      analysis_.executions.push_back(execution);
    }
    for (uint32_t i = 0; i < recording_count; ++i) {
      if (submitted[i]) continue;
      const Recording& recording = snapshot_.recordings[i];
      Execution execution;
      execution.recording = i;
      execution.frame = recording.frame;
      execution.run = std::max(1u, recording.reusable ? recording.runs : recording.submit_count);
      analysis_.executions.push_back(execution);
    }
  }

  void NoteSubmissions(uint32_t device) {
    if (device != kNone) device_tells_submissions_[device] = true;
  }

  bool TellsSubmissions(uint32_t device) const {
    return device != kNone && device_tells_submissions_[device];
  }

  // Report order for `executions`, queue order for `queue_order_`. kNone sorts last: executions whose
  // submission is not known come behind those that are.
  void SortExecutions() {
    std::sort(analysis_.executions.begin(), analysis_.executions.end(),
              [this](const Execution& a, const Execution& b) {
                const Recording& of_a = RecordingOf(a);
                const Recording& of_b = RecordingOf(b);
                return std::tuple(of_a.device, a.frame, QueueOfExecution(snapshot_, a),
                                  a.submission, a.recording) <
                       std::tuple(of_b.device, b.frame, QueueOfExecution(snapshot_, b),
                                  b.submission, b.recording);
              });
    queue_order_.resize(analysis_.executions.size());
    for (uint32_t i = 0; i < queue_order_.size(); ++i) queue_order_[i] = i;
    std::sort(queue_order_.begin(), queue_order_.end(), [this](uint32_t a, uint32_t b) {
      return std::tuple(QueueKey(a), analysis_.executions[a].submission, a) <
             std::tuple(QueueKey(b), analysis_.executions[b].submission, b);
    });
  }

  std::pair<uint32_t, uint32_t> QueueKey(uint32_t execution_index) const {
    const Execution& execution = analysis_.executions[execution_index];
    return {RecordingOf(execution).device, QueueOfExecution(snapshot_, execution)};
  }

  // Calls `visit` with the executions of each queue, in queue order.
  template <typename Visitor>
  void ForEachQueue(Visitor visit) {
    const std::span<const uint32_t> order = queue_order_;
    for (size_t begin = 0; begin < order.size();) {
      size_t end = begin + 1;
      while (end < order.size() && QueueKey(order[end]) == QueueKey(order[begin])) ++end;
      visit(order.subspan(begin, end - begin));
      begin = end;
    }
  }

  void JudgeExecutions() {
    progress_.reserve(analysis_.executions.size());
    LastDrains last_drains(snapshot_);
    for (const Execution& execution : analysis_.executions) {
      progress_.push_back(
          JudgeExecution(snapshot_, execution, TellsSubmissions(RecordingOf(execution).device)));
    }
    ForEachQueue([this, &last_drains](std::span<const uint32_t> order) {
      if (QueueKey(order[0]).second == kNone) return;
      const auto unknown = std::partition_point(order.begin(), order.end(), [this](uint32_t i) {
        return analysis_.executions[i].submission != kNone;
      });
      ApplyQueueOrder(order.first(static_cast<size_t>(unknown - order.begin())),
                      analysis_.executions, &last_drains, progress_);
    });
  }

  void MakeScopes() {
    // Most recordings run once and most events come in pairs.
    analysis_.scopes.reserve(snapshot_.events.size() / 2 + 1);
    trees_.reserve(snapshot_.recordings.size());
    tree_of_recording_.assign(snapshot_.recordings.size(), kNone);
    scope_counts_.assign(snapshot_.recordings.size(), 0);
    for (size_t i = 0; i < analysis_.executions.size(); ++i) {
      Execution& execution = analysis_.executions[i];
      const uint32_t tree =
          FindOrMakeTree(progress_[i].evidence, progress_[i].mode_off, &execution);
      execution.state = ExecutionState(execution, progress_[i], trees_[tree].all_completed);
    }
    listed_.assign(analysis_.scopes.size(), false);
  }

  // Index of the tree.
  uint32_t FindOrMakeTree(const Evidence& evidence, bool mode_off, Execution* execution) {
    uint32_t& head = tree_of_recording_[execution->recording];
    const Recording& recording = snapshot_.recordings[execution->recording];
    execution->first_scope = static_cast<uint32_t>(analysis_.scopes.size());
    bool all_completed = false;
    if (head == kNone) {
      const AppendedScopes appended =
          AppendScopes(snapshot_, recording, evidence, &ordinals_, &analysis_);
      execution->scope_count = scope_counts_[execution->recording] = appended.count;
      all_completed = appended.all_completed;
    } else {
      execution->scope_count = scope_counts_[execution->recording];
      for (uint32_t i = head; i != kNone; i = trees_[i].next) {
        if (trees_[i].evidence != evidence) continue;
        execution->first_scope = trees_[i].first_scope;
        return i;
      }
      AppendCopy(trees_[head].first_scope, execution->scope_count, &analysis_.scopes);
      all_completed = SetScopeStates(recording, execution->first_scope, execution->scope_count,
                                     evidence, &analysis_.scopes);
    }
    // Without any write nothing is proven in this mode, for any execution of the list.
    if (mode_off && evidence == kNothingProven) {
      for (uint32_t i = 0; i < execution->scope_count; ++i) {
        analysis_.scopes[execution->first_scope + i].state = WorkState::kUnknown;
      }
      all_completed = execution->scope_count == 0;
    }
    trees_.push_back({evidence, execution->first_scope, head, all_completed});
    head = static_cast<uint32_t>(trees_.size() - 1);
    return head;
  }

  // Returns true if only binds precede this event. They are no work: an execution that has not
  // reached the event has not begun.
  bool BeginsWithBinds(const Recording& recording, uint32_t sequence) const {
    if (sequence <= 1) return true;
    if (sequence > recording.event_count) return false;
    const auto first = snapshot_.events.begin() + recording.first_event;
    return std::all_of(first, first + sequence - 1,
                       [](const Event& event) { return event.kind == EventKind::kBind; });
  }

  WorkState ExecutionState(const Execution& execution, const Progress& progress,
                           bool all_completed) const {
    const Recording& recording = RecordingOf(execution);
    const Evidence& evidence = progress.evidence;
    if (evidence == kProvenCompleted) return WorkState::kCompleted;
    if (progress.mode_off) return WorkState::kUnknown;
    if (!progress.began && BeginsWithBinds(recording, evidence.unreached)) {
      return WorkState::kNotStarted;
    }
    if (recording.event_count == 0 || evidence.passed < recording.event_count) {
      return WorkState::kInFlight;
    }
    return all_completed ? WorkState::kCompleted : WorkState::kInFlight;
  }

  const Snapshot& snapshot_;
  Analysis analysis_;
  std::vector<bool> device_tells_submissions_;
  std::vector<uint32_t> queue_order_;  // into executions: by queue, then as submitted
  std::vector<Progress> progress_;     // of each execution
  OrdinalCounter ordinals_;
  std::vector<Tree> trees_;
  std::vector<uint32_t> tree_of_recording_;  // into trees_
  std::vector<uint32_t> scope_counts_;       // of each recording
  std::vector<bool> listed_;                 // of each scope: it is a candidate in some verdict
};

}  // namespace

Analysis Analyse(const Snapshot& snapshot) {
  return Analyser(snapshot).Run();
}

uint32_t QueueOfExecution(const Snapshot& snapshot, const Execution& execution) {
  if (execution.submission != kNone) {
    const uint32_t queue = snapshot.submissions[execution.submission].queue;
    if (queue != kNone) return queue;
  }
  return snapshot.recordings[execution.recording].queue;
}

uint32_t VerdictOfExecution(const Snapshot& snapshot, const Analysis& analysis,
                            const Execution& execution) {
  const std::pair wanted(snapshot.recordings[execution.recording].device,
                         QueueOfExecution(snapshot, execution));
  const auto found = std::lower_bound(analysis.verdicts.begin(), analysis.verdicts.end(), wanted,
                                      [](const QueueVerdict& verdict, const auto& key) {
                                        return std::pair(verdict.device, verdict.queue) < key;
                                      });
  return static_cast<uint32_t>(found - analysis.verdicts.begin());
}

}  // namespace cairn
