// SPDX-License-Identifier: Apache-2.0
#include "reader/report/reason_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "reader/analysis/scope_tree.h"
#include "reader/report/describe.h"
#include "reader/report/suspect_text.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

template <typename... Arguments>
void Append(std::string& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
}

class QueueReasonWriter {
 public:
  QueueReasonWriter(const Snapshot& snapshot, const Analysis& analysis, const QueueVerdict& verdict,
                    std::string& out)
      : snapshot_(snapshot),
        analysis_(analysis),
        verdict_(verdict),
        reason_(verdict.reason),
        device_(verdict.device == kNone ? nullptr : &snapshot.devices[verdict.device]),
        out_(out),
        begin_(out.size()) {}

  void Write() {
    if (reason_.unknown_count != 0) {
      WriteModeOff();
    } else if (reason_.first_in_flight == kNone) {
      WriteNothingInFlight();
    } else {
      WriteInFlight();
    }
  }

 private:
  template <typename... Arguments>
  void Say(fmt::format_string<Arguments...> sentence, Arguments&&... arguments) {
    if (out_.size() != begin_) out_ += ' ';
    Append(out_, sentence, std::forward<Arguments>(arguments)...);
  }

  const Execution& FirstInFlight() const { return analysis_.executions[reason_.first_in_flight]; }
  const Recording& FirstRecording() const {
    return snapshot_.recordings[FirstInFlight().recording];
  }
  std::string_view ListWordHere() const { return ListWord(snapshot_, verdict_.device); }
  bool IsDrained() const {
    return reason_.drained_work != 0 || reason_.drained_dispatches != 0 ||
           reason_.drained_draws != 0;
  }

  // "command list 5 (frame 3, submission 12)"
  std::string FirstList() const {
    const Execution& execution = FirstInFlight();
    const Recording& recording = FirstRecording();
    std::string text = fmt::format("{} {} (frame {}", ListWord(snapshot_, recording.device),
                                   recording.recording_id, execution.frame);
    if (execution.submission != kNone) {
      Append(text, ", submission {}", snapshot_.submissions[execution.submission].number);
    }
    if (recording.reusable || recording.submit_count > 1) {
      Append(text, ", execution {}", execution.run);
    }
    return text + ")";
  }

  void WriteModeOff() {
    Say("The marker mode was off, so that the GPU wrote nothing: how far it came in {} command "
        "list{} is not known.",
        reason_.unknown_count, Plural(reason_.unknown_count, "", "s"));
    if (reason_.completed_count != 0) {
      Say("{} other{} completed, as the application reported.", reason_.completed_count,
          Plural(reason_.completed_count, " has", "s have"));
    }
  }

  void WriteNothingInFlight() {
    if (reason_.completed_count == reason_.execution_count) {
      return Say("Everything recorded for this queue has completed.");
    }
    if (reason_.completed_count == 0) {
      Say("Nothing recorded for this queue has started.");
    } else {
      Say("{} of {} {}s have completed and the others have not started{}", reason_.completed_count,
          reason_.execution_count, ListWordHere(),
          verdict_.unknown ? "." : ": no command with a marker was running on this queue.");
    }
    WriteMemory();
  }

  void WriteInFlight() {
    WriteProgress();
    WriteDrains();
    WriteConclusion();
    WriteMode();
    WriteMissingWrites();
    if (reason_.unseen_end_count != 0) {
      Say("In {} of the {} {}s {} nothing more is written by the GPU, not even at "
          "the end: whether they have completed cannot be seen, and they never count as a hang.",
          reason_.unseen_end_count, reason_.in_flight_count, ListWordHere(), kInFlightWord);
    }
    WriteMemory();
    if (device_ != nullptr && !device_->notes.empty()) {
      Say("Note on this device: {}.", snapshot_.Text(device_->notes));
    }
  }

  void WriteProgress() {
    const Recording& recording = FirstRecording();
    const uint32_t reached = recording.reached;
    const uint32_t passed = recording.passed;
    const std::string list = FirstList();
    switch (reason_.words) {
      case ListWords::kImpossible:
        return Say(
            "The progress words of {} hold values that its events do not write (reached {}, passed "
            "{}): "
            "nothing follows from them.",
            list, reached, passed);
      case ListWords::kOfSeveral:
        return Say(
            "{} was submitted {} times without being registered as reusable: which execution its "
            "progress words (reached {}, passed {}) belong to cannot be told.",
            list, recording.submit_count, reached, passed);
      case ListWords::kOfOthers:
        return Say("The GPU wrote nothing that tells how far it came in {}.", list);
      case ListWords::kItsOwn: break;
    }
    if (reached == 0 && passed == 0) return Say("The GPU wrote no marker event of {}.", list);
    if (passed == 0) {
      return Say("The GPU reached marker event {} of {}, and completed no marker event of it.",
                 reached, list);
    }
    Say("The GPU reached marker event {} and completed up to marker event {} of {}.",
        std::max(reached, passed), passed, list);
  }

