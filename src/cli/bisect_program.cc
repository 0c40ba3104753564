// SPDX-License-Identifier: Apache-2.0
#include "cli/bisect_program.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/program_name.h"
#include "base/shell_words.h"
#include "base/text.h"
#include "cli/bisect_parts.h"
#include "cli/gpu_check.h"
#include "cli/layer.h"
#include "cli/mistaken_word.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "format/block/marker_kinds.h"
#include "format/elimination/catalogue.h"
#include "format/settings/layer_settings.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/new_file.h"
#include "os/process.h"
#include "reader/bisect/bisect.h"
#include "reader/bisect/bisect_journal.h"
#include "reader/bisect/probe_answer.h"
#include "reader/bisect/program_search.h"
#include "reader/bisect/program_trial.h"
#include "reader/view/program_bisect_text.h"
#include "watcher/output_path.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kNsPerS = 1'000'000'000;

// `cairn run` can do without them.
Status WithoutLayers(const Status& status) {
  return status.WithContext("without the layers no work is skipped");
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
  if (!vulkan.ok()) return WithoutLayers(vulkan.status());
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

JournalIdentity IdentityOf(const BisectProgramOptions& options) {
  std::error_code error;
  JournalIdentity identity = {
      {"program", ShellQuotedLine(options.program)},
      {"file", FileOf(options.program.front())},
      {"folder", TextOfPath(fs::current_path(error))},
      {"options", fmt::format("--hang-timeout {} --survive {} --runs {}",
                              static_cast<double>(options.hang_timeout_ns) / 1e9,
                              static_cast<double>(options.survive_ns) / 1e9, options.repeats)},
      {"environment", DriverVariables()},
  };
  for (auto& [name, value] : identity) value = value.empty() ? "unknown" : VisibleText(value);
  return identity;
}

// Bytes in memory that is aligned as a board has to be.
std::vector<std::byte> BytesOf(const std::string& path) {
  std::error_code error;
  const File file = File::Open(path, FileMode::kRead, error);
  if (error) return {};
  constexpr uint64_t kMostBytes = uint64_t{1} << 30;
  const uint64_t size = file.facts().size_bytes;
  if (size > kMostBytes) return {};
  std::vector<std::byte> bytes(size);
  size_t read = 0;
  if (file.ReadAt(0, bytes, &read) || read != bytes.size()) return {};
  return bytes;
}

// Waits after a crash, when a GPU may be gone for a while. Returns early if the search is to end.
void WaitForGpu(uint32_t nth, const std::function<bool()>& keep_on) {
  constexpr uint64_t kPartNs = 50'000'000;
  for (uint64_t left_ns = kNsPerS << std::min(nth - 1, 4u); left_ns != 0 && keep_on();) {
    const uint64_t part_ns = std::min(left_ns, kPartNs);
    std::this_thread::sleep_for(std::chrono::nanoseconds(part_ns));
    left_ns -= part_ns;
  }
}

class Bisecting {
 public:
  explicit Bisecting(const BisectProgramOptions& options)
      : options_(options),
        line_(options.progress),
        gpus_(MakeGpuCheck(options.recovery_ns, &signals_, &line_)) {
    settings_.program = options.program;
    settings_.hang_timeout = options.hang_timeout;
    settings_.survive_ns = options.survive_ns;
    settings_.keep_on = [this] { return signals_.Update(0, 0); };
  }

  int Run();

 private:
  Status CheckFiles() const;
  Status OpenJournal();
  ProgramSearchOptions SearchOptions();
  Result<TrialRun> Try(const TrialSettings& settings, const BoardQuestion& question);
  void NoteDraws(const WorkCatalogue& catalogue);
  void WriteReport(const BoardQuestion& alone, ProgramTold* told);
  int Failed(const Status& status);
  int Tell(ProgramTold told);
  Status Forget();

  const BisectProgramOptions& options_;
  TaskProgress signals_{"bisect"};
  ProbeLine line_;
  GpuCheck gpus_;
  TrialSettings settings_;
  std::string journal_path_;
  std::string work_path_;  // the catalogue, for a search that goes on
  std::unique_ptr<BisectJournal> journal_;
  std::optional<WorkCatalogue> catalogue_;  // of an earlier search
};

// Checks that no output replaces the program or another output.
Status Bisecting::CheckFiles() const {
  if (options_.output.empty()) return {};
  const auto refused = [this](const char* what) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} is {}; give another file with -o", options_.output, what));
  };
  if (IsSameFile(options_.output, FileOfProgram(options_.program.front()))) {
    return refused("the program, which the report would replace");
  }
  if (IsSameFile(options_.output, journal_path_) || IsSameFile(options_.output, work_path_)) {
    return refused("a file of the journal, which goes when the search is over");
  }
  return {};
}

Status Bisecting::OpenJournal() {
  bool restart = options_.restart;
  for (;;) {
    Result<std::unique_ptr<BisectJournal>> journal =
        BisectJournal::Open(journal_path_, IdentityOf(options_), restart);
    if (!journal.ok()) return journal.status();
    journal_ = std::move(*journal);
    TellOfJournal(*journal_, journal_path_, options_.quiet || options_.json);
    if (journal_->remembered() == 0) return {};
    // The journal's answers are about the work that this file describes.
    Result<WorkCatalogue> catalogue = ReadCatalogue(BytesOf(work_path_));
    if (catalogue.ok()) {
      catalogue_ = std::move(*catalogue);
      NoteDraws(*catalogue_);
      return {};
    }
    PrintWarning("bisect", fmt::format("begins anew: the answers in {} are of no use without {}, "
                                       "which is missing or damaged",
                                       journal_path_, work_path_));
    journal_.reset();
    restart = true;
  }
}

