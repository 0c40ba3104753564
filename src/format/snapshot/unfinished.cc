// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/unfinished.h"

namespace cairn {
namespace {

// Returns true if the recording was submitted and its words do not show that it completed.
bool IsUnfinished(const Recording& recording) {
  if (recording.secondary || recording.submit_count == 0) return false;
  const bool all_begun = recording.reusable ? recording.runs == recording.submit_count
                                            : recording.submit_count <= recording.finished_runs + 1;
  return !all_begun || recording.event_count == 0 || recording.passed != recording.event_count;
}

}  // namespace

std::vector<bool> FindUnfinished(const Snapshot& snapshot) {
  std::vector<bool> unfinished(snapshot.recordings.size());
  // The application reported completions: the last submission decides. Recordings without one are
  // unfinished.
  std::vector<bool> told_finished(unfinished.size(), false);
  for (const Submission& submission : snapshot.submissions) {
    if (submission.recording == kNone) continue;
    told_finished[submission.recording] =
        submission.number <= snapshot.queues[submission.queue].completed_submission;
  }
  for (uint32_t i = 0; i < unfinished.size(); ++i) {
    unfinished[i] = IsUnfinished(snapshot.recordings[i]) && !told_finished[i];
  }
  return unfinished;
}

std::vector<bool> PipelinesInUse(const Snapshot& snapshot) {
  std::vector<bool> used(snapshot.pipelines.size(), false);
  for (const Recording& recording : snapshot.recordings) {
    if (recording.submit_count == 0) continue;
    for (uint32_t i = 0; i < recording.event_count; ++i) {
      if (i + 1 < recording.passed) continue;
      const uint32_t pipeline = snapshot.events[recording.first_event + i].pipeline;
      if (pipeline != kNone) used[pipeline] = true;
    }
  }
  return used;
}

}  // namespace cairn
