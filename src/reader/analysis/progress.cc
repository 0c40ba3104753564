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

// Returns the last drains before `end`, and not before `from`. Linear in the events in between.
Drains DrainsWithin(const Snapshot& snapshot, const Recording& recording, uint32_t from,
                    uint32_t end) {
  Drains drains;
  for (uint32_t sequence = end; sequence > from && drains.all == 0; --sequence) {
    const uint8_t flags =
        snapshot.events[recording.first_event + sequence - 1].flags & kEventDrains;
    if (flags == kEventDrains) drains.all = sequence;
    if ((flags & kEventDrainsDispatches) != 0 && drains.dispatches == 0)
      drains.dispatches = sequence;
    if ((flags & kEventDrainsDraws) != 0 && drains.draws == 0) drains.draws = sequence;
  }
  return drains;
}

// The GPU is beyond these.
void ApplyDrains(const Drains& drains, Progress* progress) {
  Evidence& evidence = progress->evidence;
  evidence.passed = std::max(evidence.passed, drains.all);
  evidence.passed_dispatches = std::max(evidence.passed_dispatches, drains.dispatches);
  evidence.passed_draws = std::max(evidence.passed_draws, drains.draws);
  progress->drained.all |= drains.all != 0;
  progress->drained.dispatches |= drains.dispatches != 0;
  progress->drained.draws |= drains.draws != 0;
}

bool WordsMakeSense(const Snapshot& snapshot, const Recording& recording) {
  return IsOwnValue(snapshot, recording, recording.passed, kEventWritesBottom) &&
         IsOwnValue(snapshot, recording, recording.reached, kEventWritesTop);
}

uint32_t Unreached(const Snapshot& snapshot, const Recording& recording) {
  if (!WordsMakeSense(snapshot, recording)) return kAllEvents;
  return FirstUnreached(snapshot, recording, std::max(recording.reached, recording.passed));
}

// The words as those of one execution.
Progress FromWords(const Snapshot& snapshot, const Recording& recording) {
  Progress progress;
  progress.words_are_its = true;
  progress.began = !WordsAreZero(recording);
  progress.words_make_sense = WordsMakeSense(snapshot, recording);
  if (IsOwnValue(snapshot, recording, recording.passed, kEventWritesBottom)) {
    progress.evidence.passed = recording.passed;
    progress.drained.all = recording.passed != 0;
    if (ListEndPassed(snapshot, recording)) progress.evidence = kProvenCompleted;
  }
  if (progress.words_make_sense) {
    progress.evidence.unreached = Unreached(snapshot, recording);
    ApplyDrains(DrainsWithin(snapshot, recording, progress.evidence.passed, recording.reached),
                &progress);
  }
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
  Progress progress = Certain(kNothingProven);
  progress.told_apart = false;
  progress.words_make_sense = WordsMakeSense(snapshot, recording);
  if (run == finished + 1) {
    // The execution that wrote `passed`, or got past a barrier that drains, is this one or a later
    // one, so that the evidence holds for this one in any case.
    const Progress words = FromWords(snapshot, recording);
    progress.evidence = words.evidence;
    progress.evidence.unreached = kAllEvents;
    progress.drained = words.drained;
    progress.began = true;
  } else if (run == recording.submit_count) {
    // The execution that wrote `reached` is this one or an earlier one, so that the GPU has got no
    // further in this one.
    progress.evidence.unreached = Unreached(snapshot, recording);
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

// The loss of a device may itself signal the fence that showed completion: the write at the bottom
// of the pipe that the list ends with did not arrive.
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

// Judges an execution in mode off, without words: only submissions reported by the application
// count.
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

LastDrains::LastDrains(const Snapshot& snapshot)
    : snapshot_(snapshot), entries_(snapshot.recordings.size()) {}

const Drains& LastDrains::Of(uint32_t recording) {
  Entry& entry = entries_[recording];
  if (!entry.is_known) {
    const Recording& of = snapshot_.recordings[recording];
    entry = {true, DrainsWithin(snapshot_, of, 0, of.event_count)};
  }
  return entry.drains;
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

void ApplyQueueOrder(std::span<const uint32_t> queue_order, std::span<const Execution> executions,
                     LastDrains* last_drains, std::span<Progress> progress) {
  bool later_began = false;
  Drained later;
  for (size_t i = queue_order.size(); i-- > 0;) {
    Progress& current = progress[queue_order[i]];
    if (later.all) {
      current.evidence = kProvenCompleted;
    } else if (later_began) {
      current.evidence.unreached = kAllEvents;
      current.began = true;
      if (!current.mode_off) {
        ApplyDrains(last_drains->Of(executions[queue_order[i]].recording), &current);
        if (later.dispatches) current.evidence.passed_dispatches = kAllEvents;
        if (later.draws) current.evidence.passed_draws = kAllEvents;
      }
    }
    later_began |= current.began;
    later.all |= current.drained.all;
    later.dispatches |= current.drained.dispatches;
    later.draws |= current.drained.draws;
  }
  bool front_end_before = false;
  for (const uint32_t index : queue_order) {
    Progress& current = progress[index];
    if (front_end_before) current.evidence = kProvenNotStarted;
    front_end_before |= current.evidence.unreached != kAllEvents;
  }
}

}  // namespace cairn
