// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cairn/marker_types.h"

#include "format/block/marker_kinds.h"

namespace cairn {
namespace {

const char* MethodName(WriteMethod method) {
  switch (method) {
    case WriteMethod::kD3D12WriteBufferImmediate: return "WriteBufferImmediate";
    case WriteMethod::kD3D12CopyBufferRegion: return "CopyBufferRegion";
    case WriteMethod::kVulkanBufferMarker: return "VK_AMD_buffer_marker";
    case WriteMethod::kVulkanFillBuffer: return "vkCmdFillBuffer";
    case WriteMethod::kCustom: return "the custom backend";
    case WriteMethod::kDriverBufferMarker: return "VK_AMD_buffer_marker through the Vulkan layer";
    case WriteMethod::kDriverFillBuffer: return "vkCmdFillBuffer through the Vulkan layer";
    case WriteMethod::kD3D11Fence: return "ID3D11Fence";
    case WriteMethod::kD3D11EventQuery: return "D3D11_QUERY_EVENT";
    case WriteMethod::kAmdAgs: return "AMD's amd_ags_x64.dll";
    case WriteMethod::kD3D11Labels: return "labels for the Vulkan layer";
    case WriteMethod::kNone: break;
  }
  return "no method";
}

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
    for (const uint32_t index : order_) Collect(index);
    verdict_.exact = IsExact();
    if (verdict_.exact) LeaveOutWhatWaits();
    verdict_.ends_unseen = unseen_count_ != 0 && unseen_count_ == in_flight_count_;
    verdict_.unknown = unknown_count_ != 0 || MayHaveBegunSince();
    if (unknown_count_ != 0) {
      ExplainModeOff();
    } else if (first_in_flight_ == kNone) {
      ExplainNothingInFlight();
    } else {
      ExplainInFlight();
    }
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
    if (execution.state == WorkState::kCompleted) ++completed_count_;
    if (execution.state == WorkState::kUnknown) ++unknown_count_;
    if (execution.state != WorkState::kInFlight) return;
    if (first_in_flight_ == kNone) first_in_flight_ = index;
    ++in_flight_count_;
    if (EndIsUnseen(snapshot_, RecordingOf(execution))) ++unseen_count_;
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

