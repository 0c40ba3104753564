// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/culprit.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/signal_name.h"
#include "reader/analysis/failed_devices.h"
#include "reader/analysis/slow_progress.h"
#include "reader/analysis/suspects.h"
#include "reader/analysis/unreported_fault.h"
#include "reader/analysis/work_class.h"

namespace cairn {
namespace {

// The reason why a queue, or the work behind it, does not proceed.
struct Standstill {
  FindingKind kind = FindingKind::kGpuHang;
  uint32_t cycle = kNone;
  uint32_t wait = kNone;
};

class CulpritFinder {
 public:
  CulpritFinder(const Snapshot& snapshot, const Analysis& analysis, const WaitGraph& waits,
                std::span<const RawMarkerVerdict> raw_verdicts, uint32_t device)
      : snapshot_(snapshot),
        analysis_(analysis),
        waits_(waits),
        raw_verdicts_(raw_verdicts),
        device_(device) {}

  CulpritFinding Run() {
    RankSuspects(snapshot_, analysis_, raw_verdicts_, WeighQueues(snapshot_, analysis_, waits_),
                 device_, &finding_);
    FindIncident();
    FindFault();
    if (finding_.kind == FindingKind::kGpuHang) ExplainHang();
    if (finding_.kind == FindingKind::kCpuFault) {
      finding_.crash = FindUnreturnedCall(snapshot_);
      finding_.crash_tables = FindBoundTables(snapshot_, finding_.crash);
    }
    if (finding_.kind == FindingKind::kKilled || finding_.kind == FindingKind::kExited ||
        finding_.kind == FindingKind::kNothingWrong) {
      LookForDeadlock();
    }
    if (finding_.kind == FindingKind::kDeadlock || finding_.kind == FindingKind::kEndlessWait) {
      const bool told = finding_.kind == FindingKind::kDeadlock ||
                        waits_.waits[finding_.wait].state == WaitState::kNeverSignalled;
      finding_.certainty = told ? Certainty::kProven : Certainty::kUnknown;
      finding_.suspects.clear();
    }
    if (finding_.certainty == Certainty::kNothingRunning &&
        (finding_.kind == FindingKind::kGpuFault || finding_.kind == FindingKind::kDeviceLost)) {
      FindLastCompleted();
    }
    if (NoticesFaultsLate()) finding_.certainty = Certainty::kLikely;
    if (finding_.suspects.empty() && finding_.certainty == Certainty::kUnknown) FindNextToBegin();
    finding_.slow = FindSlowProgress(snapshot_, analysis_, finding_);
    finding_.may_be_fault = MayBeUnreportedFault(snapshot_, analysis_, finding_);
    return std::move(finding_);
  }

 private:
  bool IsShown(uint32_t device) const { return device_ == kNone || device == device_; }
  // Returns true if the only suspect is not proven, since the device lets work end by its words that faulted.
  bool NoticesFaultsLate() const {
    if (finding_.certainty != Certainty::kProven || !HasCulpritWork(finding_.kind) ||
        finding_.suspects.empty()) {
      return false;
    }
    const uint32_t device = analysis_.verdicts[finding_.suspects.front().verdict].device;
    return device != kNone && !snapshot_.devices[device].notes.empty();
  }
  bool IsShownQueue(uint32_t queue) const {
    return queue < snapshot_.queues.size() && IsShown(snapshot_.queues[queue].device);
  }

  // The first that was noticed is the cause; what follows from it may be noticed later.
  void FindIncident() {
    for (uint32_t i = 0; i < snapshot_.incidents.size(); ++i) {
      const FindingKind kind = KindOf(snapshot_.incidents[i]);
      if (finding_.incident == kNone) finding_.incident = i;
      if (kind == FindingKind::kNothingWrong) continue;
      finding_.incident = i;
      finding_.kind = kind;
      return;
    }
  }