  // Writes what follows from barriers alone.
  void WriteDrains() {
    if (!IsDrained()) return;
    std::string kinds;
    const auto add = [&kinds](uint32_t event, const char* work) {
      if (event == 0) return;
      kinds += kinds.empty() ? "" : ", ";
      if (event == kAllEvents) return Append(kinds, "all its {}", work);
      Append(kinds, "its {} up to marker event {}", work, event);
    };
    add(reason_.drained_work, "work");
    add(reason_.drained_dispatches, "dispatches");
    add(reason_.drained_draws, "draws");
    Say("Barriers at which this device was measured to wait prove completed: {}.", kinds);
  }

  void WriteExact() {
    const Scope& scope = analysis_.scopes[verdict_.candidates[0]];
    Say("The command that begins at marker event {} was running: {}.",
        scope.event - FirstRecording().first_event + 1, kOnlyOneInFlight);
    if (reason_.first_waiting == kNone) return;
    std::string waiting;
    AppendScope(snapshot_, analysis_.scopes[reason_.first_waiting], ScopeDetail::kShort, waiting);
    const uint32_t others = reason_.waiting_count - 1;
    if (others == 0) {
      Say("{}, which comes after that command, was reached as well: it waits for it.", waiting);
    } else {
      Say("{} and {} more, which come after that command, were reached as well: they wait "
          "for it.",
          waiting, others);
    }
  }

  void WriteConclusion() {
    if (verdict_.exact) return WriteExact();
    const size_t scope_count = verdict_.candidates.size();
    const size_t list_count = verdict_.list_candidates.size();
    if (scope_count == 1) {
      Say("One command may have been running.");
    } else if (scope_count > 1) {
      Say("Each of {} commands may have been running.", scope_count);
    }
    if (list_count == 1) {
      Say("One {} is {} without such a command: look at its commands without a marker.",
          ListWordHere(), kInFlightWord);
    } else if (list_count > 1) {
      Say("{} {}s are {} without such a command: look at their commands without a marker.",
          list_count, ListWordHere(), kInFlightWord);
    }
    if (reason_.in_flight_count > 1) {
      Say("{} {}s were {}.", reason_.in_flight_count, ListWordHere(), kInFlightWord);
    }
  }

  void WriteMode() {
    if (device_ == nullptr || verdict_.exact) return;
    if (device_->mode == MarkerMode::kTop && !verdict_.candidates.empty()) {
      Say("Mode top writes at the top of the pipe only, so that completed and running work look "
          "alike{}{}.",
          IsDrained() ? " after that" : "",
          verdict_.candidates.size() == 1
              ? ""
              : fmt::format(": any of the {} commands that were reached may have been running",
                            verdict_.candidates.size()));
    } else if (device_->mode == MarkerMode::kPass) {
      Say("Mode pass writes at the bottom of the pipe only where a pass ends: work inside a pass "
          "that has not ended cannot be told apart.");
    } else if (device_->mode == MarkerMode::kExact && verdict_.candidates.size() > 1) {
      Say("Mode exact lets work overlap only in a render pass that cannot be cut: all of it is one "
          "piece.");
    }
  }

  void WriteMissingWrites() {
    if (reason_.unwritten_count == 0 || device_ == nullptr) return;
    Say("{} of the {} candidates carry no write of their own, because {} could not write there "
        "(inside a render pass, say).",
        reason_.unwritten_count, verdict_.candidates.size(), MethodName(device_->method));
  }

  void WriteMemory() {
    if (!reason_.words_are_old) return;
    Say("The process died and its progress words were copies, up to {} µs old: the GPU may have "
        "been "
        "further.",
        device_->mirror_period_us);
  }

  const Snapshot& snapshot_;
  const Analysis& analysis_;
  const QueueVerdict& verdict_;
  const QueueReason& reason_;  // of the verdict
  const Device* device_;       // null: none is known
  std::string& out_;
  const size_t begin_;  // of the first sentence in `out_`
};

