// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/usual_duration.h"

#include <algorithm>
#include <vector>

#include "reader/analysis/monotonic_time.h"

namespace cairn {
namespace {

constexpr uint64_t kWithoutPipeline = 1;  // bit of SubmissionEnd::pipelines

// The lists that were submitted together.
struct Together {
  uint64_t number = 0;
  uint64_t made_ns = 0;
  uint64_t ended_ns = 0;  // 0: not seen
  uint64_t pipelines = 0;
};

// Returns the submissions of a queue, in their order.
std::vector<Together> SubmissionsOf(const Snapshot& snapshot, uint32_t queue) {
  std::vector<Together> all;
  auto end = snapshot.submission_ends.begin();
  for (const Submission& submission : snapshot.submissions) {
    while (end != snapshot.submission_ends.end() && end->serial < submission.serial) ++end;
    if (submission.queue != queue) continue;
    if (all.empty() || all.back().number != submission.number) {
      all.push_back({submission.number, submission.time_ns, 0, 0});
    }
    if (end == snapshot.submission_ends.end() || end->serial != submission.serial) continue;
    all.back().ended_ns = std::max(all.back().ended_ns, end->ended_ns);
    all.back().pipelines |= end->pipelines;
  }
  return all;
}

uint64_t MomentOf(const Snapshot& snapshot, const CulpritFinding& finding) {
  const uint64_t incident_ns =
      finding.incident == kNone ? 0 : snapshot.incidents[finding.incident].time_ns;
  const Process& process = snapshot.process;
  return MonotonicOf(process, incident_ns != 0 ? incident_ns : process.snapshot_time_ns);
}

}  // namespace

UsualDuration FindUsualDuration(const Snapshot& snapshot, const Analysis& analysis,
                                const CulpritFinding& finding) {
  if (finding.suspects.empty() || snapshot.submission_ends.empty()) return {};
  const uint32_t execution = finding.suspects.front().execution;
  if (execution == kNone || analysis.executions[execution].submission == kNone) return {};
  const Submission& in_question = snapshot.submissions[analysis.executions[execution].submission];
  if (in_question.queue == kNone) return {};
  const std::vector<Together> all = SubmissionsOf(snapshot, in_question.queue);
  const auto it = std::find_if(all.begin(), all.end(), [&](const Together& together) {
    return together.number == in_question.number;
  });
  if (it == all.end() || it->ended_ns != 0 || (it->pipelines & ~kWithoutPipeline) == 0) return {};
  std::vector<uint64_t> durations;
  uint64_t before_ended_ns = 0;
  for (auto one = all.begin(); one != it; ++one) {
    const uint64_t begun_ns = std::max(one->made_ns, before_ended_ns);
    if (one->ended_ns >= begun_ns && one->pipelines == it->pipelines) {
      durations.push_back(one->ended_ns - begun_ns);
    }
    before_ended_ns = std::max(before_ended_ns, one->ended_ns);
  }
  const uint64_t begun_ns = std::max(it->made_ns, before_ended_ns);
  const uint64_t now_ns = MomentOf(snapshot, finding);
  if (durations.empty() || now_ns < begun_ns) return {};
  std::sort(durations.begin(), durations.end());
  return {execution, now_ns - begun_ns, static_cast<uint32_t>(durations.size()),
          durations[durations.size() / 2], durations.back()};
}

}  // namespace cairn