  FindingKind KindOf(const Incident& incident) const {
    switch (incident.kind) {
      case IncidentKind::kHang:
        return incident.queue == kNone || IsShownQueue(incident.queue) ? FindingKind::kGpuHang
                                                                       : FindingKind::kNothingWrong;
      case IncidentKind::kDeviceLost:
        return device_ == kNone || snapshot_.devices[device_].device_lost
                   ? FindingKind::kDeviceLost
                   : FindingKind::kNothingWrong;
      case IncidentKind::kSignal:
        if (incident.value == 0) return FindingKind::kExited;
        return IsSentFromOutside(incident.value) ? FindingKind::kKilled : FindingKind::kCpuFault;
      case IncidentKind::kExited:
        return finding_.suspects.empty() ? FindingKind::kNothingWrong : FindingKind::kExited;
      case IncidentKind::kNone:
      case IncidentKind::kRequested: break;
    }
    return FindingKind::kNothingWrong;
  }

  // Finds a fault. A program may die of the fault before it reports the loss, or hang with it.
  void FindFault() {
    for (const Fault& fault : snapshot_.faults) {
      if (fault.result < 0 || !IsShown(fault.device)) continue;
      for (uint32_t i = 0; i < fault.address_count; ++i) {
        const uint32_t address = fault.first_address + i;
        if (snapshot_.fault_addresses[address].type == FaultAddressType::kNone) continue;
        if (finding_.fault_address == kNone) finding_.fault_address = address;
      }
    }
    finding_.kernel_line = FindKernelFault(snapshot_, device_);
    if (finding_.fault_address != kNone || finding_.kernel_line != kNone) {
      finding_.kind = FindingKind::kGpuFault;
    }
  }

  const QueueWaits* WaitsOf(uint32_t queue) const {
    const auto found =
        std::find_if(waits_.queues.begin(), waits_.queues.end(),
                     [queue](const QueueWaits& waits) { return waits.queue == queue; });
    return found == waits_.queues.end() || queue == kNone ? nullptr : &*found;
  }

  // Along the waits that hold queues back, to what holds the last of them.
  Standstill WhyItStands(uint32_t queue) const {
    // Limit the steps, because a cycle would never end: no queue is met twice on a way that ends.
    for (size_t steps = 0; steps <= waits_.queues.size(); ++steps) {
      const QueueWaits* of_queue = WaitsOf(queue);
      if (of_queue == nullptr || !of_queue->held) return {};
      uint32_t next = kNone;
      for (uint32_t i = 0; i < of_queue->wait_count && next == kNone; ++i) {
        const uint32_t index = of_queue->first_wait + i;
        const Wait& wait = waits_.waits[index];
        switch (wait.state) {
          case WaitState::kSatisfied: continue;
          case WaitState::kDeadlock: return {FindingKind::kDeadlock, wait.cycle, index};
          case WaitState::kNeverSignalled:
          case WaitState::kUnknown: return {FindingKind::kEndlessWait, kNone, index};
          case WaitState::kWillBeSignalled:
          case WaitState::kBlocked: break;
        }
        if (wait.signal != kNone) next = snapshot_.syncs[wait.signal].queue;
        // The presentation engine is the one that does not signal.
        if (next == kNone) return {FindingKind::kEndlessWait, kNone, index};
      }
      queue = next;
    }
    return {FindingKind::kDeadlock, waits_.cycles.empty() ? kNone : 0, kNone};
  }

  // Hanging work goes before a wait: queues behind it wait as well, some of them forever.
  void ExplainHang() {
    Standstill found;
    uint32_t found_at = kNone;
    for (uint32_t i = finding_.incident; i < snapshot_.incidents.size(); ++i) {
      const Incident& incident = snapshot_.incidents[i];
      if (incident.kind != IncidentKind::kHang || !IsShownQueue(incident.queue)) continue;
      const Standstill why = WhyItStands(incident.queue);
      if (why.kind == FindingKind::kGpuHang) {
        finding_.incident = i;
        return;
      }
      if (found_at != kNone && found.kind == FindingKind::kDeadlock) continue;
      if (found_at != kNone && why.kind != FindingKind::kDeadlock) continue;
      found = why;
      found_at = i;
    }
    if (found_at == kNone) return;
    finding_.incident = found_at;
    finding_.kind = found.kind;
    finding_.cycle = found.cycle;
    finding_.wait = found.wait;
  }

