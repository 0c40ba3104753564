// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/checkpoint_check.h"

#include <fmt/format.h>

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
    if (checkpoint.recording == kNone) {
      verdict.reason = fmt::format(
          "It is event {} of a secondary command buffer that is executed in several places.",
          checkpoint.sequence);
      return verdict;
    }
    const Recording& recording = snapshot_.recordings[checkpoint.recording];
    verdict.reason = fmt::format("It is event {} of command list {}.", checkpoint.sequence,
                                 recording.recording_id);
    const bool top = checkpoint.stage == PipeStage::kTop;
    if (!top && checkpoint.stage != PipeStage::kBottom) return verdict;
    const RecordingStates& states = states_[checkpoint.recording];
    const auto conclude = [&verdict](CheckpointRelation relation, const std::string& sentence) {
      verdict.relation = relation;
      verdict.reason += ' ';
      verdict.reason += sentence;
    };
    if (states.any && !states.any_in_flight && !states.any_completed) {
      conclude(CheckpointRelation::kWordsBehind,
               "Its words say that it has not started: writes are late or lost, and more may have "
               "run than is shown.");
    } else if (!states.any_in_flight) {
      const bool is_last = checkpoint.queue == kNone || states.last_submission == 0 ||
                           last_begun_[checkpoint.queue] <= states.last_submission;
      conclude(is_last ? CheckpointRelation::kAgrees : CheckpointRelation::kCheckpointBehind,
               is_last ? "It had finished, and nothing behind it had begun."
                       : "Words say that later work of this queue had begun.");
    } else {
      const auto [relation, sentence] = Compare(checkpoint.recording, checkpoint.sequence, top);
      conclude(relation, sentence);
    }
    return verdict;
  }

 private:
  struct Conclusion {
    CheckpointRelation relation;
    std::string sentence;
  };

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

  Conclusion Compare(uint32_t index, uint32_t sequence, bool top) {
    const Recording& recording = snapshot_.recordings[index];
    const uint32_t word = top ? std::max(recording.reached, recording.passed) : recording.passed;
    const char* does = top ? "reached" : "finished";
    if (sequence < word) {
      return {CheckpointRelation::kCheckpointBehind,
              fmt::format("The words say that event {} was {}.", word, does)};
    }
    if (sequence == word) {
      return {CheckpointRelation::kAgrees, "The words say the same."};
    }
    const uint32_t next = NextWrite(index, word, top);
    if (next <= std::min(sequence, recording.event_count)) {
      return {CheckpointRelation::kWordsBehind,
              fmt::format("The words say that event {} was {}, though event {} was to write one: "
                          "writes are late or lost, and more may have run than is shown.",
                          word, does, next)};
    }
    return {CheckpointRelation::kTellsMore,
            fmt::format("The words say that event {} was {}, and nothing in between writes one.",
                        word, does)};
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
