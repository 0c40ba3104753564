// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/checkpoint_check.h"

#include <algorithm>

namespace cairn {
namespace {

// The states of all executions of one recording, and the last submission.
struct RecordingStates {
  bool any = false;
  bool any_in_flight = false;
  bool any_completed = false;
  uint32_t last_submission = 0;  // into Snapshot::submissions, + 1
};

class CheckpointJudge {
 public:
  CheckpointJudge(const Snapshot& snapshot, const Analysis& analysis) : snapshot_(snapshot) {
    states_.resize(snapshot.recordings.size());
    next_writes_.resize(snapshot.recordings.size() * 2, kNotSought);
    last_begun_.assign(snapshot.queues.size(), 0);
    for (const Execution& execution : analysis.executions) {
      RecordingStates& states = states_[execution.recording];
      states.any = true;
      states.any_in_flight |= execution.state == WorkState::kInFlight;
      states.any_completed |= execution.state == WorkState::kCompleted;
      if (execution.submission == kNone) continue;
      const uint32_t submission = execution.submission + 1;
      states.last_submission = std::max(states.last_submission, submission);
      const uint32_t queue = snapshot.submissions[execution.submission].queue;
      const bool begun =
          execution.state == WorkState::kInFlight || execution.state == WorkState::kCompleted;
      if (queue != kNone && begun) last_begun_[queue] = std::max(last_begun_[queue], submission);
    }
  }

  CheckpointVerdict Judge(uint32_t index) {
    const Checkpoint& checkpoint = snapshot_.checkpoints[index];
    CheckpointVerdict verdict;
    verdict.checkpoint = index;
    if (checkpoint.recording == kNone) return verdict;
    const bool top = checkpoint.stage == PipeStage::kTop;
    if (!top && checkpoint.stage != PipeStage::kBottom) return verdict;
    const RecordingStates& states = states_[checkpoint.recording];
    if (states.any_in_flight) {
      Compare(checkpoint, top, &verdict);
    } else if (states.any && !states.any_completed) {
      verdict.relation = CheckpointRelation::kWordsBehind;
      verdict.evidence = CheckpointEvidence::kNotStarted;
    } else {
      const bool is_last = checkpoint.queue == kNone || states.last_submission == 0 ||
                           last_begun_[checkpoint.queue] <= states.last_submission;
      verdict.relation =
          is_last ? CheckpointRelation::kAgrees : CheckpointRelation::kCheckpointBehind;
      verdict.evidence =
          is_last ? CheckpointEvidence::kFinishedLast : CheckpointEvidence::kLaterWorkBegan;
    }
    return verdict;
  }

 private:
  static constexpr uint32_t kNotSought = UINT32_MAX;

  // The sequence number of the first event behind `word`, the word of the stage, that writes one; past the
  // last event if none does. Sought once for each recording and stage: there may be many checkpoints in one.
  uint32_t NextWrite(uint32_t index, uint32_t word, bool top) {
    uint32_t& next = next_writes_[size_t{index} * 2 + (top ? 1 : 0)];
    if (next != kNotSought) return next;
    const Recording& recording = snapshot_.recordings[index];
    const uint8_t flag = top ? kEventWritesTop : kEventWritesBottom;
    for (next = word + 1; next <= recording.event_count; ++next) {
      if ((snapshot_.events[recording.first_event + next - 1].flags & flag) != 0) break;
    }
    return next;
  }

  void Compare(const Checkpoint& checkpoint, bool top, CheckpointVerdict* verdict) {
    const Recording& recording = snapshot_.recordings[checkpoint.recording];
    const uint32_t word = top ? std::max(recording.reached, recording.passed) : recording.passed;
    verdict->word = word;
    if (checkpoint.sequence < word) {
      verdict->relation = CheckpointRelation::kCheckpointBehind;
      verdict->evidence = CheckpointEvidence::kWordIsFurther;
      return;
    }
    if (checkpoint.sequence == word) {
      verdict->relation = CheckpointRelation::kAgrees;
      verdict->evidence = CheckpointEvidence::kWordIsSame;
      return;
    }
    const uint32_t next = NextWrite(checkpoint.recording, word, top);
    const bool is_missing = next <= std::min(checkpoint.sequence, recording.event_count);
    verdict->relation =
        is_missing ? CheckpointRelation::kWordsBehind : CheckpointRelation::kTellsMore;
    verdict->evidence =
        is_missing ? CheckpointEvidence::kWriteIsMissing : CheckpointEvidence::kNoWriteBetween;
    if (is_missing) verdict->missing_write = next;
  }

  const Snapshot& snapshot_;
  std::vector<RecordingStates> states_;
  std::vector<uint32_t> next_writes_;  // by recording and stage
  std::vector<uint32_t> last_begun_;   // by queue, as RecordingStates::last_submission
};

}  // namespace

std::vector<CheckpointVerdict> CheckCheckpoints(const Snapshot& snapshot,
                                                const Analysis& analysis) {
  std::vector<CheckpointVerdict> verdicts;
  if (snapshot.checkpoints.empty()) return verdicts;
  CheckpointJudge judge(snapshot, analysis);
  for (uint32_t i = 0; i < snapshot.checkpoints.size(); ++i) verdicts.push_back(judge.Judge(i));
  return verdicts;
}

}  // namespace cairn