  // A user who ends or dumps a program that hangs wants to know of a deadlock.
  void LookForDeadlock() {
    for (uint32_t i = 0; i < waits_.cycles.size(); ++i) {
      const uint32_t wait = waits_.cycles[i].front();
      if (!IsShownQueue(snapshot_.syncs[waits_.waits[wait].sync].queue)) continue;
      finding_.kind = FindingKind::kDeadlock;
      finding_.cycle = i;
      finding_.wait = wait;
      return;
    }
  }

  // Finds the last completed work of each queue: without work in flight, the lost or faulted device
  // can only have executed this.
  void FindLastCompleted() {
    std::vector<uint32_t> last(analysis_.verdicts.size(), kNone);
    for (uint32_t i = 0; i < analysis_.executions.size(); ++i) {
      const Execution& execution = analysis_.executions[i];
      if (execution.state != WorkState::kCompleted) continue;
      const uint32_t verdict = VerdictOfExecution(snapshot_, analysis_, execution);
      if (!IsShown(analysis_.verdicts[verdict].device)) continue;
      // A submission that is not known sorts first.
      const auto order = [this](uint32_t index) {
        return analysis_.executions[index].submission + 1;
      };
      if (last[verdict] == kNone || order(last[verdict]) <= order(i)) last[verdict] = i;
    }
    for (uint32_t i = 0; i < last.size(); ++i) {
      if (last[i] != kNone) finding_.last_completed.push_back({i, last[i], LastWorkOf(last[i])});
    }
    if (!finding_.last_completed.empty()) finding_.certainty = Certainty::kAllCompleted;
  }

  uint32_t LastWorkOf(uint32_t index) const {
    const Execution& execution = analysis_.executions[index];
    for (uint32_t i = execution.scope_count; i-- > 0;) {
      const uint32_t scope = execution.first_scope + i;
      if (ClassOfScope(snapshot_, analysis_.scopes[scope]) != WorkClass::kNoWork) return scope;
    }
    return kNone;
  }

  // Finds the first execution of each queue that was submitted and by its words has not begun. None
  // where the mode was off: there the words prove nothing.
  void FindNextToBegin() {
    std::vector<uint32_t> next(analysis_.verdicts.size(), kNone);
    std::vector<bool> mode_off(next.size());
    for (uint32_t i = 0; i < analysis_.executions.size(); ++i) {
      const Execution& execution = analysis_.executions[i];
      const bool waits = execution.state == WorkState::kNotStarted && execution.submission != kNone;
      if (!waits && execution.state != WorkState::kUnknown) continue;
      const uint32_t verdict = VerdictOfExecution(snapshot_, analysis_, execution);
      if (!waits) {
        mode_off[verdict] = true;
      } else if (next[verdict] == kNone ||
                 execution.submission < analysis_.executions[next[verdict]].submission) {
        next[verdict] = i;
      }
    }
    for (uint32_t i = 0; i < next.size(); ++i) {
      const QueueVerdict& verdict = analysis_.verdicts[i];
      const bool of_device = verdict.device != kNone && IsShown(verdict.device);
      if (verdict.unknown && of_device && !mode_off[i] && next[i] != kNone) {
        finding_.next_to_begin.push_back({i, next[i]});
      }
    }
  }

  const Snapshot& snapshot_;
  const Analysis& analysis_;
  const WaitGraph& waits_;
  std::span<const RawMarkerVerdict> raw_verdicts_;
  uint32_t device_;
  CulpritFinding finding_;
};

}  // namespace

const CandidateContext* FindContext(const Analysis& analysis, const SuspectWork& suspect) {
  const QueueVerdict& verdict = analysis.verdicts[suspect.verdict];
  const auto context = std::find_if(verdict.contexts.begin(), verdict.contexts.end(),
                                    [&](const CandidateContext& other) {
                                      return verdict.candidates[other.candidate] == suspect.scope;
                                    });
  return context == verdict.contexts.end() ? nullptr : &*context;
}

CulpritFinding FindCulprit(const Snapshot& snapshot, const Analysis& analysis,
                           const WaitGraph& waits, std::span<const RawMarkerVerdict> raw_verdicts,
                           uint32_t device) {
  return CulpritFinder(snapshot, analysis, waits, raw_verdicts, device).Run();
}

}  // namespace cairn
