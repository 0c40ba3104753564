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

}  // namespace cairn