ProgramSearchOptions Bisecting::SearchOptions() {
  ProgramSearchOptions search;
  search.repeats = options_.repeats;
  search.max_probes = options_.max_probes;
  search.hang_timeout_ns = options_.hang_timeout_ns;
  search.progress = [this](const BisectProgress& now) {
    if (!journal_->HasNext()) line_.Show(now, journal_->AverageMs());
  };
  search.save = [this](const WorkCatalogue& catalogue) {
    const std::error_code error = ReplaceFile(work_path_, WriteCatalogue(catalogue));
    return error ? StatusFromError(error, work_path_) : Status();
  };
  search.pause = [this](uint32_t nth) { WaitForGpu(nth, settings_.keep_on); };
  return search;
}

Result<TrialRun> Bisecting::Try(const TrialSettings& settings, const BoardQuestion& question) {
  CAIRN_RETURN_IF_ERROR(gpus_.BeforeRun());
  Result<TrialRun> run = RunTrial(settings, question);
  if (!run.ok()) return run;
  NoteDraws(run->catalogue);
  if (run->end == TrialEnd::kFailed) gpus_.RunFailed();
  return run;
}

void Bisecting::NoteDraws(const WorkCatalogue& catalogue) {
  const bool draws = std::any_of(
      catalogue.work.begin(), catalogue.work.end(),
      [](const WorkNote& work) { return RunsShaders(work.type) && !IsDispatch(work.type); });
  if (draws) gpus_.RunDraws();
}

int Bisecting::Run() {
  const uint64_t start_ns = MonotonicNs();
  Result<std::vector<std::string>> environment = LayerEnvironment();
  if (!environment.ok()) return Failed(environment.status());
  settings_.environment = std::move(*environment);
  Result<std::string> layer = PreloadedLayer();
  if (!layer.ok()) return Failed(WithoutLayers(layer.status()));
  settings_.preloaded = std::move(*layer);
  journal_path_ = options_.journal;
  if (journal_path_.empty()) {
    journal_path_ = WithEnding(DefaultOutputPath(ProgramOfArguments(options_.program)), ".bisect");
  }
  work_path_ = journal_path_ + ".work";
  if (const Status checked = CheckFiles(); !checked.ok()) {
    PrintError("bisect", checked.message());
    return kExitUsage;
  }
  if (const Status opened = OpenJournal(); !opened.ok()) return Failed(opened);
  const RunProgram run = [this](const BoardQuestion& question, uint64_t most_ns) {
    TrialSettings settings = settings_;
    settings.most_ns = most_ns;
    return Try(settings, question);
  };
  ProgramSearch search(run, SearchOptions(), journal_.get(),
                       catalogue_.has_value() ? &*catalogue_ : nullptr);
  Result<ProgramFound> found = search.Search();
  line_.Clear();
  if (!found.ok()) return Failed(found.status());
  ProgramTold told;
  told.program = ShellQuotedLine(options_.program);
  told.found = std::move(*found);
  told.hang_timeout_seconds = static_cast<double>(options_.hang_timeout_ns) / 1e9;
  told.survive_seconds = static_cast<double>(options_.survive_ns) / 1e9;
  if (told.found.answer.found && !options_.output.empty()) WriteReport(told.found.alone, &told);
  told.duration_ns = MonotonicNs() - start_ns;
  return Tell(std::move(told));
}

// Runs the program once more for the report. A run that fails differently gives no report.
void Bisecting::WriteReport(const BoardQuestion& alone, ProgramTold* told) {
  TrialSettings settings = settings_;
  settings.report_path = options_.output;
  const fs::file_time_type start = fs::file_time_type::clock::now() - std::chrono::seconds(1);
  const BisectAnswer& failure = told->found.answer;
  for (uint32_t i = 0; i < TriesOf(failure); ++i) {
    const Result<TrialRun> run = Try(settings, alone);
    const Result<ProbeAnswer> answer =
        run.ok() ? AnswerOf(*run) : Result<ProbeAnswer>(run.status());
    if (!answer.ok()) {
      PrintWarning("bisect", "no report is written: " + answer.status().message());
      return;
    }
    if (!IsSameFailure(failure, *answer)) continue;
    // Only a report of this run counts.
    std::error_code none;
    const fs::file_time_type written = fs::last_write_time(FilePath(options_.output), none);
    if (!none && written >= start) {
      told->report_path = options_.output;
    } else {
      PrintWarning("bisect", fmt::format("no report is written: the run with the culprit alone "
                                         "failed, but {} could not be written",
                                         options_.output));
    }
    return;
  }
  PrintWarning("bisect", "no report is written: the culprit alone did not fail once more");
}

// The journal and what belongs to it.
Status Bisecting::Forget() {
  (void)RemoveFile(work_path_);
  return journal_->Remove();
}

int Bisecting::Failed(const Status& status) {
  line_.Clear();
  if (journal_ != nullptr && journal_->empty()) (void)Forget().ok();
  if (status.code() == StatusCode::kInterrupted) {
    PrintError("bisect", "interrupted; the same command goes on from here");
  } else {
    const std::string mistaken =
        MistakenForProgram("bisect", options_.program.front(), status.code());
    PrintError("bisect", mistaken.empty() ? status.message() : mistaken);
  }
  return kExitFailed;
}

int Bisecting::Tell(ProgramTold told) {
  const bool printed =
      PrintOutput("bisect", options_.json ? ProgramAnswerAsJson(told) : ProgramAnswerAsText(told));
  if (const Status removed = Forget(); !removed.ok()) PrintWarning("bisect", removed.message());
  return printed && told.found.answer.found ? 0 : kExitFailed;
}

}  // namespace

int BisectProgram(const BisectProgramOptions& options) {
  return Bisecting(options).Run();
}

}  // namespace cairn::cli
