// SPDX-License-Identifier: Apache-2.0
#include "watcher/watcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/signal_name.h"
#include "base/text.h"
#include "format/snapshot/incident_detail.h"
#include "os/child.h"

namespace cairn {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
// Hangs beyond these are not kept: a program that stops and goes on for days, or means to fill the
// watcher's memory. There is room for what ends it.
constexpr size_t kMaxHangs = 1000;

// Of abort(), where the C library of Windows does not fail fast.
constexpr int kAbortExitCode = 3;

// Returns the cause if this exit code of Windows means that the process died (base/signal_name.h),
// else nullopt.
std::optional<int64_t> CauseBehindCode(int code, const EndEvidence& evidence, bool unfinished) {
  if (code == kAbortExitCode && evidence.crash_signal == kSignalAbort) return kSignalAbort;
  if (!evidence.exit_unnoted) return std::nullopt;
  // Wine gives this code to a process without stack.
  if (code == 0 && evidence.crash_signal == kStackOverflow) return kStackOverflow;
  // Some programs exit by TerminateProcess, which skips the destructors.
  if (code == 0 && !unfinished) return std::nullopt;
  return TerminatedWith(code);
}

// Returns the cause of a process's death, 0 if unknown; nullopt if it exited. `unfinished`: it had
// unfinished GPU work.
std::optional<int64_t> CauseOf(const ProcessEnd& end, const EndEvidence& evidence,
                               bool unfinished) {
  // The bits of an exception are those of a negative number.
  if (end.kind == EndKind::kSignalled) return static_cast<uint32_t>(end.value);
  if (end.kind == EndKind::kExited && end.whole_code) {
    return CauseBehindCode(end.value, evidence, unfinished);
  }
  if (end.kind == EndKind::kExited) return std::nullopt;
  if (evidence.crash_signal != 0) return evidence.crash_signal;
  return unfinished ? std::optional<int64_t>(0) : std::nullopt;
}

// Continues a sentence that starts with the program.
std::string DeathInWords(int64_t died_of) {
  if (died_of == 0) return "ended with GPU work unfinished";
  if (IsRequestToEnd(died_of)) return fmt::format("was ended by {}", SignalInWords(died_of));
  std::string words = fmt::format("died with {}", SignalInWords(died_of));
  if (died_of == kSignalKill) words += ", which Cairn did not send";
  if (IsTermination(died_of)) words += ", which Cairn did not call";
  return words;
}

bool AnyUnfinished(std::span<const QueueObservation> queues) {
  return std::any_of(queues.begin(), queues.end(),
                     [](const QueueObservation& queue) { return queue.unfinished; });
}

}  // namespace

std::vector<uint32_t> Watchdog::Observe(uint64_t now_ns, std::span<const QueueObservation> queues,
                                        ProcessCondition condition, uint64_t late_ns) {
  const uint64_t longest_step_ns = 2 * PollIntervalNs() + late_ns;
  std::vector<uint32_t> hung;
  std::vector<Wait> still_waiting;
  for (const QueueObservation& seen : queues) {
    if (!enabled() || !seen.unfinished) continue;
    Wait wait{seen.device, seen.queue, seen.fingerprint, now_ns, now_ns, 0, false};
    const auto before = std::find_if(waits_.begin(), waits_.end(), [&seen](const Wait& known) {
      return known.device == seen.device && known.queue == seen.queue &&
             known.fingerprint == seen.fingerprint;
    });
    if (before != waits_.end()) {
      wait.reported = before->reported;
      if (condition != ProcessCondition::kStopped) wait.since_ns = before->since_ns;
      if (condition == ProcessCondition::kRunning) {
        wait.stood_still_ns =
            before->stood_still_ns + std::min(now_ns - before->last_seen_ns, longest_step_ns);
      }
    }
    if (!wait.reported && wait.stood_still_ns >= hang_timeout_ns_) {
      wait.reported = true;
      hung.push_back(seen.queue);
    }
    still_waiting.push_back(wait);
  }
  waits_ = std::move(still_waiting);
  return hung;
}

std::vector<QueueStand> Watchdog::Stands() const {
  std::vector<QueueStand> stands;
  for (const Wait& wait : waits_) {
    if (wait.queue != kNone) stands.push_back({wait.queue, wait.since_ns});
  }
  return stands;
}

uint64_t Watchdog::PollIntervalNs() const {
  return std::clamp<uint64_t>(hang_timeout_ns_ / 10, kMillisecond, 100 * kMillisecond);
}

