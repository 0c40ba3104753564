// SPDX-License-Identifier: Apache-2.0
#include "cli/program_runs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/program_name.h"
#include "base/shell_words.h"
#include "base/text.h"
#include "cli/layer.h"
#include "cli/mistaken_word.h"
#include "cli/numbers.h"
#include "cli/verb.h"
#include "format/block/marker_kinds.h"
#include "format/settings/layer_settings.h"
#include "os/file.h"
#include "os/process.h"
#include "watcher/output_path.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kNsPerS = 1'000'000'000;

// `cairn run` can do without them.
Status WithoutLayers(const char* verb, const Status& status) {
  const bool bisects = std::string_view(verb) == "bisect";
  return status.WithContext(bisects ? "without the layers no work is skipped"
                                    : "without the layers nothing is changed");
}

// Like `cairn run`, except that the mode without breadcrumbs is replaced: layers that record
// nothing can skip nothing.
Result<std::vector<std::string>> LayerEnvironment() {
  LayerSettings told;
  if (*ReadSetting<&LayerSettings::breadcrumbs>(std::getenv) == MarkerMode::kOff) {
    told.breadcrumbs = MarkerMode::kTop;
  }
  // Labels are part of what tells work apart.
  told.all_events = true;
  told.capture = CaptureSettings();
  if (std::string path = FindWindowsLayer(); !path.empty()) told.windows_path = std::move(path);
  const Result<std::vector<std::string>> vulkan = VulkanLayerVariables();
  if (!vulkan.ok()) return vulkan.status();
  std::vector<std::string> environment = FormatLayerSettings(told);
  environment.insert(environment.end(), vulkan->begin(), vulkan->end());
  return environment;
}

// Identifies the program's file as well as possible: a new build is another program.
std::string FileOf(const std::string& program) {
  std::error_code error;
  const std::string file = FileOfProgram(program);
  const uint64_t size = fs::file_size(FilePath(file), error);
  if (error) return "not there";
  const auto time = std::chrono::file_clock::to_sys(fs::last_write_time(FilePath(file), error));
  return fmt::format("{}, {} bytes of {:%Y-%m-%d %H:%M:%S} UTC", file, size,
                     std::chrono::time_point_cast<std::chrono::milliseconds>(time));
}

}  // namespace

Result<uint64_t> ParseHangTimeout(const std::string& typed) {
  Result<uint64_t> timeout_ns = ParseSecondsOf("--hang-timeout", typed);
  if (!timeout_ns.ok() || *timeout_ns != 0) return timeout_ns;
  return Status(StatusCode::kInvalidArgument,
                "--hang-timeout: without one a hang is never noticed; give seconds above 0");
}

Result<uint64_t> ParseSurvive(const std::string& typed, const std::string& hang_timeout,
                              uint64_t hang_timeout_ns) {
  Result<uint64_t> survive_ns = ParseSecondsOf("--survive", typed.empty() ? "0" : typed);
  if (!survive_ns.ok() || *survive_ns == 0 || *survive_ns > hang_timeout_ns) return survive_ns;
  return Status(
      StatusCode::kInvalidArgument,
      fmt::format(
          "--survive {} ends a run before --hang-timeout {} could tell of a hang; give more", typed,
          hang_timeout));
}

ProgramRuns::ProgramRuns(const char* verb, const ProgramRunsOptions& options, TaskProgress* signals)
    : verb_(verb),
      options_(options),
      signals_(signals),
      line_(options.progress),
      gpus_(MakeGpuCheck(options.recovery_ns, signals, &line_)) {
  settings_.program = options.program;
  settings_.hang_timeout = options.hang_timeout;
  settings_.survive_ns = options.survive_ns;
  settings_.keep_on = [this] { return signals_->Update(0, 0); };
}

Status ProgramRuns::Prepare() {
  Result<std::vector<std::string>> environment = LayerEnvironment();
  if (!environment.ok()) return WithoutLayers(verb_, environment.status());
  settings_.environment = std::move(*environment);
  Result<std::string> layer = PreloadedLayer();
  if (!layer.ok()) return WithoutLayers(verb_, layer.status());
  settings_.preloaded = std::move(*layer);
  return {};
}

std::string ProgramRuns::JournalPath(const char* ending) const {
  if (!options_.journal.empty()) return options_.journal;
  return WithEnding(DefaultOutputPath(ProgramOfArguments(options_.program)), ending);
}

JournalIdentity ProgramRuns::Identity(const std::string& own_options) const {
  std::error_code error;
  JournalIdentity identity = {
      {"program", ShellQuotedLine(options_.program)},
      {"file", FileOf(options_.program.front())},
      {"folder", TextOfPath(fs::current_path(error))},
      {"options", fmt::format("--hang-timeout {} --survive {} {}",
                              static_cast<double>(options_.hang_timeout_ns) / 1e9,
                              static_cast<double>(options_.survive_ns) / 1e9, own_options)},
      {"environment", DriverVariables()},
  };
  for (auto& [name, value] : identity) value = value.empty() ? "unknown" : VisibleText(value);
  return identity;
}

Result<TrialRun> ProgramRuns::Try(const TrialSettings& settings, const BoardQuestion& question) {
  CAIRN_RETURN_IF_ERROR(gpus_.BeforeRun());
  Result<TrialRun> run = RunTrial(settings, question);
  if (run.ok() && options_.judge) {
    run = options_.judge(std::move(run).value(), settings.experiment);
  }
  if (!run.ok()) return run;
  NoteWork(run->catalogue);
  if (run->end == TrialEnd::kFailed) gpus_.RunFailed();
  return run;
}

void ProgramRuns::NoteWork(const WorkCatalogue& catalogue) {
  const bool draws = std::any_of(
      catalogue.work.begin(), catalogue.work.end(),
      [](const WorkNote& work) { return RunsShaders(work.type) && !IsDispatch(work.type); });
  if (draws) gpus_.RunDraws();
}

void ProgramRuns::WaitForGpu(uint32_t nth) const {
  constexpr uint64_t kPartNs = 50'000'000;
  for (uint64_t left_ns = kNsPerS << std::min(nth - 1, 4u); left_ns != 0 && settings_.keep_on();) {
    const uint64_t part_ns = std::min(left_ns, kPartNs);
    std::this_thread::sleep_for(std::chrono::nanoseconds(part_ns));
    left_ns -= part_ns;
  }
}

void ProgramRuns::PrintFailure(const Status& status) const {
  line_.Clear();
  if (status.code() == StatusCode::kInterrupted) {
    PrintError(verb_, "interrupted; the same command resumes from here");
    return;
  }
  const std::string mistaken = MistakenForProgram(verb_, options_.program.front(), status.code());
  PrintError(verb_, mistaken.empty() ? status.message() : mistaken);
}

}  // namespace cairn::cli
