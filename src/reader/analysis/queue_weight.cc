// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/queue_weight.h"

#include <algorithm>

#include "format/block/marker_kinds.h"
#include "reader/analysis/failed_devices.h"
#include "reader/analysis/work_class.h"

namespace cairn {
namespace {

constexpr uint32_t kVendorNvidia = 0x10DE;
constexpr uint64_t kNsPerMs = 1'000'000;

// Returns, for each queue, if an unsatisfied wait waits for its signal.
std::vector<bool> FindWaitedFor(const Snapshot& snapshot, const WaitGraph& waits) {
  std::vector<bool> waited_for(snapshot.queues.size());
  for (const Wait& wait : waits.waits) {
    if (wait.state == WaitState::kSatisfied || wait.signal == kNone) continue;
    const uint32_t queue = snapshot.syncs[wait.signal].queue;
    if (queue != kNone) waited_for[queue] = true;
  }
  return waited_for;
}

// Returns, for each queue, if the driver's checkpoints show that it was at work.
std::vector<bool> FindOpenCheckpoints(const Snapshot& snapshot) {
  std::vector<const Checkpoint*> bottom(snapshot.queues.size());
  for (const Checkpoint& checkpoint : snapshot.checkpoints) {
    if (checkpoint.queue != kNone && checkpoint.stage == PipeStage::kBottom) {
      bottom[checkpoint.queue] = &checkpoint;
    }
  }
  std::vector<bool> open(snapshot.queues.size());
  for (const Checkpoint& top : snapshot.checkpoints) {
    if (top.queue == kNone || top.stage != PipeStage::kTop) continue;
    const Checkpoint* done = bottom[top.queue];
    open[top.queue] =
        done == nullptr || done->recording != top.recording || done->sequence != top.sequence;
  }
  return open;
}

// Returns, for each scope, if the driver named it by its EventID, or a scope around it. Empty if it
// named none.
std::vector<bool> FindReported(const Analysis& analysis) {
  std::vector<bool> reported;
  for (const uint32_t scope : analysis.reported_scopes) {
    if (scope == kNone) continue;
    reported.resize(analysis.scopes.size());
    reported[scope] = true;
  }
  if (reported.empty()) return reported;
  for (size_t i = 0; i < reported.size(); ++i) {
    const uint32_t parent = analysis.scopes[i].parent;
    if (parent != kNone && reported[parent]) reported[i] = true;
  }
  return reported;
}

// Returns, for each queue, if the watchdog saw it hang, or saw another queue of its device hang
// when this one had made no progress for at least half of that time: one fault may stop all queues,
// one a little before the other.
std::vector<bool> FindHung(const Snapshot& snapshot) {
  std::vector<bool> hung(snapshot.queues.size());
  std::vector<bool> seen(hung.size());
  for (const Incident& incident : snapshot.incidents) {
    if (incident.kind == IncidentKind::kHang && incident.queue < hung.size()) {
      hung[incident.queue] = seen[incident.queue] = true;
    }
  }
  const Process& process = snapshot.process;
  for (const Incident& incident : snapshot.incidents) {
    if (incident.kind != IncidentKind::kHang || incident.queue >= seen.size()) continue;
    const uint64_t at_ns = incident.time_ns - process.start_time_ns + process.start_monotonic_ns;
    const uint64_t half_ns =
        static_cast<uint64_t>(std::max<int64_t>(incident.value, 0)) * kNsPerMs / 2;
    for (size_t i = 0; i < hung.size(); ++i) {
      const Queue& queue = snapshot.queues[i];
      if (queue.device != snapshot.queues[incident.queue].device || queue.still_since_ns == 0)
        continue;
      if (queue.still_since_ns < at_ns && at_ns - queue.still_since_ns >= half_ns) hung[i] = true;
    }
  }
  return hung;
}

enum class Leading : uint8_t { kOther, kDispatch, kDraw };
Leading LeadingWorkOf(const Snapshot& snapshot, const Analysis& analysis,
                      const QueueVerdict& verdict) {
  for (const uint32_t candidate : verdict.candidates) {
    const Scope& scope = analysis.scopes[candidate];
    if (ClassOfScope(snapshot, scope) != WorkClass::kPipeline) continue;
    const uint32_t type = snapshot.events[scope.event].type;
    return IsDraw(type) ? Leading::kDraw : IsDispatch(type) ? Leading::kDispatch : Leading::kOther;
  }
  return Leading::kOther;
}

// Sets QueueWeight::draw_beside_dispatch, which separates queues with the same evidence.
void Separate(const Snapshot& snapshot, const Analysis& analysis,
              std::vector<QueueWeight>* weights) {
  std::vector<Leading> leading;
  leading.reserve(weights->size());
  for (const QueueVerdict& verdict : analysis.verdicts) {
    leading.push_back(LeadingWorkOf(snapshot, analysis, verdict));
  }
  for (size_t i = 0; i < weights->size(); ++i) {
    const uint32_t device = analysis.verdicts[i].device;
    if (device == kNone || leading[i] != Leading::kDraw ||
        snapshot.devices[device].vendor_id != kVendorNvidia) {
      continue;
    }
    QueueWeight& weight = (*weights)[i];
    for (size_t other = 0; other < weights->size() && !weight.draw_beside_dispatch; ++other) {
      weight.draw_beside_dispatch = analysis.verdicts[other].device == device &&
                                    leading[other] == Leading::kDispatch &&
                                    (*weights)[other].evidence == weight.evidence;
    }
  }
}

}  // namespace

uint32_t FirstUnfinished(const Analysis& analysis, const QueueVerdict& verdict) {
  uint32_t first = kNone;
  for (const uint32_t execution : verdict.candidate_executions) {
    first = std::min(first, analysis.executions[execution].submission);
  }
  for (const uint32_t execution : verdict.list_candidates) {
    first = std::min(first, analysis.executions[execution].submission);
  }
  return first;
}

std::vector<QueueWeight> WeighQueues(const Snapshot& snapshot, const Analysis& analysis,
                                     const WaitGraph& waits) {
  const std::vector<bool> hung = FindHung(snapshot);
  std::vector<bool> held(snapshot.queues.size());
  for (const QueueWaits& queue : waits.queues) {
    if (queue.queue != kNone) held[queue.queue] = queue.held;
  }
  const std::vector<bool> waited_for = FindWaitedFor(snapshot, waits);
  const std::vector<bool> open = FindOpenCheckpoints(snapshot);
  const std::vector<bool> reported = FindReported(analysis);
  const std::vector<bool> failed = FindFailedDevices(snapshot);
  std::vector<QueueWeight> weights(analysis.verdicts.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    QueueEvidence& evidence = weights[i].evidence;
    const QueueVerdict& verdict = analysis.verdicts[i];
    const uint32_t queue = verdict.queue;
    const bool names_candidate =
        !reported.empty() && std::any_of(verdict.candidates.begin(), verdict.candidates.end(),
                                         [&reported](uint32_t scope) { return reported[scope]; });
    if (!failed.empty() && verdict.device != kNone && !failed[verdict.device]) {
      evidence = QueueEvidence::kOtherDevice;
    } else if (verdict.ends_unseen) {
      evidence = QueueEvidence::kEndUnseen;
    } else if (queue != kNone && held[queue]) {
      evidence = QueueEvidence::kHeldBack;
    } else if (queue != kNone && hung[queue]) {
      evidence = QueueEvidence::kHang;
    } else if (names_candidate || (queue != kNone && open[queue])) {
      evidence = QueueEvidence::kDriver;
    } else if (queue != kNone && waited_for[queue]) {
      evidence = QueueEvidence::kWaitedFor;
    }
  }
  Separate(snapshot, analysis, &weights);
  return weights;
}

}  // namespace cairn
