// SPDX-License-Identifier: Apache-2.0
//
// Plays a trace without what a question leaves out: in a child process, with a canary after each
// submission. The child is this program, run again with the words of TraceProbeSettings::arguments, for which it
// calls AnswerTraceProbe.
#ifndef CAIRN_READER_BISECT_TRACE_PROBE_H_
#define CAIRN_READER_BISECT_TRACE_PROBE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "reader/bisect/bisect.h"
#include "reader/bisect/probe_process.h"
#include "reader/replay/player.h"

namespace cairn {

struct TraceProbeSettings {
  std::string path;  // of the trace
  PlayOn on;
  // GPU work that takes longer is a hang: more than the slowest submission needs, canary included.
  uint64_t hang_timeout_ns = uint64_t{10} * 1'000'000'000;
  std::function<bool()> keep_on;  // ProbeLimits::keep_on
  // The tries of a probe that cannot make a device, and the wait before the next one (twice as long
  // each time): after a hang drivers need seconds to recover.
  uint32_t device_tries = 5;
  uint64_t device_pause_ns = 1'000'000'000;
  // The device of the search. Another one counts as none: a GPU that has just crashed may not be there for a
  // while, and the next best is taken.
  std::optional<DeviceFacts> device;
  // The play ends when the first device was made.
  bool only_device = false;
  // ProbeRun::bytes, of a play that gets so far.
  BytesToRead read;
  std::vector<std::string> arguments = {"probe"};
};

// A device that cannot be made, however often it is tried, ends it with kNoDevice: no answer.
// Errors: those of RunProbe.
Result<ProbeRun> PlayProbe(const TraceProbeSettings& settings, const BisectQuestion& question);

// In the child; `adjust`, of tests, changes what is played. Returns only in a process that PlayProbe has not
// started: kNotFound, kCorrupt.
Status AnswerTraceProbe(const std::function<void(PlayerOptions*)>& adjust = {});

// The exit codes by which a process that PlayAsProgram ends says what became of the play.
enum class PlayExit : int { kFinished = 0, kNoAnswer = 1, kHang = 4, kLost = 5 };

// Plays the whole trace as a probe does, in this process, which it ends: for those who run the play as they run a
// program (program_trial.h). No call is left out, so that new memory begins as the program's did: as zeros where
// Direct3D 12 promises them, and as the layers fill it where the run asks for that (CAIRN_EXPERIMENT). `hang_timeout_ns` as in TraceProbeSettings; a watcher that is to see a hang first needs
// less.
[[noreturn]] void PlayAsProgram(const std::string& path, const PlayOn& on,
                                uint64_t hang_timeout_ns);

// On which device the trace is played: in a child process, too, more than one if what came says nothing.
// Errors: those of RunProbe; kUnsupported: no device can be made, the trace makes none, or the playback ended
// before it had one; kInterrupted.
Result<DeviceFacts> ProbeDevice(const TraceProbeSettings& settings);

// Converts the parts of the question that a player understands.
Omissions OmissionsOf(const BisectQuestion& question);

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_TRACE_PROBE_H_
