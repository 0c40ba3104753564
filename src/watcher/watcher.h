// SPDX-License-Identifier: Apache-2.0
//
// The watcher's decisions about one process, without the process: observations go in, decisions
// come out. session.h hands in the observations and acts on the decisions.
//
//                  work without progress          ┌──────── progress or finished ───────┐
//   quiet ───────── for hang_timeout ───────▶ hang noticed (dump, perhaps kill) ────────┘
//     │                                             │
//     ├──── device lost reported (dump) ◀───────────┤
//     └──── process ended: by a signal (dump), exit (dump only on request and if nothing else was)
//
// The end comes before the watchdog's word: a process that is dying keeps a thread in its driver for as long
// as the GPU works, and is no hang.
#ifndef CAIRN_WATCHER_WATCHER_H_
#define CAIRN_WATCHER_WATCHER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/snapshot/snapshot.h"
#include "os/process.h"

namespace cairn {

struct WatchPolicy {
  uint64_t hang_timeout_ns = uint64_t{10} * 1'000'000'000;  // 0: hangs are never noticed
  bool kill_on_hang = false;
  bool dump_on_exit = false;
};

// One queue at one moment.
struct QueueObservation {
  uint32_t device = kNone;   // index into Snapshot::devices
  uint32_t queue = kNone;    // index into Snapshot::queues; kNone: lists registered without a queue
  bool unfinished = false;   // work was submitted or started, and is not proven finished
  uint64_t fingerprint = 0;  // differs when any progress word of the queue differs
};

// A queue with unfinished work, and since when (CLOCK_MONOTONIC) nothing was seen to move on it.
struct QueueStand {
  uint32_t queue = kNone;
  uint64_t since_ns = 0;
};

// The time after which the long death of a process is reported before it has ended.
inline constexpr uint64_t kLongEndNs = uint64_t{5} * 1'000'000'000;

// Notices queues that stand still with unfinished work.
class Watchdog {
 public:
  explicit Watchdog(uint64_t hang_timeout_ns) : hang_timeout_ns_(hang_timeout_ns) {}

  // Feeds the process's queues at `now_ns` (CLOCK_MONOTONIC, never decreasing). While a debugger or
  // job control holds the process it cannot make progress: every clock starts again. An ending
  // process does not hang, and Stands() stays true: a driver may take long to die, and its GPU work
  // stands still as before. Returns the queues that have stood still for the time-out now; each is
  // returned once until it makes progress again. The time between two calls counts at most twice
  // the poll interval, and `late_ns`, for which the watcher is known to have had other work: the
  // time when it was suspended itself counts against no queue.
  std::vector<uint32_t> Observe(uint64_t now_ns, std::span<const QueueObservation> queues,
                                ProcessCondition condition, uint64_t late_ns = 0);

  // Returns the interval between looks. A hang is noticed up to two intervals later than its
  // time-out: one until the standstill is first seen, one until the last look.
  uint64_t PollIntervalNs() const;
  // Returns the queues with unfinished work as of the last look. Empty with a time-out of 0.
  std::vector<QueueStand> Stands() const;
  bool HasUnfinishedWork() const { return !waits_.empty(); }
  // False with a time-out of 0: there is no reason to look at all.
  bool enabled() const { return hang_timeout_ns_ != 0; }

 private:
  struct Wait {
    uint32_t device = kNone;
    uint32_t queue = kNone;
    uint64_t fingerprint = 0;
    uint64_t since_ns = 0;  // first seen so; with the process stopped: last seen
    uint64_t last_seen_ns = 0;
    uint64_t stood_still_ns = 0;
    bool reported = false;
  };

  uint64_t hang_timeout_ns_;
  std::vector<Wait> waits_;
};

// The block's evidence of how its process ended.
struct EndEvidence {
  uint32_t crash_signal =
      0;  // seen by the library's own handler; or the code that the process exits with
  uint64_t crash_address = 0;
  bool work_unfinished = false;
  bool exit_unnoted = false;  // of an exit the block would say so, where the system does not
  // The whole exit code of a program of Windows, where the system has cut it.
  std::optional<uint32_t> exit_code;
};

// An incident as the watcher keeps it until it becomes part of a snapshot.
struct NoticedIncident {
  IncidentKind kind = IncidentKind::kNone;
  int64_t value = 0;
  uint64_t time_ns = 0;  // CLOCK_REALTIME
  uint32_t queue = kNone;
  uint64_t address = 0;
  std::string_view detail = {};  // Incident::detail; lives as long as the program
};

struct Decision {
  bool dump = false;
  bool kill = false;
  bool keep_state = false;  // what the block shows now is what is to be told of the end
  std::string what;  // with dump: what happened, continuing a sentence that starts with the program
};

class ProcessWatch {
 public:
  explicit ProcessWatch(const WatchPolicy& policy)
      : policy_(policy), watchdog_(policy.hang_timeout_ns) {}

  // `realtime_ns` stamps the incident, `now_ns` is the watchdog's clock. `condition` was looked at after
  // the queues. `late_ns` as in Observe.
  Decision OnProbe(uint64_t now_ns, uint64_t realtime_ns, std::span<const QueueObservation> queues,
                   ProcessCondition condition, uint64_t late_ns = 0);

  // SIGKILL was sent for a decision to kill.
  void OnKilled() { killed_for_hang_ = true; }
  // SIGKILL was sent because SIGTERM did not end it: its end counts as one by SIGTERM.
  void OnKilledForSigterm() { killed_for_sigterm_ = true; }

  // `device` is the context's index: each device is lost once, however often it is reported.
  Decision OnDeviceLost(uint64_t realtime_ns, uint32_t device, int32_t code);

  Decision OnEnd(uint64_t realtime_ns, ProcessEnd end, const EndEvidence& evidence);

  const std::vector<NoticedIncident>& incidents() const { return incidents_; }
  const Watchdog& watchdog() const { return watchdog_; }
  // Returns true if the watcher's own SIGKILL ended the process, or is about to.
  bool killed_for_hang() const { return killed_for_hang_; }

 private:
  Decision OnEnding(uint64_t now_ns, uint64_t realtime_ns, bool work_unfinished);

  WatchPolicy policy_;
  Watchdog watchdog_;
  std::vector<NoticedIncident> incidents_;
  std::vector<uint32_t> lost_devices_;
  bool killed_for_hang_ = false;
  bool killed_for_sigterm_ = false;
  bool ending_ = false;
  bool unfinished_when_ending_ = false;
  bool told_ending_ = false;  // an incident without a signal's number says so
  uint64_t ending_since_ns_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_WATCHER_WATCHER_H_
