// SPDX-License-Identifier: Apache-2.0
//
// One play in a child process that may hang, die, and take its GPU context with it. The parent loads no
// graphics library and stays as it was; it kills a child that makes no progress.
//
//   const Result<ProbeRun> run = RunProbe(limits, [&](ProbeTelling& telling) {
//     ... telling.At(call) before each call ...; telling.End(ProbeEnd::kFinished);
//   });
//
// The child is a fork of this process without exec: the caller has no other threads. It has no terminal
// of its own: what drivers print goes nowhere.
#ifndef CAIRN_REPLAY_PROBE_PROCESS_H_
#define CAIRN_REPLAY_PROBE_PROCESS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace cairn {

enum class ProbeEnd : uint32_t {
  kNone = 0,      // the child said nothing
  kFinished = 1,  // everything ran
  kHang = 2,      // the child, or the watchdog: no progress
  kLost = 3,      // the device is lost
  kRefused = 4,   // the device refused a call
  kError = 5,     // nothing to do with the trace: no library, an unreadable file
  kNoDevice = 6,  // no device could be made: after a hang that may be so for seconds
  kDied = 7,      // a signal, or an exit without a word
};

// What the child says, in memory that outlives it. Written by the child, so hostile to the parent.
class ProbeTelling {
 public:
  static constexpr size_t kMaxMessageBytes = 1000;

  // Before each call.
  void At(uint64_t call) {
    call_.store(call, std::memory_order_relaxed);
    Step();
  }
  // Before all else that is done, too: this is what the watchdog takes for progress. One store.
  void Step() {
    steps_.store(steps_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // The last word. A message that is too long is cut.
  void End(ProbeEnd end, std::string_view message = "");

  uint64_t call() const { return call_.load(std::memory_order_relaxed); }
  uint64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  ProbeEnd end() const;         // kNone for whatever is none of them
  std::string message() const;  // "" before End

 private:
  std::atomic<uint64_t> call_{0};
  std::atomic<uint64_t> steps_{0};
  std::atomic<uint32_t> end_{0};
  std::atomic<uint32_t> message_bytes_{0};
  char message_[kMaxMessageBytes] = {};
};

struct ProbeLimits {
  // The watchdog: so long without Step() is a hang. 0: for ever.
  uint64_t stall_timeout_ns = uint64_t{30} * 1'000'000'000;
  // How long a killed child may take to go: a process that is stuck in a kernel driver does not.
  uint64_t kill_timeout_ns = uint64_t{30} * 1'000'000'000;
  // Asked several times a second, and after signals: false kills the child. Empty: always true.
  std::function<bool()> keep_on;
};

struct ProbeRun {
  ProbeEnd end = ProbeEnd::kNone;
  bool interrupted = false;  // the child was killed because keep_on said so
  int signal = 0;            // kDied: what killed it; 0: it exited by itself
  uint64_t call = 0;         // the last one that the child said it was at
  std::string message;       // of the child, one line
  uint64_t duration_ns = 0;
};

// `body` runs in the child, which exits when it returns, without destructors of globals: those of
// drivers may wait for a GPU that hangs. An exception in it is kError.
// Errors: kIo (no process), kUnsupported (the child cannot be killed).
Result<ProbeRun> RunProbe(const ProbeLimits& limits,
                          const std::function<void(ProbeTelling&)>& body);

}  // namespace cairn

#endif  // CAIRN_REPLAY_PROBE_PROCESS_H_
