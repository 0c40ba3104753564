// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/program_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>
#include <utility>

#include "format/settings/layer_settings.h"
#include "os/child.h"
#include "os/child_status.h"
#include "os/clock.h"
#include "os/shared_memory.h"
#include "reader/bisect/probe_answer.h"
#include "reader/bisect/work_tree.h"

namespace cairn {
namespace {

constexpr uint64_t kNsPerS = 1'000'000'000;
constexpr uint64_t kLookNs = 50'000'000;
// What a program may take to end when it is asked to, and to go when it is killed.
constexpr uint64_t kEndNs = 3 * kNsPerS;
constexpr uint64_t kKillNs = 180 * kNsPerS;
// Sparse: what is not used costs nothing.
constexpr uint32_t kEntries = 1u << 17;
constexpr uint32_t kTextBytes = 1u << 25;
// Time for a program that lost its device to end, where a report of it is wanted.
constexpr uint64_t kReportNs = 10 * kNsPerS;

bool EndsWithin(const Child& child, uint64_t timeout_ns) {
  const uint64_t start_ns = MonotonicNs();
  while (!child.WaitForEnd(kLookNs)) {
    if (MonotonicNs() - start_ns >= timeout_ns) return false;
  }
  return true;
}

// Waits until it has ended, failed, or may not go on.
TrialEnd Watch(const Child& child, const TrialStatus& status, const TrialSettings& settings) {
  const uint64_t start_ns = MonotonicNs();
  uint64_t lost_ns = 0;
  for (;;) {
    const bool ended = child.WaitForEnd(kLookNs);
    if (settings.keep_on && !settings.keep_on()) return TrialEnd::kInterrupted;
    if (ended) return TrialEnd::kExited;
    const uint64_t passed_ns = MonotonicNs() - start_ns;
    // A lost device: what comes now is up to the program, and may take any time.
    if (status.failure.Get() == FailureKind::kLost) {
      if (lost_ns == 0) lost_ns = passed_ns;
      if (settings.report_path.empty() || passed_ns - lost_ns >= kReportNs) {
        return TrialEnd::kFailed;
      }
    }
    if (settings.survive_ns != 0 && passed_ns >= settings.survive_ns) return TrialEnd::kSurvived;
    if (settings.most_ns != 0 && passed_ns >= settings.most_ns) return TrialEnd::kStuck;
  }
}

// All that it has started goes.
Status EndAll(const Child& child, TrialEnd end) {
  if (end == TrialEnd::kSurvived) {
    // A program in good order may say good-bye.
    CAIRN_RETURN_IF_ERROR(child.AskAllToEnd());
    (void)EndsWithin(child, kEndNs);
  }
  CAIRN_RETURN_IF_ERROR(child.KillAll());
  // The watcher gives up on a process that is stuck in a driver; the next run must not meet its work on the GPU.
  const uint64_t start_ns = MonotonicNs();
  if (EndsWithin(child, kKillNs)) {
    while (child.GroupLives()) {
      if (MonotonicNs() - start_ns >= kKillNs) break;
      std::this_thread::sleep_for(std::chrono::nanoseconds(kLookNs));
    }
    if (!child.GroupLives()) return {};
  }
  return Status(StatusCode::kUnsupported,
                fmt::format("process {}, or one of its group, cannot be killed: it is stuck in the "
                            "kernel's driver; the machine may need a restart",
                            child.number()));
}

Result<TrialRun> Judge(TrialEnd end, const TrialStatus& status, const ProcessEnd& watcher) {
  TrialRun run;
  run.end = end;
  if (status.program.Get() == TrialStatus::Program::kNotRun) {
    return Status(StatusCode::kUnsupported, status.why.Get());
  }
  if (end == TrialEnd::kInterrupted) return run;
  run.failure = status.failure.Get();
  run.value = status.signal;
  if (run.failure != FailureKind::kNone) {
    // As it is after a shutdown, ^C in another terminal, or the machine's running out of memory.
    const bool by_hand =
        run.failure == FailureKind::kDied && (WasKilled({EndKind::kSignalled, run.value}) ||
                                              WasAskedToEnd({EndKind::kSignalled, run.value}));
    // One that we asked to end has survived, however it did that.
    if (end == TrialEnd::kSurvived && run.failure == FailureKind::kDied) return run;
    run.end = by_hand ? TrialEnd::kEndedByUser : TrialEnd::kFailed;
    return run;
  }
  if (end != TrialEnd::kExited) return run;
  if (status.program.Get() == TrialStatus::Program::kEnded) {
    run.value = status.exit_code;
    return run;
  }
  run.end = TrialEnd::kEndedByUser;
  run.value = watcher.kind == EndKind::kSignalled ? watcher.value : 0;
  return run;
}

// The board on which layers and changed shaders tell; without memory in a run that needs none.
Result<SharedMemory> ExperimentMemory(const Experiment& experiment) {
  if (!TellsOnBoard(experiment.change)) return SharedMemory();
  const uint64_t bytes =
      ExperimentBoard::BytesFor(ExperimentBoard::kMostLoops, ExperimentBoard::kMostTextBytes);
  Result<SharedMemory> memory = SharedMemory::Create("cairn-experiment", bytes);
  if (memory.ok()) {
    ExperimentBoard::Make({memory->data(), memory->size_bytes()}, ExperimentBoard::kMostLoops,
                          ExperimentBoard::kMostTextBytes);
  }
  return memory;
}

}  // namespace

void TrialStatus::Fails(FailureKind kind, int number) {
  if (failure.Get() != FailureKind::kNone) return;
  signal = number;
  failure.Set(kind);
}

Result<TrialRun> RunTrial(const TrialSettings& settings, const BoardQuestion& question) {
  const Result<ChildStatus<TrialStatus>> status = ChildStatus<TrialStatus>::Create("cairn-trial");
  if (!status.ok()) return status.status();
  Result<SharedMemory> board = SharedMemory::Create(
      "cairn-board", Board::BytesFor(question.listed.size(), kEntries, kTextBytes));
  if (!board.ok()) return board.status();
  Board::Make({board->data(), board->size_bytes()}, question, kEntries, kTextBytes);

  const Result<SharedMemory> experiment = ExperimentMemory(settings.experiment);
  if (!experiment.ok()) return experiment.status();

  ChildRequest request = {.purpose = "the program",
                          .arguments = settings.arguments,
                          .environment = {},
                          .memory = &status->memory(),
                          .silent = true};
  const auto add = [&](const char* option, const std::string& value) {
    request.arguments.emplace_back(option);
    request.arguments.push_back(value);
  };
  add("--hang-timeout", settings.hang_timeout);
  add("--set", FormatSetting<&LayerSettings::elimination>(board->PathForOthers()));
  if (IsMadeByLayers(settings.experiment.change)) {
    add("--set", FormatSetting<&LayerSettings::experiment>(FormatExperiment(settings.experiment)));
  }
  if (experiment->size_bytes() != 0) {
    add("--set", FormatSetting<&LayerSettings::experiment_board>(experiment->PathForOthers()));
  }
  for (const std::string& setting : settings.environment) add("--set", setting);
  if (!settings.preloaded.empty()) add("--preload", settings.preloaded);
  if (!settings.report_path.empty()) add("--output", settings.report_path);
  request.arguments.emplace_back("--");
  request.arguments.insert(request.arguments.end(), settings.program.begin(),
                           settings.program.end());
  const uint64_t start_ns = MonotonicNs();
  Result<Child> child = Child::Start(request);
  if (!child.ok()) return child.status();
  const TrialEnd end = Watch(*child, **status, settings);
  const uint64_t end_ns = MonotonicNs();
  CAIRN_RETURN_IF_ERROR(EndAll(*child, end));
  Result<TrialRun> run = Judge(end, **status, child->End());
  if (!run.ok()) return run;
  run->duration_ns = end_ns - start_ns;
  Result<WorkCatalogue> catalogue = ReadCatalogue({board->data(), board->size_bytes()});
  if (!catalogue.ok()) return catalogue.status();
  run->catalogue = std::move(*catalogue);
  if (experiment->size_bytes() != 0) {
    const Result<ExperimentBoard> notes =
        ExperimentBoard::Over({experiment->data(), experiment->size_bytes()});
    if (!notes.ok()) return notes.status();
    run->notes = notes->Read();
  }
  return run;
}

uint64_t EndlessAfterNs(uint64_t longest_ns, uint64_t hang_timeout_ns) {
  constexpr uint64_t kLeastNs = 5 * kNsPerS;
  return longest_ns * 10 + hang_timeout_ns + kLeastNs;
}

std::string GpuMissedBy(const TrialRun& run, const WorkCatalogue& usual) {
  if (usual.lists == 0) return "";
  const std::vector<std::string>& met = run.catalogue.devices;
  if (run.catalogue.lists == 0) {
    // A failure before the GPU is used needs no device.
    return run.end == TrialEnd::kFailed ? "" : "the program met no GPU this time";
  }
  const bool known = std::any_of(met.begin(), met.end(), [&](const std::string& device) {
    return std::binary_search(usual.devices.begin(), usual.devices.end(), device);
  });
  if (known || met.empty() || usual.devices.empty()) return "";
  return fmt::format("the program ran on {}, not on {}", fmt::join(met, ", "),
                     fmt::join(usual.devices, ", "));
}

Result<ProbeAnswer> AnswerOf(const TrialRun& run) {
  switch (run.end) {
    case TrialEnd::kInterrupted: return Status(StatusCode::kInterrupted, "interrupted");
    case TrialEnd::kExited:
    case TrialEnd::kSurvived: return ProbeAnswer{ProbeOutcome::kClean, 0};
    case TrialEnd::kFailed:
      return ProbeAnswer{ProbeOutcome::kFails, kProgramPlace, run.failure,
                         run.failure == FailureKind::kDied ? run.value : 0};
    // It waits for something that was left out.
    case TrialEnd::kStuck: return ProbeAnswer{ProbeOutcome::kInvalid, 0};
    case TrialEnd::kEndedByUser: break;
  }
  return ProbeAnswer{ProbeOutcome::kUndecided, 0, FailureKind::kNone, 0,
                     fmt::format("something else ended the program ({}): look into the kernel's "
                                 "log whether the machine ran out of memory",
                                 run.value == 0 ? "it did not say how" : SignalName(run.value))};
}

}  // namespace cairn
