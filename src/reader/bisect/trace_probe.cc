// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/trace_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "format/experiment/experiment.h"
#include "format/settings/layer_settings.h"
#include "format/trace/trace_reader.h"
#include "os/child.h"
#include "os/environment.h"
#include "reader/bisect/probe_answer.h"
#include "reader/bisect/probe_question.h"

namespace cairn {
namespace {

// Beside what the player waits itself: compiling pipelines, and reading large traces.
constexpr uint64_t kExtraStallNs = uint64_t{60} * 1'000'000'000;

ProbeEnd EndOf(PlayerFailure failure, const Status& status) {
  switch (failure) {
    case PlayerFailure::kHang: return ProbeEnd::kHang;
    case PlayerFailure::kLost: return ProbeEnd::kLost;
    case PlayerFailure::kRefused:
      return status.code() == StatusCode::kNotFound ? ProbeEnd::kNoDevice : ProbeEnd::kRefused;
    case PlayerFailure::kNone: return status.ok() ? ProbeEnd::kFinished : ProbeEnd::kError;
    case PlayerFailure::kUnclear: return ProbeEnd::kUnclear;
    case PlayerFailure::kCorrupt:
    case PlayerFailure::kMismatch: break;
  }
  return ProbeEnd::kError;
}

// False if the search is to end.
bool Pause(const TraceProbeSettings& settings, uint64_t pause_ns) {
  constexpr uint64_t kLookNs = 100'000'000;
  while (pause_ns != 0) {
    if (settings.keep_on && !settings.keep_on()) return false;
    const uint64_t part_ns = std::min(pause_ns, kLookNs);
    std::this_thread::sleep_for(std::chrono::nanoseconds(part_ns));
    pause_ns -= part_ns;
  }
  return true;
}

// In the child.
void Play(const ProbeQuestion& question, const std::function<void(PlayerOptions*)>& adjust,
          ProbeStatus& status) {
  Result<TraceReader> trace = TraceReader::Open(question.path);
  if (!trace.ok()) return status.End(ProbeEnd::kError, trace.status().message());
  PlayerOptions options;
  options.library = question.on.library;
  options.adapter = question.on.adapter;
  options.wait_timeout_ns = question.hang_timeout_ns;
  options.canary = true;
  options.new_memory = NewMemory::kZeros;
  options.end_at_refusal = true;
  options.omissions = OmissionsOf(question.leave);
  if (question.leave.stop_before != ~uint64_t{0}) {
    options.last_call = question.leave.stop_before - 1;
  }
  options.kept_parts = question.leave.parts;
  options.bytes_to_read = question.read;
  options.on_bytes = [&status](std::span<const std::byte> bytes) {
    std::string digits;
    for (const std::byte byte : bytes) digits += fmt::format("{:02x}", std::to_integer<int>(byte));
    static_assert(BytesToRead::kMostBytes * 2 <= StatusText<>::kMaxBytes);
    status.bytes.Set(digits);
  };
  options.on_call = [&status](uint64_t number) { status.At(number); };
  options.on_record = [&status] { status.Step(); };
  options.on_device = [&](const DeviceFacts& device) {
    status.On(device);
    // The search expects the device that its first playback used.
    if (question.device && status.device() != *question.device) {
      status.End(ProbeEnd::kNoDevice, OtherDevice(device, *question.device));
      std::_Exit(0);
    }
    if (!question.only_device) return;
    status.End(ProbeEnd::kFinished);
    std::_Exit(0);
  };
  options.on_note = [&status](const std::string& note) { status.left_out.Append(note, "; "); };
  if (adjust) adjust(&options);
  Result<std::unique_ptr<Player>> player = Player::Create(&*trace, std::move(options));
  if (!player.ok()) return status.End(ProbeEnd::kError, player.status().message());
  const Status played = (*player)->Run();
  const PlayerResult& result = (*player)->result();
  status.skipped = result.skipped;
  status.slowest_call = result.slowest_submission;
  status.slowest_ns = result.slowest_submission_ns;
  status.End(EndOf((*player)->failure(), played), played.ok() ? "" : played.message());
  // Objects are not destroyed: drivers may wait for a GPU that hangs, and the process ends anyway.
  (void)player->release();
}

// In this process the layers may have filled the memory: zeros over that would undo the experiment.
NewMemory NewMemoryOfRun() {
  const Setting<std::string> told = ReadSetting<&LayerSettings::experiment>(OwnVariable);
  const std::optional<Experiment> experiment = ParseExperiment(*told);
  return experiment && FillOf(*experiment) ? NewMemory::kAsItIs : NewMemory::kPromisedZeros;
}

PlayExit ExitOf(ProbeEnd end) {
  switch (end) {
    case ProbeEnd::kFinished: return PlayExit::kFinished;
    case ProbeEnd::kHang: return PlayExit::kHang;
    case ProbeEnd::kLost: return PlayExit::kLost;
    default: return PlayExit::kNoAnswer;
  }
}

// Of a play that was to end with its first device.
std::string WhyNoDevice(const ProbeRun& run) {
  switch (run.end) {
    case ProbeEnd::kFinished: return "the trace makes no device";
    case ProbeEnd::kDied:
      return fmt::format("the playback {} before it had a device",
                         run.signal == 0 ? "ended" : "died of " + SignalName(run.signal));
    // The watchdog has nothing to say.
    case ProbeEnd::kHang:
      if (run.message.empty()) return "the playback stood still before it had a device";
      break;
    default: break;
  }
  return run.message;
}

}  // namespace

void PlayAsProgram(const std::string& path, const PlayOn& on, uint64_t hang_timeout_ns) {
  LeaveNoDump();
  ProbeStatus status;
  Play(
      {.path = path, .on = on, .hang_timeout_ns = hang_timeout_ns},
      [](PlayerOptions* options) { options->new_memory = NewMemoryOfRun(); }, status);
  std::_Exit(static_cast<int>(ExitOf(status.end.Get())));
}

Omissions OmissionsOf(const BisectQuestion& question) {
  Omissions omissions;
  for (const Suspect& suspect : question.left_out) {
    if (suspect.kind == Suspect::Kind::kList) {
      omissions.lists.insert(Omissions::ListKey(suspect.call, suspect.list));
    } else {
      omissions.calls.insert(suspect.call);
    }
  }
  return omissions;
}

Result<DeviceFacts> ProbeDevice(const TraceProbeSettings& settings) {
  TraceProbeSettings asking = settings;
  asking.only_device = true;
  const uint32_t most_undecided = BisectOptions().most_undecided;
  for (uint32_t plays = 1;; ++plays) {
    const Result<ProbeRun> run = PlayProbe(asking, {});
    if (!run.ok()) return run.status();
    const Result<ProbeAnswer> answer = AnswerOf(*run, {});
    if (!answer.ok()) return answer.status();
    const bool undecided = answer->outcome == ProbeOutcome::kUndecided;
    if (undecided && plays < most_undecided) continue;
    // How it ended after that is for the search.
    if (!undecided && run->devices != 0) return run->device;
    return Status(StatusCode::kUnsupported, undecided ? answer->why : WhyNoDevice(*run));
  }
}

Result<ProbeRun> PlayProbe(const TraceProbeSettings& settings, const BisectQuestion& question) {
  ProbeLimits limits;
  limits.stall_timeout_ns =
      settings.hang_timeout_ns == 0 ? 0 : settings.hang_timeout_ns * 2 + kExtraStallNs;
  limits.keep_on = settings.keep_on;
  const std::vector<std::byte> asked =
      WriteProbeQuestion({settings.path, settings.on, settings.hang_timeout_ns, settings.device,
                          settings.only_device, question, settings.read});
  uint64_t pause_ns = settings.device_pause_ns;
  for (uint32_t tries = 1;; ++tries, pause_ns *= 2) {
    Result<ProbeRun> run = RunProbe(limits, settings.arguments, asked);
    if (!run.ok() || run->end != ProbeEnd::kNoDevice || tries >= settings.device_tries) return run;
    run->interrupted = !Pause(settings, pause_ns);
    if (run->interrupted) return run;
  }
}

Status AnswerTraceProbe(const std::function<void(PlayerOptions*)>& adjust) {
  return AnswerProbe([&](std::span<const std::byte> bytes, ProbeStatus& status) {
    const Result<ProbeQuestion> question = ReadProbeQuestion(bytes);
    if (!question.ok()) return status.End(ProbeEnd::kError, question.status().message());
    Play(*question, adjust, status);
  });
}

}  // namespace cairn
