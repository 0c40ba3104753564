// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/usual_duration.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cairn/marker_types.h"

#include "reader/analysis/monotonic_time.h"

namespace cairn {
namespace {

constexpr uint64_t kWithoutPipeline = 1;  // bit of SubmissionEnd::pipelines
constexpr uint32_t kLabelsTried = 8;      // from the inside out; each costs a walk over all scopes

// The lists that were submitted together.
struct Together {
  uint64_t number = 0;
  uint64_t made_ns = 0;
  uint64_t ended_ns = 0;  // 0: not seen
  uint64_t pipelines = 0;
  // The later of two moments: when they were made, and when the ones before them were seen to have ended.
  uint64_t begun_ns = 0;
};

// Returns the submissions of a queue, in their order.
std::vector<Together> SubmissionsOf(const Snapshot& snapshot, uint32_t queue) {
  std::vector<Together> all;
  auto end = snapshot.submission_ends.begin();
  for (const Submission& submission : snapshot.submissions) {
    while (end != snapshot.submission_ends.end() && end->serial < submission.serial) ++end;
    if (submission.queue != queue) continue;
    if (all.empty() || all.back().number != submission.number) {
      all.push_back({submission.number, submission.time_ns});
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

// The submission of the first suspect among those of its queue.
struct InQuestion {
  uint32_t execution = kNone;  // kNone: it is not known, or it has ended
  uint32_t queue = kNone;
  std::vector<Together> all;
  size_t place = 0;  // in `all`
  uint64_t begun_ns = 0;
  uint64_t now_ns = 0;  // the moment of the incident
};

InQuestion FindInQuestion(const Snapshot& snapshot, const Analysis& analysis,
                          const CulpritFinding& finding) {
  if (finding.suspects.empty() || snapshot.submission_ends.empty()) return {};
  InQuestion found;
  const uint32_t execution = finding.suspects.front().execution;
  if (execution == kNone || analysis.executions[execution].submission == kNone) return {};
  const Submission& submission = snapshot.submissions[analysis.executions[execution].submission];
  if (submission.queue == kNone) return {};
  found.queue = submission.queue;
  found.all = SubmissionsOf(snapshot, submission.queue);
  uint64_t before_ended_ns = 0;
  for (; found.place < found.all.size(); ++found.place) {
    Together& one = found.all[found.place];
    one.begun_ns = std::max(one.made_ns, before_ended_ns);
    if (one.number == submission.number) break;
    before_ended_ns = std::max(before_ended_ns, one.ended_ns);
  }
  if (found.place == found.all.size() || found.all[found.place].ended_ns != 0) return {};
  found.begun_ns = found.all[found.place].begun_ns;
  found.now_ns = MomentOf(snapshot, finding);
  if (found.now_ns < found.begun_ns) return {};
  found.execution = execution;
  return found;
}

// Finds the count, the median and the longest duration of those before that are alike; false if there are none.
template <typename IsAlike, typename Found>
bool MeasureBefore(const InQuestion& question, const IsAlike& is_alike, Found* found) {
  std::vector<uint64_t> durations;
  for (size_t i = 0; i < question.place; ++i) {
    const Together& one = question.all[i];
    if (one.ended_ns >= one.begun_ns && is_alike(one)) {
      durations.push_back(one.ended_ns - one.begun_ns);
    }
  }
  if (durations.empty()) return false;
  std::sort(durations.begin(), durations.end());
  found->count = static_cast<uint32_t>(durations.size());
  found->median_ns = durations[durations.size() / 2];
  found->longest_ns = durations.back();
  return true;
}

bool IsLabel(const Snapshot& snapshot, const Scope& scope) {
  const Event& event = snapshot.events[scope.event];
  return event.type == CAIRN_MARKER_PASS && !event.name.empty();
}

// Hashes of the paths of labels, each up to and with this scope's; digits of names do not count.
class LabelPaths {
 public:
  LabelPaths(const Snapshot& snapshot, const Analysis& analysis)
      : snapshot_(snapshot), analysis_(analysis), hashes_(analysis.scopes.size()) {}

  // Of the scopes of an execution, and again for nothing.
  void Read(const Execution& execution) {
    for (uint32_t i = 0; i < execution.scope_count; ++i) {
      const Scope& scope = analysis_.scopes[execution.first_scope + i];
      uint64_t hash = scope.parent == kNone ? kStart : hashes_[scope.parent];
      if (IsLabel(snapshot_, scope)) {
        hash = Mix(hash, '/');
        for (const char c : snapshot_.Text(snapshot_.events[scope.event].name)) {
          if (c < '0' || c > '9') hash = Mix(hash, static_cast<unsigned char>(c));
        }
      }
      hashes_[execution.first_scope + i] = hash;
    }
  }
  uint64_t Of(uint32_t scope) const { return hashes_[scope]; }

  bool Has(const Execution& execution, uint64_t hash) {
    Read(execution);
    const auto first = hashes_.begin() + execution.first_scope;
    return std::find(first, first + execution.scope_count, hash) != first + execution.scope_count;
  }

 private:
  // FNV-1a.
  static constexpr uint64_t kStart = 0xCBF29CE484222325;
  static uint64_t Mix(uint64_t hash, unsigned char byte) { return (hash ^ byte) * 0x100000001B3; }

  const Snapshot& snapshot_;
  const Analysis& analysis_;
  std::vector<uint64_t> hashes_;  // by scope
};

// The numbers of the submissions of a queue that have a list with this path.
std::unordered_set<uint64_t> SubmissionsWith(const Snapshot& snapshot, const Analysis& analysis,
                                             uint32_t queue, uint64_t hash, LabelPaths* paths) {
  std::unordered_set<uint64_t> numbers;
  std::unordered_map<uint32_t, bool> known;  // by first scope
  for (const Execution& execution : analysis.executions) {
    if (execution.submission == kNone || execution.scope_count == 0) continue;
    const Submission& submission = snapshot.submissions[execution.submission];
    if (submission.queue != queue) continue;
    const auto [has, is_new] = known.try_emplace(execution.first_scope, false);
    if (is_new) has->second = paths->Has(execution, hash);
    if (has->second) numbers.insert(submission.number);
  }
  return numbers;
}

// How long the suspect has run at least: nothing of its queue was seen to move since.
uint64_t RunningFor(const Snapshot& snapshot, const CulpritFinding& finding,
                    const InQuestion& question) {
  const uint64_t since_ns = snapshot.queues[question.queue].still_since_ns;
  // What a fault stopped was noticed later.
  if (finding.kind != FindingKind::kGpuHang || since_ns == 0 ||
      finding.suspects.front().reason != SuspectReason::kOnlyWorkRunning) {
    return 0;
  }
  return question.now_ns - std::min(question.now_ns, std::max(since_ns, question.begun_ns));
}

}  // namespace

UsualDuration FindUsualDuration(const Snapshot& snapshot, const Analysis& analysis,
                                const CulpritFinding& finding) {
  const InQuestion question = FindInQuestion(snapshot, analysis, finding);
  if (question.execution == kNone) return {};
  const uint64_t pipelines = question.all[question.place].pipelines;
  if ((pipelines & ~kWithoutPipeline) == 0) return {};
  UsualDuration found;
  if (!MeasureBefore(
          question, [=](const Together& one) { return one.pipelines == pipelines; }, &found)) {
    return {};
  }
  found.execution = question.execution;
  found.unfinished_ns = question.now_ns - question.begun_ns;
  return found;
}

LabelDuration FindLabelDuration(const Snapshot& snapshot, const Analysis& analysis,
                                const CulpritFinding& finding) {
  const InQuestion question = FindInQuestion(snapshot, analysis, finding);
  if (question.execution == kNone) return {};
  LabelPaths paths(snapshot, analysis);
  paths.Read(analysis.executions[question.execution]);
  uint32_t tried = 0;
  for (uint32_t label = finding.suspects.front().scope; label != kNone && tried < kLabelsTried;
       label = analysis.scopes[label].parent) {
    if (!IsLabel(snapshot, analysis.scopes[label])) continue;
    ++tried;
    const std::unordered_set<uint64_t> numbers =
        SubmissionsWith(snapshot, analysis, question.queue, paths.Of(label), &paths);
    LabelDuration found;
    if (!MeasureBefore(
            question, [&](const Together& one) { return numbers.contains(one.number); }, &found)) {
      continue;
    }
    found.scope = label;
    found.running_ns = RunningFor(snapshot, finding, question);
    return found;
  }
  return {};
}

}  // namespace cairn
