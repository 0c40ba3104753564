// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/raw_marker_verdicts.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "cairn/marker_types.h"

#include "format/block/raw_marker_binds.h"
#include "reader/analysis/bottom_line_limit.h"
#include "reader/analysis/lost_stores.h"

namespace cairn {
namespace {

bool IsRawMarker(const Event& event) {
  return event.kind == EventKind::kBind &&
         (event.type == static_cast<uint16_t>(kBindRawMarkerTop) ||
          event.type == static_cast<uint16_t>(kBindRawMarkerBottom));
}

class QueueOfRawMarkers {
 public:
  QueueOfRawMarkers(const Snapshot& snapshot, const Analysis& analysis)
      : snapshot_(snapshot), analysis_(analysis) {}

  void AddExecution(uint32_t index) {
    const Execution& execution = analysis_.executions[index];
    const Recording& recording = snapshot_.recordings[execution.recording];
    // Without a single scope, whatever lies between the markers is the work.
    const bool gaps = execution.scope_count == 0;
    uint32_t scope = execution.first_scope;
    uint32_t open_leaf = kNone;
    if (gaps) AddWork(index, kNone);
    for (uint32_t sequence = 1; sequence <= recording.event_count; ++sequence) {
      const Event& event = snapshot_.events[recording.first_event + sequence - 1];
      if (open_leaf != kNone && sequence >= analysis_.scopes[open_leaf].end_sequence) {
        open_leaf = kNone;
      }
      if (event.kind == EventKind::kBegin) {
        const bool works =
            !analysis_.scopes[scope].has_children && event.type != CAIRN_MARKER_SET_MARKER;
        if (works) AddWork(index, open_leaf = scope);
        ++scope;
      } else if (IsRawMarker(event)) {
        AddMarker(index, event);
        // The work of a scope with a marker in it may stand on either side of the marker.
        if (gaps || open_leaf != kNone) AddWork(index, gaps ? kNone : open_leaf);
      }
    }
  }

  RawMarkerVerdict Judge() {
    RawMarkerVerdict verdict;
    if (markers_.empty()) return verdict;
    RawSlots slots;
    for (const RawMarker& marker : snapshot_.raw_markers) {
      if (marker.device == device_) slots[marker.index] = marker.value;
    }
    const uint32_t limit = device_ == kNone ? 0 : BottomLineLimit(snapshot_.devices[device_]);
    const RawVerdict judged = InferFromRawMarkers(commands_, slots, limit);
    verdict.consistent = judged.consistent;
    verdict.unreached_marker = judged.unreached_marker;
    verdict.markers = std::move(markers_);
    for (size_t i = 0; i < verdict.markers.size(); ++i) {
      verdict.markers[i].arrival = judged.arrivals[i];
    }
    for (size_t i = 0; i < judged.works.size(); ++i) Merge(works_[i], judged.works[i], &verdict);
    return verdict;
  }

 private:
  void AddWork(uint32_t execution, uint32_t scope) {
    commands_.push_back({});
    RawMarkerWork work;
    work.execution = execution;
    work.scope = scope;
    work.after_marker = static_cast<uint32_t>(markers_.size());
    works_.push_back(std::move(work));
  }

  void AddMarker(uint32_t execution, const Event& event) {
    const Bind& bind = snapshot_.binds[event.detail];
    const bool top = event.type == static_cast<uint16_t>(kBindRawMarkerTop);
    device_ = snapshot_.recordings[analysis_.executions[execution].recording].device;
    commands_.push_back(
        {top ? RawCommandKind::kTopMarker : RawCommandKind::kBottomMarker, bind.slot, bind.value});
    markers_.push_back({execution, top, bind.slot, bind.value, RawArrival::kUnknown});
  }

