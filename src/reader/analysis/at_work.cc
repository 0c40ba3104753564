// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/at_work.h"

#include <algorithm>
#include <tuple>

#include "reader/analysis/progress.h"
#include "reader/analysis/waits.h"

namespace cairn {
namespace {

LiveExecution MakeLiveExecution(const Snapshot& snapshot, const Analysis& analysis,
                                uint32_t index) {
  const Execution& execution = analysis.executions[index];
  const Recording& recording = snapshot.recordings[execution.recording];
  LiveExecution live;
  live.execution = index;
  if (execution.submission != kNone) {
    live.submission = snapshot.submissions[execution.submission].number;
  }
  live.reached = std::max(recording.reached, recording.passed);
  live.passed = recording.passed;
  live.event_count = recording.event_count;
  // Parents come before children, so that of the scopes around an event the innermost comes last.
  uint32_t around = kNone;
  uint32_t first_innermost = kNone;
  uint32_t candidate = kNone;  // the one before, which is innermost unless its child follows
  for (uint32_t i = execution.first_scope; i < execution.first_scope + execution.scope_count; ++i) {
    const Scope& scope = analysis.scopes[i];
    if (scope.state != WorkState::kInFlight) continue;
    if (candidate != scope.parent || candidate == kNone) ++live.candidate_count;
    if (first_innermost == kNone || first_innermost == scope.parent) first_innermost = i;
    candidate = i;
    const uint32_t begin = scope.event - recording.first_event + 1;
    if (begin <= live.reached && live.reached <= scope.end_sequence) around = i;
  }
  live.scope = around == kNone ? first_innermost : around;
  return live;
}

bool IsDestroyed(const Snapshot& snapshot, uint32_t device) {
  return device != kNone && snapshot.devices[device].destroyed;
}

}  // namespace

LiveView MakeLiveView(const Snapshot& snapshot, const Analysis& analysis) {
  LiveView view;
  const std::vector<SubmissionProgress> progress = FindWaits(snapshot, analysis).progress;
  std::vector<uint32_t> of_queue(snapshot.queues.size(), kNone);
  for (uint32_t i = 0; i < snapshot.queues.size(); ++i) {
    const Queue& queue = snapshot.queues[i];
    if (queue.device == kNone || IsDestroyed(snapshot, queue.device)) continue;
    of_queue[i] = static_cast<uint32_t>(view.queues.size());
    LiveQueue& live = view.queues.emplace_back();
    live.queue = i;
    live.device = queue.device;
    live.submitted = progress[i].submitted;
    live.finished = progress[i].finished;
    live.pending = live.submitted - live.finished;
  }
  std::vector<uint32_t> without_queue(snapshot.devices.size(), kNone);
  std::vector<uint32_t> order(analysis.executions.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&analysis](uint32_t a, uint32_t b) {
    return std::tuple(analysis.executions[a].submission, a) <
           std::tuple(analysis.executions[b].submission, b);
  });
  for (const uint32_t index : order) {
    const Execution& execution = analysis.executions[index];
    if (execution.state == WorkState::kCompleted) continue;
    const bool in_flight = execution.state == WorkState::kInFlight;
    const uint32_t queue = QueueOfExecution(snapshot, execution);
    const uint32_t device = snapshot.recordings[execution.recording].device;
    uint32_t place = kNone;
    if (queue != kNone) {
      place = of_queue[queue];
    } else if (in_flight && device != kNone && !IsDestroyed(snapshot, device)) {
      if (without_queue[device] == kNone) {
        without_queue[device] = static_cast<uint32_t>(view.queues.size());
        view.queues.emplace_back().device = device;
      }
      place = without_queue[device];
    }
    if (place == kNone) continue;
    LiveQueue& live = view.queues[place];
    if (execution.state == WorkState::kUnknown) live.unknown = true;
    if (execution.state == WorkState::kNotStarted && execution.submission != kNone) {
      ++live.not_started_count;
    }
    if (in_flight && EndIsUnseen(snapshot, snapshot.recordings[execution.recording])) {
      live.unknown = true;
      continue;
    }
    if (!in_flight || live.running_count++ >= kMostLiveExecutions) continue;
    live.running.push_back(MakeLiveExecution(snapshot, analysis, index));
  }
  return view;
}

std::vector<uint32_t> ScopePath(const Analysis& analysis, uint32_t scope) {
  std::vector<uint32_t> path;
  for (uint32_t at = scope; at != kNone; at = analysis.scopes[at].parent) path.push_back(at);
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace cairn
