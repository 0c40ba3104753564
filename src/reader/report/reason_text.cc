// SPDX-License-Identifier: Apache-2.0
#include "reader/report/reason_text.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace cairn {
namespace {

template <typename... Arguments>
void Append(std::string& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
}

// `marker`: the top-of-pipe marker that is missing; 0: it is not known which.
std::string LostStoreInWords(uint32_t marker) {
  if (marker == 0) return "a marker's write can be lost with the device";
  return fmt::format("the write of the top-of-pipe marker {} before it can be lost with the device",
                     marker);
}

// Returns the state that the rule gives, and how.
std::string RawRuleInWords(const RawReason& reason) {
  switch (reason.rule) {
    case RawRule::kNothingTells: break;
    case RawRule::kWrittenBehind:
      return fmt::format(
          "may be running: marker {} behind it was written, and nothing tells that it finished",
          reason.marker);
    case RawRule::kReachedBefore:
      return fmt::format(
          "may be running: the front end was at marker {} at least, and nothing tells that it "
          "stopped before this work",
          reason.marker);
    case RawRule::kAroundMarker:
      return "may be running: it lies around a marker, and only one side is known";
    case RawRule::kBottomWritten:
      return fmt::format("finished: the bottom-of-pipe marker {} behind it was written",
                         reason.marker);
    case RawRule::kTopMissing:
      return fmt::format(
          "not started: the front end had not written the top-of-pipe marker {} before it",
          reason.marker);
    case RawRule::kLineIsFull:
      return fmt::format(
          "not started: {} bottom-of-pipe writes were waiting from marker {} on, and the front end "
          "does not go on with more",
          reason.waiting_count, reason.marker);
    case RawRule::kFirstUnproven:
      return "may be running: no other work can be the culprit, and it is the first that is not "
             "proven to have finished; " +
             LostStoreInWords(reason.marker);
    case RawRule::kBehindUnproven:
      return "may be running: " + LostStoreInWords(reason.marker) +
             "; unlikely, as earlier work has not finished either";
  }
  return "may be running: no marker tells how far the front end came";
}

}  // namespace

void AppendCheckpointReason(const Snapshot& snapshot, const CheckpointVerdict& verdict,
                            std::string& out) {
  const Checkpoint& checkpoint = snapshot.checkpoints[verdict.checkpoint];
  if (checkpoint.recording == kNone) {
    Append(out, "It is event {} of a secondary command buffer that is executed in several places.",
           checkpoint.sequence);
    return;
  }
  Append(out, "It is event {} of command list {}.", checkpoint.sequence,
         snapshot.recordings[checkpoint.recording].recording_id);
  const char* const does = checkpoint.stage == PipeStage::kTop ? "reached" : "finished";
  switch (verdict.evidence) {
    case CheckpointEvidence::kNone: return;
    case CheckpointEvidence::kNotStarted:
      out +=
          " Its words say that it has not started: writes are late or lost, and more may have "
          "run than is shown.";
      return;
    case CheckpointEvidence::kFinishedLast:
      out += " It had finished, and nothing behind it had begun.";
      return;
    case CheckpointEvidence::kLaterWorkBegan:
      out += " Words say that later work of this queue had begun.";
      return;
    case CheckpointEvidence::kWordIsFurther:
      Append(out, " The words say that event {} was {}.", verdict.word, does);
      return;
    case CheckpointEvidence::kWordIsSame: out += " The words say the same."; return;
    case CheckpointEvidence::kWriteIsMissing:
      Append(out,
             " The words say that event {} was {}, though event {} was to write one: writes are "
             "late or lost, and more may have run than is shown.",
             verdict.word, does, verdict.missing_write);
      return;
    case CheckpointEvidence::kNoWriteBetween:
      Append(out, " The words say that event {} was {}, and nothing in between writes one.",
             verdict.word, does);
      return;
  }
}

std::string RawReasonInWords(const RawReason& reason) {
  std::string words = RawRuleInWords(reason);
  if ((reason.doubts & kDoubtMarkerMissing) != 0) {
    words +=
        "; unlikely, as the top-of-pipe marker directly behind it is missing and earlier work had "
        "not finished";
  }
  if ((reason.doubts & kDoubtOtherWork) != 0) {
    words += "; unlikely, as markers stand around other work";
  }
  if ((reason.doubts & kDoubtRunsNothing) != 0) words += "; unlikely, as it runs nothing";
  return words;
}

}  // namespace cairn
