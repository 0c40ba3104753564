// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_player.h"

#include <fmt/format.h>

#include <utility>

#include "base/shell_words.h"
#include "base/text.h"
#include "cli/bisect_parts.h"
#include "os/this_process.h"
#include "reader/bisect/trace_probe.h"

namespace cairn::cli {
namespace {

// Nobody sees the output of the player: a play that is asked says it.
Status WhyNotPlayed(const TraceProbeSettings& play) {
  const Result<ProbeRun> run = PlayProbe(play, {});
  if (!run.ok()) return run.status();
  if (run->end != ProbeEnd::kFinished && !run->message.empty()) {
    return Status(StatusCode::kUnsupported, run->message);
  }
  return Status(StatusCode::kUnsupported,
                fmt::format("with the layers in it the playback cannot go on: cairn run -- cairn "
                            "replay --in-process {} says why",
                            ShellQuoted(play.path)));
}

// The layers see most failures first, and give a report. What they do not see, the player says.
Result<TrialRun> JudgePlay(TrialRun run, const Experiment& experiment,
                           const TraceProbeSettings& play) {
  if (run.end != TrialEnd::kExited) return run;
  switch (static_cast<PlayExit>(run.value)) {
    case PlayExit::kFinished: return run;
    case PlayExit::kHang: run.failure = FailureKind::kHang; break;
    case PlayExit::kLost: run.failure = FailureKind::kLost; break;
    default:
      if (experiment.change == Change::kNone) return WhyNotPlayed(play);
      run.failure = FailureKind::kNone;  // the change spoils it: another failure
      break;
  }
  run.end = TrialEnd::kFailed;
  run.value = 0;
  return run;
}

}  // namespace

void SetPlayer(const std::string& path, const PlayOn& on, ProgramRunsOptions* runs) {
  runs->with_hang_timeout = [path, on](uint64_t hang_timeout_ns) {
    // The watchdog is to see a hang before the player gives up.
    const double patience_s = static_cast<double>(hang_timeout_ns) / 1e9 * 2 + 5;
    std::vector<std::string> program = {
        OwnProgramPath(), "probe", "--play", path, "--timeout", fmt::format("{}", patience_s)};
    if (!on.library.empty()) program.insert(program.end(), {"--library", on.library});
    if (!on.adapter.empty()) program.insert(program.end(), {"--adapter", on.adapter});
    return program;
  };
  runs->program = runs->with_hang_timeout(runs->hang_timeout_ns);
  runs->judge =
      [play = TraceProbeSettings{.path = path, .on = on, .hang_timeout_ns = runs->hang_timeout_ns}](
          TrialRun run, const Experiment& experiment) {
        return JudgePlay(std::move(run), experiment, play);
      };
}

JournalIdentity IdentityOfTrace(const TraceReader& trace, const DeviceFacts& device,
                                const PlayOn& on, const std::string& options) {
  const TraceFacts& facts = trace.facts();
  JournalIdentity identity = {
      {"trace", fmt::format("{} {} {} {} records", facts.start_realtime_ns, facts.process_id,
                            facts.trimmed ? "trimmed" : "whole", trace.record_count())},
      {"device", device.name},
      {"driver", device.driver},
      {"library", device.library_paths.empty() ? on.library : device.library_paths},
      {"options",
       on.adapter.empty() ? options : fmt::format("{} --adapter {}", options, on.adapter)},
      {"environment", DriverVariables()},
  };
  for (auto& [name, value] : identity) value = value.empty() ? "unknown" : VisibleText(value);
  return identity;
}

}  // namespace cairn::cli