Decision ProcessWatch::OnProbe(uint64_t now_ns, uint64_t realtime_ns,
                               std::span<const QueueObservation> queues, ProcessCondition condition,
                               uint64_t late_ns) {
  Decision decision;
  const std::vector<uint32_t> hung = watchdog_.Observe(now_ns, queues, condition, late_ns);
  if (condition == ProcessCondition::kEnding) {
    return OnEnding(now_ns, realtime_ns, AnyUnfinished(queues));
  }
  if (hung.empty() || incidents_.size() >= kMaxHangs) return decision;
  for (const uint32_t queue : hung) {
    if (incidents_.size() >= kMaxHangs) break;
    incidents_.push_back({.kind = IncidentKind::kHang,
                          .value = static_cast<int64_t>(policy_.hang_timeout_ns / kMillisecond),
                          .time_ns = realtime_ns,
                          .queue = queue,
                          .detail = policy_.kill_on_hang ? kKillOnHangDetail : ""});
  }
  decision.dump = true;
  decision.kill = policy_.kill_on_hang;
  decision.what = fmt::format("hangs: GPU work made no progress for {}",
                              SecondsInWords(policy_.hang_timeout_ns));
  return decision;
}

Decision ProcessWatch::OnEnding(uint64_t now_ns, uint64_t realtime_ns, bool work_unfinished) {
  Decision decision;
  if (!ending_) {
    ending_ = true;
    ending_since_ns_ = now_ns;
    unfinished_when_ending_ = work_unfinished;
    // The GPU may finish while the process dies, and nothing else in the block changes any more.
    decision.keep_state = work_unfinished;
  }
  if (!unfinished_when_ending_ || told_ending_ || killed_for_hang_ ||
      now_ns - ending_since_ns_ < kLongEndNs) {
    return decision;
  }
  told_ending_ = true;
  incidents_.push_back({.kind = IncidentKind::kSignal, .value = 0, .time_ns = realtime_ns});
  decision.dump = true;
  decision.what =
      fmt::format("is ending, and after {} still inside a driver", SecondsInWords(kLongEndNs));
  return decision;
}

Decision ProcessWatch::OnDeviceLost(uint64_t realtime_ns, uint32_t device, int32_t code) {
  Decision decision;
  if (std::find(lost_devices_.begin(), lost_devices_.end(), device) != lost_devices_.end()) {
    return decision;
  }
  lost_devices_.push_back(device);
  decision.dump = true;
  decision.what =
      fmt::format("lost its device (code {}, {:#010x})", code, static_cast<uint32_t>(code));
  incidents_.push_back({.kind = IncidentKind::kDeviceLost, .value = code, .time_ns = realtime_ns});
  return decision;
}

Decision ProcessWatch::OnEnd(uint64_t realtime_ns, ProcessEnd end, const EndEvidence& evidence) {
  Decision decision;
  // For a program under Wine the system truncates the code, or has none.
  if (evidence.exit_code.has_value() && end.kind != EndKind::kSignalled) {
    end = EndOfExitCode(*evidence.exit_code);
  }
  if (killed_for_hang_) {
    killed_for_hang_ = end.kind == EndKind::kUnknown || WasKilled(end) ||
                       (end.kind == EndKind::kSignalled && end.value == kSignalKill);
    // The file holds the hang; the watcher's own kill is no further incident.
    if (killed_for_hang_) return decision;
  }
  // Only this watcher kills with that code, and it did not: a launcher passes on the code that it
  // got.
  if (end.kind == EndKind::kSignalled && static_cast<uint32_t>(end.value) == kKilledByCairn) {
    end.kind = EndKind::kExited;
  }
  if (killed_for_sigterm_ && end.kind == EndKind::kSignalled && end.value == kSignalKill) {
    end.value = kSignalTerminate;
  }
  // How it really ended is known now.
  if (told_ending_) {
    std::erase_if(incidents_, [](const NoticedIncident& incident) {
      return incident.kind == IncidentKind::kSignal && incident.value == 0;
    });
  }
  const bool unfinished = evidence.work_unfinished || unfinished_when_ending_;
  const std::optional<int64_t> died_of = CauseOf(end, evidence, unfinished);
  // Programs end their children so, and people programs that they are done with: nothing went wrong.
  if (died_of.has_value() && IsRequestToEnd(*died_of) && !unfinished && incidents_.empty() &&
      evidence.crash_signal == 0 && !policy_.dump_on_exit) {
    return decision;
  }
  if (!died_of.has_value()) {
    // The state at an earlier incident is worth more than the state after an orderly exit.
    if (!policy_.dump_on_exit || !incidents_.empty()) return decision;
    const int code = end.kind == EndKind::kExited ? end.value : 0;
    decision.what = fmt::format("exited with code {}", code);
    incidents_.push_back({.kind = IncidentKind::kExited, .value = code, .time_ns = realtime_ns});
  } else {
    decision.what = DeathInWords(*died_of);
    incidents_.push_back(
        {.kind = IncidentKind::kSignal,
         .value = *died_of,
         .time_ns = realtime_ns,
         .address = *died_of == evidence.crash_signal ? evidence.crash_address : 0});
  }
  decision.dump = true;
  return decision;
}

}  // namespace cairn
