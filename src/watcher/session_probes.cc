// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "watcher/session.h"

namespace cairn {

// Warns once. Otherwise a user who asked to kill a hung program would wait in vain.
void WatchSession::SayIfHangsCannotBeNoticed(const Process& process) {
  if (!settings_.policy.kill_on_hang || said_without_words_ || !process.block.IsWithoutWords()) {
    return;
  }
  said_without_words_ = true;
  lines_.Warn(fmt::format(
      "cairn: a hang of {} cannot be noticed: the GPU writes no progress words for it "
      "(--breadcrumbs "
      "off, or Direct3D 11 on anything but DXVK); --kill-on-hang has no effect. End it with ^C: "
      "the "
      "report then shows the submission that did not end",
      process.program));
}

// Probes cheap blocks first, for a limited time, so that messages and signals do not wait: a slow
// block does not delay the noticing of another program's hang.
void WatchSession::ProbeThoseDue() {
  const uint64_t begun_ns = system_.MonotonicNs();
  due_.clear();
  for (const auto& [number, process] : processes_) {
    if (process->alive() && process->killed_at_ns == kNever && process->next_probe_ns <= begun_ns) {
      due_.push_back(process.get());
    }
  }
  if (due_.empty()) return;
  std::stable_sort(due_.begin(), due_.end(), [](const Process* one, const Process* other) {
    return one->probe_cost_ns < other->probe_cost_ns;
  });
  for (Process* const process : due_) {
    Probe(*process);
    if (system_.MonotonicNs() - begun_ns >= kAtOnceNs) break;
  }
  BoundProbes();
}

void WatchSession::Probe(Process& process) {
  SayIfHangsCannotBeNoticed(process);
  const uint64_t now_ns = system_.MonotonicNs();
  const std::vector<QueueObservation> queues = process.block.ObserveQueues();
  const ProcessCondition condition = system_.ConditionOf(process.number);
  process.probe_cost_ns = system_.MonotonicNs() - now_ns;
  // Time in which this process had other work counts as waited for: only that in which it stood still does not.
  const uint64_t late_ns = process.probe_late_ns + (busy_ns_ - process.busy_seen_ns);
  process.busy_seen_ns = busy_ns_;
  const uint64_t interval_ns = process.watch.watchdog().PollIntervalNs();
  const auto probed = static_cast<uint64_t>(
      std::count_if(processes_.begin(), processes_.end(),
                    [](const auto& each) { return each.second->next_probe_ns != kNever; }));
  const uint64_t share_ns = process.probe_cost_ns * kShareOfTime * probed;
  process.probe_late_ns = share_ns - std::min(share_ns, interval_ns);
  process.next_probe_ns = now_ns + std::max(interval_ns, share_ns);
  CarryOut(process,
           process.watch.OnProbe(now_ns, system_.RealtimeNs(), queues, condition, late_ns));
}

void WatchSession::BoundProbes() {
  if (system_.SharedBytesInUse() > kMostResidentBytes) {
    for (const auto& [number, process] : processes_) process->block.ForgetPages();
  }
  for (;;) {
    uint64_t bytes = 0;
    Process* most = nullptr;
    for (const auto& [number, process] : processes_) {
      const uint64_t its_bytes = process->block.ProbeBytes();
      bytes += its_bytes;
      if (its_bytes != 0 && (most == nullptr || its_bytes > most->block.ProbeBytes())) {
        most = process.get();
      }
    }
    if (bytes <= kMostProbeBytes || most == nullptr) return;
    most->block.StopProbing();
    most->next_probe_ns = kNever;
    if (std::exchange(said_not_probed_, true)) continue;
    lines_.Warn(
        fmt::format("cairn: hangs of {} (process {}) are no longer noticed: to look at all "
                    "processes takes more "
                    "memory than cairn may use ({} MiB), and this one takes the most",
                    most->program, most->id, kMostProbeBytes >> 20));
  }
}

// The report then shows the state at the end.
void WatchSession::BoundKeptStates(Process& newest) {
  uint64_t bytes = 0;
  for (const auto& [number, process] : processes_) bytes += process->block.KeptBytes();
  if (bytes > kMostKeptBytes) newest.block.ForgetKeptState();
}

}  // namespace cairn
