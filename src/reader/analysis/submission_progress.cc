// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/submission_progress.h"

#include <algorithm>
#include <tuple>

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

std::vector<EmptySubmission> FindEmptySubmissions(const Snapshot& snapshot) {
  // The numbers of the submissions with lists, by queue.
  std::vector<std::vector<uint64_t>> known(snapshot.queues.size());
  for (const Submission& submission : snapshot.submissions) {
    if (submission.queue == kNone) continue;
    known[submission.queue].push_back(submission.number);
  }
  for (std::vector<uint64_t>& numbers : known) std::sort(numbers.begin(), numbers.end());
  std::vector<EmptySubmission> found;
  for (const Sync& sync : snapshot.syncs) {
    if (sync.queue == kNone || sync.submission_number == 0 || (sync.flags & kSyncPresent) != 0) {
      continue;
    }
    const Queue& queue = snapshot.queues[sync.queue];
    const std::vector<uint64_t>& numbers = known[sync.queue];
    const bool is_vulkan =
        queue.device != kNone && snapshot.devices[queue.device].api == Api::kVulkan;
    // A submission that is older than all of them may have had lists that were forgotten.
    if (!is_vulkan || (!numbers.empty() && sync.submission_number < numbers.front()) ||
        std::binary_search(numbers.begin(), numbers.end(), sync.submission_number)) {
      continue;
    }
    found.push_back({sync.queue, sync.submission_number, sync.time_ns});
  }
  const auto same = [](const EmptySubmission& a, const EmptySubmission& b) {
    return a.queue == b.queue && a.number == b.number;
  };
  std::sort(found.begin(), found.end(), [](const EmptySubmission& a, const EmptySubmission& b) {
    return std::tuple(a.queue, a.number, a.time_ns) < std::tuple(b.queue, b.number, b.time_ns);
  });
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  std::stable_sort(
      found.begin(), found.end(),
      [](const EmptySubmission& a, const EmptySubmission& b) { return a.time_ns < b.time_ns; });
  return found;
}

}  // namespace cairn