  // Parts of one work stand next to each other but for markers: it has finished, or not started, only if
  // all of it has.
  void Merge(const RawMarkerWork& part, const RawWorkVerdict& judged,
             RawMarkerVerdict* verdict) const {
    const bool again = part.scope != kNone && !verdict->works.empty() &&
                       verdict->works.back().scope == part.scope &&
                       verdict->works.back().execution == part.execution;
    if (!again) {
      verdict->works.push_back(part);
    } else if (verdict->works.back().state == WorkState::kInFlight) {
      verdict->works.back().likely |= judged.likely;
      return;
    } else if (verdict->works.back().state == judged.state) {
      return;
    }
    RawMarkerWork& work = verdict->works.back();
    // A part has finished and another was not reached: the marker between them may be waiting.
    const bool torn = again && judged.state != WorkState::kInFlight;
    work.state = torn ? WorkState::kInFlight : judged.state;
    work.likely = torn || judged.likely;
    work.reason = torn ? RawReason{RawRule::kAroundMarker} : judged.reason;
  }

  const Snapshot& snapshot_;
  const Analysis& analysis_;
  uint32_t device_ = kNone;
  std::vector<RawCommand> commands_;
  std::vector<RawMarkerCommand> markers_;
  std::vector<RawMarkerWork> works_;  // of each work among the commands
};

// Returns false if submissions are reported (`told`) and this execution has none.
bool MayHaveRun(const Snapshot& snapshot, const Execution& execution, bool told) {
  if (execution.submission != kNone) return true;
  return !told && snapshot.recordings[execution.recording].submit_count == 0;
}

// Judges one queue, whose executions are `order`, in the order of submission. Subtracts the
// commands it used from `max_commands`.
RawMarkerVerdict JudgeQueue(const Snapshot& snapshot, const Analysis& analysis,
                            std::span<const uint32_t> order, uint32_t* max_commands) {
  const auto has_submission = [&](uint32_t i) {
    return analysis.executions[i].submission != kNone;
  };
  const bool told = std::any_of(order.begin(), order.end(), has_submission);
  // The last ones: what is older has most likely finished.
  size_t first = order.size();
  while (first > 0) {
    const Execution& execution = analysis.executions[order[first - 1]];
    // Each event is one command at most, with one part of a work behind it.
    const uint64_t commands =
        2 * uint64_t{snapshot.recordings[execution.recording].event_count} + 1;
    if (commands > *max_commands) break;
    *max_commands -= static_cast<uint32_t>(commands);
    --first;
  }
  QueueOfRawMarkers queue(snapshot, analysis);
  for (const uint32_t i : order.subspan(first)) {
    if (MayHaveRun(snapshot, analysis.executions[i], told)) queue.AddExecution(i);
  }
  RawMarkerVerdict verdict = queue.Judge();
  const Execution& last = analysis.executions[order.back()];
  verdict.queue = QueueOfExecution(snapshot, last);
  verdict.device = snapshot.recordings[last.recording].device;
  verdict.executions_left_out = static_cast<uint32_t>(first);
  return verdict;
}

void CountCandidates(RawMarkerVerdict* verdict) {
  for (const RawMarkerWork& work : verdict->works) {
    if (work.state != WorkState::kInFlight) continue;
    ++verdict->candidate_count;
    verdict->likely_count += work.likely ? 1 : 0;
  }
}

}  // namespace

std::vector<RawMarkerVerdict> JudgeRawMarkers(const Snapshot& snapshot, const Analysis& analysis) {
  std::vector<RawMarkerVerdict> verdicts;
  if (!analysis.has_raw_markers) return verdicts;
  const auto queue_of = [&](uint32_t i) {
    const Execution& execution = analysis.executions[i];
    return std::pair(snapshot.recordings[execution.recording].device,
                     QueueOfExecution(snapshot, execution));
  };
  std::vector<uint32_t> order(analysis.executions.size());
  std::iota(order.begin(), order.end(), 0u);
  // By queue, in the order of submission; kNone sorts last.
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(queue_of(a), analysis.executions[a].submission) <
           std::tuple(queue_of(b), analysis.executions[b].submission);
  });
  uint32_t max_commands = kMaxRawMarkerCommands;
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && queue_of(order[end]) == queue_of(order[begin])) ++end;
    RawMarkerVerdict verdict =
        JudgeQueue(snapshot, analysis, std::span(order).subspan(begin, end - begin), &max_commands);
    if (!verdict.markers.empty()) verdicts.push_back(std::move(verdict));
    begin = end;
  }
  AllowForLostStores(snapshot, analysis, &verdicts);
  for (RawMarkerVerdict& verdict : verdicts) CountCandidates(&verdict);
  return verdicts;
}

}  // namespace cairn