  // Innermost scopes in flight. Between a scope in flight and its first child in flight there are no
  // others, so that the parent is the last one listed and gives its place to the child.
  void CollectScopes(const Execution& execution) {
    std::vector<uint32_t>& candidates = verdict_.candidates;
    const size_t before = candidates.size();
    for (uint32_t i = execution.first_scope; i < execution.first_scope + execution.scope_count;
         ++i) {
      const Scope& scope = analysis_.scopes[i];
      if (scope.state != WorkState::kInFlight) continue;
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
    if (candidates.empty() || in_flight_count_ != 1 || WordsAreOld()) return false;
    if (candidates.size() > 1 && IsBarrier(BeginEvent(candidates[0]).type)) return false;
    if (!std::all_of(candidates.begin() + 1, candidates.end(),
                     [this](uint32_t candidate) { return WaitsForFirst(candidate); })) {
      return false;
    }
    const Progress& progress = progress_[first_in_flight_];
    if (!progress.words_are_its || !progress.words_make_sense) return false;
    const Recording& recording = RecordingOf(analysis_.executions[first_in_flight_]);
    const Scope& scope = analysis_.scopes[verdict_.candidates[0]];
    if (scope.left_open || (BeginEvent(verdict_.candidates[0]).flags & kEventWritesTop) == 0) {
      return false;
    }
    const Event& end = snapshot_.events[recording.first_event + scope.end_sequence - 1];
    const uint32_t begin_sequence = scope.event - recording.first_event + 1;
    return (end.flags & kEventWritesBottom) != 0 && recording.reached >= begin_sequence;
  }

  void LeaveOutWhatWaits() {
    waiting_count_ = verdict_.candidates.size() - 1;
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
    return in_flight_count_ == 0 && WordsAreOld() &&
           std::any_of(order_.begin(), order_.end(), [this](uint32_t index) {
             const Execution& execution = analysis_.executions[index];
             return execution.state == WorkState::kNotStarted && execution.submission != kNone;
           });
  }

  void Say(const std::string& sentence) {
    if (!verdict_.reason.empty()) verdict_.reason += ' ';
    verdict_.reason += sentence;
  }

  // "command list 5 (frame 3, submission 12)"
  std::string Describe(const Execution& execution) const {
    const Recording& recording = RecordingOf(execution);
    std::string text =
        fmt::format("command list {} (frame {}", recording.recording_id, execution.frame);
    if (execution.submission != kNone) {
      text += fmt::format(", submission {}", snapshot_.submissions[execution.submission].number);
    }
    if (recording.reusable || recording.submit_count > 1) {
      text += fmt::format(", execution {}", execution.run);
    }
    return text + ")";
  }

  void ExplainNothingInFlight() {
    if (completed_count_ == order_.size()) {
      Say("Everything recorded for this queue has finished.");
      return;
    }
    if (completed_count_ == 0) {
      Say("Nothing recorded for this queue has started.");
    } else {
      Say(fmt::format("{} of {} command lists have finished and the others have not started{}",
                      completed_count_, order_.size(),
                      verdict_.unknown ? "." : ": no marked work was running on this queue."));
    }
    ExplainMemory();
  }

  void ExplainModeOff() {
    Say(
        fmt::format("The marker mode was off, so that the GPU wrote nothing: how far it came in {} "
                    "command list{} is not known.",
                    unknown_count_, unknown_count_ == 1 ? "" : "s"));
    if (completed_count_ != 0) {
      Say(fmt::format("{} other{} finished, as the application told.", completed_count_,
                      completed_count_ == 1 ? " has" : "s have"));
    }
  }

  void ExplainInFlight() {
    ExplainProgress();
    ExplainDrains();
    ExplainConclusion();
    ExplainMode();
    ExplainMissingWrites();
    ExplainUnseenEnds();
    ExplainMemory();
    if (verdict_.device == kNone) return;
    const Device& device = snapshot_.devices[verdict_.device];
    if (!device.notes.empty()) {
      Say(fmt::format("Known of this device: {}.", snapshot_.Text(device.notes)));
    }
  }

  void ExplainProgress() {
    const Execution& execution = analysis_.executions[first_in_flight_];
    const Progress& progress = progress_[first_in_flight_];
    const Recording& recording = RecordingOf(execution);
    const std::string list = Describe(execution);
    if (!progress.words_make_sense) {
      Say(fmt::format(
          "The words of {} hold values that its events do not write (reached {}, passed "
          "{}): nothing follows from them.",
          list, recording.reached, recording.passed));
    } else if (!progress.told_apart) {
      Say(
          fmt::format("{} was submitted {} times without being registered as reusable: which "
                      "execution its words (reached {}, passed {}) belong to cannot be told.",
                      list, recording.submit_count, recording.reached, recording.passed));
    } else if (!progress.words_are_its) {
      Say(fmt::format("The GPU wrote nothing that tells how far it came in {}.", list));
    } else if (recording.reached == 0 && recording.passed == 0) {
      Say(fmt::format("The GPU wrote no event of {}.", list));
    } else if (recording.passed == 0) {
      Say(fmt::format("The GPU reached event {} of {} and reported none finished.",
                      recording.reached, list));
    } else {
      Say(fmt::format("The GPU reached event {} and finished up to event {} of {}.",
                      std::max(recording.reached, recording.passed), recording.passed, list));
    }
  }

  // Explains conclusions that follow from barriers alone, without a word that proves them.
  void ExplainDrains() {
    const Recording& recording = RecordingOf(analysis_.executions[first_in_flight_]);
    const Evidence& evidence = progress_[first_in_flight_].evidence;
    const uint32_t all = std::max(evidence.passed, recording.passed);
    std::string kinds;
    const auto add = [&](uint32_t event, uint32_t beyond, const char* work) {
      if (event <= beyond) return;
      kinds += kinds.empty() ? "" : ", ";
      kinds += event == kAllEvents ? fmt::format("all its {}", work)
                                   : fmt::format("its {} up to event {}", work, event);
    };
    add(evidence.passed, recording.passed, "work");
    add(evidence.passed_dispatches, all, "dispatches");
    add(evidence.passed_draws, all, "draws");
    if (kinds.empty()) return;
    drained_ = true;
    Say(fmt::format("Barriers at which this device was measured to wait prove finished: {}.",
                    kinds));
  }

  void ExplainConclusion() {
    const size_t scope_count = verdict_.candidates.size();
    const size_t list_count = verdict_.list_candidates.size();
    if (verdict_.exact) {
      const Scope& scope = analysis_.scopes[verdict_.candidates[0]];
      const Recording& recording = RecordingOf(analysis_.executions[first_in_flight_]);
      Say(fmt::format("The work that begins at event {} is the only marked work that was running.",
                      scope.event - recording.first_event + 1));
      if (waiting_count_ == 1) {
        Say("A command behind it was reached as well, and waits for it.");
      } else if (waiting_count_ != 0) {
        Say(fmt::format("{} commands behind it were reached as well, and wait for it.",
                        waiting_count_));
      }
      return;
    }
    if (scope_count == 1) {
      Say("One scope can be the culprit.");
    } else if (scope_count > 1) {
      Say(fmt::format("Each of {} scopes can be the culprit.", scope_count));
    }
    if (list_count == 1) {
      Say("One command list is in flight without such a scope: look at its work outside of "
          "markers.");
    } else if (list_count > 1) {
      Say(
          fmt::format("{} command lists are in flight without such a scope: look at their work "
                      "outside of markers.",
                      list_count));
    }
    if (in_flight_count_ > 1) {
      Say(fmt::format("{} command lists were in flight.", in_flight_count_));
    }
  }

  void ExplainMode() {
    if (verdict_.device == kNone || verdict_.exact) return;
    const MarkerMode mode = snapshot_.devices[verdict_.device].mode;
    if (mode == MarkerMode::kTop && !verdict_.candidates.empty()) {
      Say(
          fmt::format("Mode top writes at the top of the pipe only, so that finished and running "
                      "work look alike{}: any of the {} reached scopes may be the culprit.",
                      drained_ ? " behind that" : "", verdict_.candidates.size()));
    } else if (mode == MarkerMode::kPass) {
      Say("Mode pass writes at the bottom of the pipe only where a pass ends: work inside a pass "
          "that has not ended cannot be told apart.");
    } else if (mode == MarkerMode::kExact && verdict_.candidates.size() > 1) {
      Say("Mode exact lets work overlap only in a render pass that cannot be cut: all of it is one "
          "piece.");
    }
  }

  void ExplainMissingWrites() {
    const auto silent =
        std::count_if(verdict_.candidates.begin(), verdict_.candidates.end(),
                      [this](uint32_t i) { return (BeginEvent(i).flags & kEventWritesTop) == 0; });
    if (silent == 0 || verdict_.device == kNone) return;
    Say(fmt::format(
        "{} of the {} candidates carry no write of their own, because {} could not write "
        "there (inside a render pass, say).",
        silent, verdict_.candidates.size(), MethodName(snapshot_.devices[verdict_.device].method)));
  }

  void ExplainUnseenEnds() {
    if (unseen_count_ == 0) return;
    Say(fmt::format(
        "In {} of the {} command lists in flight nothing more is written by the GPU, not "
        "even at the end: whether they have finished cannot be seen, and they never "
        "count as a hang.",
        unseen_count_, in_flight_count_));
  }

  void ExplainMemory() {
    if (!WordsAreOld()) return;
    Say(
        fmt::format("The process died and its words were copies, up to {} µs old: the GPU may have "
                    "been further.",
                    snapshot_.devices[verdict_.device].mirror_period_us));
  }

  const Snapshot& snapshot_;
  std::span<const Progress> progress_;
  std::span<const uint32_t> order_;
  std::vector<bool>& listed_;
  const Analysis& analysis_;
  QueueVerdict verdict_;
  uint32_t first_in_flight_ = kNone;  // into executions
  size_t in_flight_count_ = 0;
  size_t unseen_count_ = 0;  // of these
  size_t completed_count_ = 0;
  size_t unknown_count_ = 0;
  size_t waiting_count_ = 0;  // for the work of an exact verdict
  bool drained_ = false;      // barriers proved that some work in flight had finished
};

}  // namespace

QueueVerdict JudgeQueue(const Snapshot& snapshot, std::span<const Progress> progress,
                        std::span<const uint32_t> queue_order, std::vector<bool>& listed,
                        const Analysis& analysis) {
  return QueueJudge(snapshot, progress, queue_order, listed, analysis).Run();
}

}  // namespace cairn
