// SPDX-License-Identifier: Apache-2.0
//
// One play in a child process that may hang, die, and take its GPU context with it. The parent loads no
// graphics library and stays as it was; it kills a child that makes no progress.
//
//   const Result<ProbeRun> run = RunProbe(limits, {"probe"}, question);
//
// runs this program again with the word "probe", on which it calls
//
//   AnswerProbe([](std::span<const std::byte> question, ProbeStatus& status) {
//     ... status.At(call) before each call ...; status.End(ProbeEnd::kFinished);
//   });
//
// The child has no terminal of its own: what drivers print goes nowhere.
#ifndef CAIRN_READER_BISECT_PROBE_PROCESS_H_
#define CAIRN_READER_BISECT_PROBE_PROCESS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "os/child_status.h"
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

// The status of the child (os/child_status.h). Written by the child, so hostile to the parent.
struct ProbeStatus {
  // Before each call.
  void At(uint64_t number) {
    call.store(number, std::memory_order_relaxed);
    Step();
  }
  // Before all else that is done, too. One store.
  void Step() { steps.store(steps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  // When a device is made: the child may die.
  void On(const DeviceFacts& device);
  DeviceFacts device() const {
    return {name.Get(), driver.Get(), library.Get(), library_paths.Get()};
  }
  // Once, as the last word.
  void End(ProbeEnd how, std::string_view why = "");

  std::atomic<uint64_t> call{0};
  std::atomic<uint64_t> steps{0};  // what the watchdog takes for progress
  StatusWord<ProbeEnd, ProbeEnd::kUnclear> end;
  StatusText<> message;   // of the end
  StatusText<> left_out;  // what the play cannot do as it was recorded
  std::atomic<uint32_t> devices{0};
  StatusText<> name;  // of the last device, like those that follow
  StatusText<> driver;
  StatusText<> library;
  StatusText<> library_paths;
  StatusText<> bytes;  // of a buffer, that the question asks for: two hexadecimal digits each
  std::atomic<uint64_t> skipped{0};       // calls that were left out, in all
  std::atomic<uint64_t> slowest_call{0};  // the submission that took longest, of those that ended
  std::atomic<uint64_t> slowest_ns{0};
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
  std::vector<std::byte> bytes;  // of a buffer, that the question asked for
  uint64_t duration_ns = 0;
};

// Returns what the child said, checked; its end is that of a child that went by itself.
ProbeRun RunOf(const ProbeStatus& status);

// Runs this program again with the words `arguments`, for which it calls AnswerProbe and gets `question` there.
// An end that the system does not tell is kUnclear, whatever the child said: a thread of a driver may have
// died after that.
// Errors: kIo (no process), kUnsupported (the child cannot be killed).
Result<ProbeRun> RunProbe(const ProbeLimits& limits, const std::vector<std::string>& arguments,
                          std::span<const std::byte> question);

using ProbeBody = std::function<void(std::span<const std::byte> question, ProbeStatus&)>;
// In the child. Runs `body` and ends the process, without destructors of globals: those of drivers may wait for
// a GPU that hangs. An exception in it is kError. Returns only in a process that RunProbe has not started:
// kNotFound, kCorrupt.
Status AnswerProbe(const ProbeBody& body);

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_PROBE_PROCESS_H_
