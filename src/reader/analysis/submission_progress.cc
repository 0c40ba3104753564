// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/submission_progress.h"

#include <algorithm>

namespace cairn {

std::vector<SubmissionProgress> FindSubmissionProgress(const Snapshot& snapshot,
                                                       const Analysis& analysis) {
  std::vector<SubmissionProgress> queues(snapshot.queues.size());
  for (uint32_t i = 0; i < queues.size(); ++i) {
    queues[i].submitted = snapshot.queues[i].submission_count;
  }
  // A recording that was recycled had finished.
  std::vector<bool> finished(snapshot.submissions.size(), true);
  for (const Execution& execution : analysis.executions) {
    if (execution.submission == kNone) continue;
    finished[execution.submission] = execution.state == WorkState::kCompleted;
  }
  for (size_t i = 0; i < finished.size(); ++i) {
    const Submission& submission = snapshot.submissions[i];
    if (submission.queue == kNone) continue;
    SubmissionProgress& queue = queues[submission.queue];
    queue.submitted = std::max(queue.submitted, submission.number);
    uint64_t& first = queue.first_with_unfinished_list;
    if (!finished[i] && (first == 0 || submission.number < first)) first = submission.number;
  }
  for (const Execution& execution : analysis.executions) {
    if (execution.submission == kNone || execution.state != WorkState::kInFlight) continue;
    const Submission& submission = snapshot.submissions[execution.submission];
    const Recording& recording = snapshot.recordings[execution.recording];
    if (submission.queue == kNone || (recording.reached == 0 && recording.passed == 0)) continue;
    SubmissionProgress& queue = queues[submission.queue];
    if (submission.number != queue.first_with_unfinished_list) continue;
    queue.begun = true;
    queue.finished = submission.number - std::min<uint64_t>(submission.number, 1);
  }
  for (size_t i = 0; i < finished.size(); ++i) {
    const Submission& submission = snapshot.submissions[i];
    if (submission.queue == kNone || !finished[i]) continue;
    SubmissionProgress& queue = queues[submission.queue];
    const uint64_t first = queue.first_with_unfinished_list;
    if (first == 0 || submission.number < first) {
      queue.finished = std::max(queue.finished, submission.number);
    }
  }
  for (uint32_t i = 0; i < queues.size(); ++i) {
    SubmissionProgress& queue = queues[i];
    const uint64_t told = std::min(snapshot.queues[i].completed_submission, queue.submitted);
    queue.finished = std::max(queue.finished, told);
  }
  return queues;
}

}  // namespace cairn