// `marker`: the top-of-pipe marker that is missing; 0: it is not known which.
std::string LostStoreInWords(uint32_t marker) {
  if (marker == 0) return "a marker's write can be lost with the device";
  return fmt::format("the write of the top-of-pipe marker {} before it can be lost with the device",
                     marker);
}

// Returns the state that follows from the rule, and the marker that the rule speaks of.
std::string RawRuleInWords(const RawReason& reason) {
  switch (reason.rule) {
    case RawRule::kNothingTells: break;
    case RawRule::kWrittenBehind:
      return fmt::format(
          "may be running: marker {} behind it was written, and nothing tells that it completed",
          reason.marker);
    case RawRule::kReachedBefore:
      return fmt::format(
          "may be running: the front end was at marker {} at least, and nothing tells that it "
          "stopped before this work",
          reason.marker);
    case RawRule::kAroundMarker:
      return "may be running: it lies around a marker, and only one side is known";
    case RawRule::kBottomWritten:
      return fmt::format("{}: the bottom-of-pipe marker {} behind it was written", kCompletedWord,
                         reason.marker);
    case RawRule::kTopMissing:
      return fmt::format("{}: the front end had not written the top-of-pipe marker {} before it",
                         kNotStartedWord, reason.marker);
    case RawRule::kLineIsFull:
      return fmt::format(
          "{}: {} bottom-of-pipe writes were waiting from marker {} on, and the front end does "
          "not go on with more",
          kNotStartedWord, reason.waiting_count, reason.marker);
    case RawRule::kFirstUnproven:
      return "may be running: no other work can be the culprit, and it is the first that is not "
             "proven to have completed; " +
             LostStoreInWords(reason.marker);
    case RawRule::kBehindUnproven:
      return "may be running: " + LostStoreInWords(reason.marker) +
             "; unlikely, as earlier work has not completed either";
  }
  return "may be running: no marker tells how far the front end came";
}

}  // namespace

void AppendQueueReason(const Snapshot& snapshot, const Analysis& analysis,
                       const QueueVerdict& verdict, std::string& out) {
  QueueReasonWriter(snapshot, analysis, verdict, out).Write();
}

void AppendCheckpointReason(const Snapshot& snapshot, const CheckpointVerdict& verdict,
                            std::string& out) {
  const Checkpoint& checkpoint = snapshot.checkpoints[verdict.checkpoint];
  if (checkpoint.recording == kNone) {
    Append(
        out,
        "It is marker event {} of a secondary command buffer that is executed in several places.",
        checkpoint.sequence);
    return;
  }
  Append(out, "It is marker event {} of {} {}.", checkpoint.sequence,
         ListWord(snapshot, snapshot.recordings[checkpoint.recording].device),
         snapshot.recordings[checkpoint.recording].recording_id);
  const char* const does = checkpoint.stage == PipeStage::kTop ? "reached" : "completed";
  switch (verdict.evidence) {
    case CheckpointEvidence::kNone: return;
    case CheckpointEvidence::kNotStarted:
      out +=
          " Its progress words say that it has not started: writes are late or lost, and more may "
          "have "
          "run than is shown.";
      return;
    case CheckpointEvidence::kFinishedLast:
      out += " It had completed, and nothing behind it had begun.";
      return;
    case CheckpointEvidence::kLaterWorkBegan:
      out += " Progress words say that later work of this queue had begun.";
      return;
    case CheckpointEvidence::kWordIsFurther:
      Append(out, " The progress words say that marker event {} was {}.", verdict.word, does);
      return;
    case CheckpointEvidence::kWordIsSame: out += " The progress words say the same."; return;
    case CheckpointEvidence::kWriteIsMissing:
      Append(out,
             " The progress words say that marker event {} was {}, though marker event {} was to "
             "write one: writes are "
             "late or lost, and more may have run than is shown.",
             verdict.word, does, verdict.missing_write);
      return;
    case CheckpointEvidence::kNoWriteBetween:
      Append(
          out,
          " The progress words say that marker event {} was {}, and nothing in between writes one.",
          verdict.word, does);
      return;
  }
}

std::string RawReasonInWords(const RawReason& reason) {
  std::string words = RawRuleInWords(reason);
  if ((reason.doubts & kDoubtMarkerMissing) != 0) {
    words +=
        "; unlikely, as the top-of-pipe marker directly behind it is missing and earlier work had "
        "not completed";
  }
  if ((reason.doubts & kDoubtOtherWork) != 0) {
    words += "; unlikely, as markers stand around other work";
  }
  if ((reason.doubts & kDoubtRunsNothing) != 0) words += "; unlikely, as it runs nothing";
  return words;
}

}  // namespace cairn
