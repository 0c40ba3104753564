// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/progress.h"

#include <algorithm>

namespace cairn {
namespace {

// A word holds 0 or the sequence number of an event that was asked to write it. Anything else (a
// stray write of the fault itself, say) proves nothing.
bool IsOwnValue(const Snapshot& snapshot, const Recording& recording, uint32_t value,
                uint8_t flag) {
  if (value == 0) return true;
  return value <= recording.event_count &&
         (snapshot.events[recording.first_event + value - 1].flags & flag) != 0;
}

// The first event behind `reached` whose top-of-pipe write is missing; kAllEvents if there is none.
uint32_t FirstUnreached(const Snapshot& snapshot, const Recording& recording, uint32_t reached) {
  for (uint32_t i = std::min(reached, recording.event_count); i < recording.event_count; ++i) {
    if ((snapshot.events[recording.first_event + i].flags & kEventWritesTop) != 0) return i + 1;
  }
  return kAllEvents;
}

// Only the end of the list writes at the bottom for an event that is no end, and only when everything that was
// recorded is before it: then scopes that were left open have finished, too.
bool ListEndPassed(const Snapshot& snapshot, const Recording& recording) {
  if (recording.open || recording.event_count == 0 || recording.passed != recording.event_count) {
    return false;
  }
  const Event& last = snapshot.events[recording.first_event + recording.event_count - 1];
  return last.kind != EventKind::kEnd;
}

bool WordsAreZero(const Recording& recording) {
  return recording.reached == 0 && recording.passed == 0;
}

// What is before the last barrier that drains, and beyond which the GPU is, has finished. Linear in the
// events from there on.
void ApplyDrain(const Snapshot& snapshot, const Recording& recording, Progress* progress) {
  if (!progress->words_make_sense) return;
  for (uint32_t sequence = recording.reached; sequence > progress->evidence.passed; --sequence) {
    if ((snapshot.events[recording.first_event + sequence - 1].flags & kEventDrains) == 0) continue;
    progress->evidence.passed = sequence;
    progress->drained = true;
    return;
  }
}

// The words as those of one execution, whose barriers nobody asks.
Progress WordsAlone(const Snapshot& snapshot, const Recording& recording) {
  Progress progress;
  progress.words_are_its = true;
  progress.began = !WordsAreZero(recording);
  const bool passed_is_own = IsOwnValue(snapshot, recording, recording.passed, kEventWritesBottom);
  progress.words_make_sense =
      passed_is_own && IsOwnValue(snapshot, recording, recording.reached, kEventWritesTop);
  if (passed_is_own) {
    progress.evidence.passed = recording.passed;
    progress.drained = recording.passed != 0;
    if (ListEndPassed(snapshot, recording)) progress.evidence = kProvenCompleted;
  }
  if (progress.words_make_sense) {
    const uint32_t reached = std::max(recording.reached, recording.passed);
    progress.evidence.unreached = FirstUnreached(snapshot, recording, reached);
  }
  return progress;
}

Progress FromWords(const Snapshot& snapshot, const Recording& recording) {
  Progress progress = WordsAlone(snapshot, recording);
  ApplyDrain(snapshot, recording, &progress);
  return progress;
}

Progress Certain(const Evidence& evidence) {
  Progress progress;
  progress.evidence = evidence;
  progress.began = evidence == kProvenCompleted;
  return progress;
}

Progress JudgeReusable(const Snapshot& snapshot, const Recording& recording, uint32_t run) {
  if (run <= std::max(recording.finished_runs, recording.runs == 0 ? 0 : recording.runs - 1)) {
    return Certain(kProvenCompleted);
  }
  if (run > recording.runs) {
    // Words without a counted execution contradict each other.
    if (recording.runs == 0 && !WordsAreZero(recording)) return Certain(kNothingProven);
    return Certain(kProvenNotStarted);
  }
  // The next execution clears the words a moment before it is counted.
  if (WordsAreZero(recording) && recording.runs < recording.submit_count) {
    Progress progress = Certain(kNothingProven);
    progress.began = true;
    return progress;
  }
  Progress progress = FromWords(snapshot, recording);
  progress.began = true;
  // `reached` may be cleared already, and `passed` not yet.
  if (recording.reached == 0 && recording.runs < recording.submit_count) {
    progress.evidence.unreached = kAllEvents;
  }
  return progress;
}

// A list that is not reusable keeps its words from one execution to the next, so that a value may
// stem from any execution that had not finished when the words were last cleared.
Progress JudgeSubmitted(const Snapshot& snapshot, const Recording& recording, uint32_t run) {
  const uint32_t finished = recording.finished_runs;
  if (run <= finished) return Certain(kProvenCompleted);
  if (recording.submit_count <= finished + 1 || WordsAreZero(recording)) {
    return FromWords(snapshot, recording);
  }
  Progress words = WordsAlone(snapshot, recording);
  Progress progress = Certain(kNothingProven);
  progress.told_apart = false;
  progress.words_make_sense = words.words_make_sense;
  if (run == finished + 1) {
    // Whoever wrote `passed`, or came beyond a barrier: this execution came first.
    ApplyDrain(snapshot, recording, &words);
    progress.evidence.passed = words.evidence.passed;
    progress.drained = words.drained;
    progress.began = true;
  } else if (run == recording.submit_count) {
    // Whoever wrote `reached`: this execution came last.
    progress.evidence.unreached = words.evidence.unreached;
  }
  return progress;
}

Progress JudgeNeverSubmitted(const Snapshot& snapshot, const Recording& recording,
                             bool device_tells_submissions) {
  if (WordsAreZero(recording) && (device_tells_submissions || recording.event_count == 0)) {
    return Certain(kProvenNotStarted);
  }
  return FromWords(snapshot, recording);
}

bool ToldCompleted(const Snapshot& snapshot, const Execution& execution) {
  if (execution.submission == kNone) return false;
  const Submission& submission = snapshot.submissions[execution.submission];
  return submission.queue != kNone && submission.number != 0 &&
         submission.number <= snapshot.queues[submission.queue].completed_submission;
}

// The loss of a device may itself signal the fence that told: the write at the bottom of the pipe that
// the list ends with did not arrive.
bool WordsDenyTheEnd(const Snapshot& snapshot, const Execution& execution) {
  const Recording& recording = snapshot.recordings[execution.recording];
  if (recording.device == kNone || !snapshot.devices[recording.device].device_lost) return false;
  if (recording.event_count == 0 || execution.run != recording.submit_count) return false;
  const Event& last = snapshot.events[recording.first_event + recording.event_count - 1];
  return (last.flags & kEventWritesBottom) != 0 && recording.passed < recording.event_count;
}

bool IsModeOff(const Snapshot& snapshot, const Recording& recording) {
  return recording.device != kNone && snapshot.devices[recording.device].mode == MarkerMode::kOff;
}

// In mode off there are no words; only what the application told counts.
Progress JudgeWithoutWords(const Execution& execution, bool device_tells_submissions) {
  if (execution.submission == kNone && device_tells_submissions) {
    return Certain(kProvenNotStarted);
  }
  Progress progress = Certain(kNothingProven);
  progress.mode_off = true;
  return progress;
}

}  // namespace

Progress JudgeExecution(const Snapshot& snapshot, const Execution& execution,
                        bool device_tells_submissions) {
  const Recording& recording = snapshot.recordings[execution.recording];
  if (recording.secondary) return Certain(kProvenNotStarted);
  if (ToldCompleted(snapshot, execution) && !WordsDenyTheEnd(snapshot, execution)) {
    return Certain(kProvenCompleted);
  }
  if (IsModeOff(snapshot, recording)) {
    return JudgeWithoutWords(execution, device_tells_submissions);
  }
  if (recording.reusable) return JudgeReusable(snapshot, recording, execution.run);
  if (execution.submission == kNone && recording.submit_count == 0) {
    return JudgeNeverSubmitted(snapshot, recording, device_tells_submissions);
  }
  return JudgeSubmitted(snapshot, recording, execution.run);
}

std::vector<uint32_t> FindLastDrains(const Snapshot& snapshot) {
  std::vector<uint32_t> drains;
  drains.reserve(snapshot.recordings.size());
  for (const Recording& recording : snapshot.recordings) {
    uint32_t sequence = recording.event_count;
    while (sequence != 0 &&
           (snapshot.events[recording.first_event + sequence - 1].flags & kEventDrains) == 0) {
      --sequence;
    }
    drains.push_back(sequence);
  }
  return drains;
}

bool EndIsUnseen(const Snapshot& snapshot, const Recording& recording) {
  if (recording.open) return false;
  for (uint32_t sequence = recording.event_count; sequence != 0; --sequence) {
    const uint8_t flags = snapshot.events[recording.first_event + sequence - 1].flags;
    if ((flags & kEventWritesBottom) != 0) {
      return sequence != recording.event_count && recording.passed >= sequence;
    }
    if ((flags & kEventWritesTop) != 0) {
      return std::max(recording.reached, recording.passed) >= sequence;
    }
  }
  return true;
}

void ApplyQueueOrder(std::span<const uint32_t> queue_order, std::span<Progress> progress) {
  bool later_began = false;
  bool later_drained = false;
  for (size_t i = queue_order.size(); i-- > 0;) {
    Progress& current = progress[queue_order[i]];
    if (later_drained) {
      current.evidence = kProvenCompleted;
    } else if (later_began) {
      current.evidence.unreached = kAllEvents;
      current.began = true;
      if (current.last_drain != 0 && !current.mode_off) {
        current.evidence.passed = std::max(current.evidence.passed, current.last_drain);
        current.drained = true;
      }
    }
    later_began |= current.began;
    later_drained |= current.drained;
  }
  bool front_end_before = false;
  for (const uint32_t index : queue_order) {
    Progress& current = progress[index];
    if (front_end_before) current.evidence = kProvenNotStarted;
    front_end_before |= current.evidence.unreached != kAllEvents;
  }
}

}  // namespace cairn
