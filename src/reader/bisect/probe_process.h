// SPDX-License-Identifier: Apache-2.0
//
// One play in a child process that may hang, die, and take its GPU context with it. The parent loads no
// graphics library and stays as it was; it kills a child that makes no progress.
//
//   const Result<ProbeRun> run = RunProbe(limits, {"probe"}, question);
//
// runs this program again with the word "probe", on which it calls
//
//   AnswerProbe([](std::span<const std::byte> question, ProbeTelling& telling) {
//     ... telling.At(call) before each call ...; telling.End(ProbeEnd::kFinished);
//   });
//
// The child has no terminal of its own: what drivers print goes nowhere.
#ifndef CAIRN_READER_BISECT_PROBE_PROCESS_H_
#define CAIRN_READER_BISECT_PROBE_PROCESS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "reader/replay/device.h"

namespace cairn {

enum class ProbeEnd : uint32_t {
  kNone = 0,      // the child said nothing
  kFinished = 1,  // everything ran
  kHang = 2,      // the child, or the watchdog: no progress
  kLost = 3,      // the device is lost
  kRefused = 4,   // the device refused a call
  kError = 5,     // nothing to do with the trace: no library, an unreadable file
  kNoDevice = 6,  // no device could be made: after a hang that may be so for seconds
  kUnclear = 7,   // something odd came between: says nothing, asked again
  kDied = 8,      // a signal, or an exit without a word
};

// A text in memory that outlives its writer. What is too long is cut.
class ProbeText {
 public:
  static constexpr size_t kMaxBytes = 1000;

  void Set(std::string_view text) {
    bytes_.store(0, std::memory_order_relaxed);
    Append(text, "");
  }
  // Behind `between`, if there is something already.
  void Append(std::string_view text, std::string_view between);
  std::string Get() const;  // one line, made visible

 private:
  std::atomic<uint32_t> bytes_{0};
  char text_[kMaxBytes] = {};
};

// What the child says, in memory that outlives it. Written by the child, so hostile to the parent.
class ProbeTelling {
 public:
  // Before each call.
  void At(uint64_t call) {
    call_.store(call, std::memory_order_relaxed);
    Step();
  }
  // Before all else that is done, too: this is what the watchdog takes for progress. One store.
  void Step() {
    steps_.store(steps_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // On which device, and what the play cannot do as it was recorded: told when it is known, for the child may
  // die.
  void On(const DeviceFacts& device);
  void LeaveOut(std::string_view note) { left_out_.Append(note, "; "); }
  // So many calls were left out, in all.
  void Skipped(uint64_t calls) { skipped_.store(calls, std::memory_order_relaxed); }
  // The submission that took longest, of those that ended.
  void Slowest(uint64_t call, uint64_t duration_ns) {
    slowest_call_.store(call, std::memory_order_relaxed);
    slowest_ns_.store(duration_ns, std::memory_order_relaxed);
  }
  // The last word.
  void End(ProbeEnd end, std::string_view message = "");

  uint64_t call() const { return call_.load(std::memory_order_relaxed); }
  uint64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  ProbeEnd end() const;         // kNone for whatever is none of them
  std::string message() const;  // "" before End
  std::string left_out() const { return left_out_.Get(); }
  uint32_t devices() const { return devices_.load(std::memory_order_acquire); }
  DeviceFacts device() const {
    return {name_.Get(), driver_.Get(), library_.Get(), library_paths_.Get()};
  }
  uint64_t skipped() const { return skipped_.load(std::memory_order_relaxed); }
  uint64_t slowest_call() const { return slowest_call_.load(std::memory_order_relaxed); }
  uint64_t slowest_ns() const { return slowest_ns_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> call_{0};
  std::atomic<uint64_t> steps_{0};
  std::atomic<uint32_t> end_{0};
  ProbeText message_;
  ProbeText left_out_;
  std::atomic<uint32_t> devices_{0};
  ProbeText name_;
  ProbeText driver_;
  ProbeText library_;
  ProbeText library_paths_;
  std::atomic<uint64_t> skipped_{0};
  std::atomic<uint64_t> slowest_call_{0};
  std::atomic<uint64_t> slowest_ns_{0};
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
  bool interrupted = false;   // the child was killed because keep_on said so
  int signal = 0;             // kDied: of what (os/child.h, CauseOfDeath); 0: it exited by itself
  uint64_t call = 0;          // the last one that the child said it was at
  std::string message;        // of the child, one line
  uint32_t devices = 0;       // so many were made
  DeviceFacts device;         // the last one
  std::string left_out;       // what could not be played as it was recorded; "" for nothing
  uint64_t skipped = 0;       // calls that were left out, of a play that came to its end
  uint64_t slowest_call = 0;  // the submission that took longest, of those that ended; 0: not told
  uint64_t slowest_ns = 0;
  uint64_t duration_ns = 0;
};

// What the child said, checked; its end is that of a child that went by itself.
ProbeRun ReadTelling(const ProbeTelling& telling);

// Runs this program again with the words `arguments`, for which it calls AnswerProbe and gets `question` there.
// An end that the system does not tell is kUnclear, whatever the child said: a thread of a driver may have
// died after that.
// Errors: kIo (no process), kUnsupported (the child cannot be killed).
Result<ProbeRun> RunProbe(const ProbeLimits& limits, const std::vector<std::string>& arguments,
                          std::span<const std::byte> question);

using ProbeBody = std::function<void(std::span<const std::byte> question, ProbeTelling&)>;
// In the child. Runs `body` and ends the process, without destructors of globals: those of drivers may wait for
// a GPU that hangs. An exception in it is kError. Returns only in a process that RunProbe has not started:
// kNotFound, kCorrupt.
Status AnswerProbe(const ProbeBody& body);

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_PROBE_PROCESS_H_
