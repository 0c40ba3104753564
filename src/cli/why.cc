// SPDX-License-Identifier: Apache-2.0
//
// cairn why: finds the change with which a program does not fail.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/shell_words.h"
#include "cli/bisect_parts.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/program_runs.h"
#include "cli/verb.h"
#include "format/file/file_reader.h"
#include "format/snapshot/snapshot_file.h"
#include "os/clock.h"
#include "os/file.h"
#include "reader/analysis/findings.h"
#include "reader/bisect/bisect_journal.h"
#include "reader/serve/private_folder.h"
#include "reader/view/why_text.h"
#include "reader/why/culprit_shaders.h"
#include "reader/why/why_search.h"

namespace cairn::cli {
namespace {

constexpr char kWhyExamples[] =
    "Examples:\n"
    "  cairn why -- ./game                   runs the program again and again, each time with one\n"
    "                                        thing changed: loops that end, barriers, objects "
    "kept\n"
    "                                        alive, new memory filled; which one helps is the "
    "cause\n"
    "  cairn why --hang-timeout 2 -- ./game  quicker where no healthy submission takes 2 s\n"
    "  cairn why --survive 60 -- ./game      for a program that does not end by itself: what goes "
    "on\n"
    "                                        for a minute does not fail\n"
    "  cairn why --runs 10 -- ./game         for what fails only now and then\n"
    "  cairn why --json -- ./game            the answer for programs "
    "(docs/formats/why.schema.json)\n"
    "\n"
    "^C ends the search; the same command goes on where it was.\n"
    "\n"
    "Exit code: 0 if a cause was found; 1 if not, or if the search was ended; 2 if the command\n"
    "line is wrong.";

struct WhyOptionsOfVerb {
  ProgramRunsOptions runs;
  std::string survive;
  std::string recovery = "120";
  uint32_t repeats = 3;
  uint32_t trips = 65536;
  uint64_t max_runs = 10'000;
  bool progress = false;
};

// Returns the shaders of what the report suspects; empty if there is no report, or it knows none.
std::vector<uint64_t> ShadersOfReport(const std::string& path) {
  for (const std::string& name : {path, path + ".part"}) {
    const Result<FileReader> reader = FileReader::Open(name);
    if (!reader.ok()) continue;
    const Result<Snapshot> snapshot = ReadSnapshot(*reader);
    if (snapshot.ok()) return CulpritShaders(*snapshot, AnalyseDump(*snapshot));
  }
  return {};
}

class WhySearching {
 public:
  explicit WhySearching(const WhyOptionsOfVerb& options)
      : options_(options), runs_("why", options.runs) {}

  int Run();

 private:
  Status OpenJournal();
  WhyOptions SearchOptions();
  Result<WhyRun> Try(const Experiment& experiment, uint64_t most_ns);
  int Failed(const Status& status);
  int Tell(const WhyTold& told);

  const WhyOptionsOfVerb& options_;
  ProgramRuns runs_;
  std::unique_ptr<BisectJournal> journal_;
  bool reported_ = false;  // a run without a change failed, and its report was read
};

Status WhySearching::OpenJournal() {
  const std::string path = runs_.JournalPath();
  Result<std::unique_ptr<BisectJournal>> journal = BisectJournal::Open(
      path, runs_.Identity(fmt::format("--runs {} --trips {}", options_.repeats, options_.trips)),
      options_.runs.restart);
  if (!journal.ok()) return journal.status();
  journal_ = std::move(*journal);
  TellOfJournal("why", *journal_, path, options_.runs.quiet || options_.runs.json);
  return {};
}

WhyOptions WhySearching::SearchOptions() {
  WhyOptions search;
  search.runs = options_.repeats;
  search.trips = options_.trips;
  search.max_runs = options_.max_runs;
  search.hang_timeout_ns = options_.runs.hang_timeout_ns;
  search.progress = [this](const BisectProgress& now) {
    if (!journal_->HasNext()) runs_.line().Show(now, journal_->AverageMs());
  };
  search.pause = [this](uint32_t nth) { runs_.WaitForGpu(nth); };
  return search;
}

Result<WhyRun> WhySearching::Try(const Experiment& experiment, uint64_t most_ns) {
  TrialSettings settings = runs_.settings();
  settings.experiment = experiment;
  settings.most_ns = most_ns;
  // One report is enough, and writing it takes time. Without a folder for it all shaders are asked.
  std::optional<Result<PrivateFolder>> folder;
  if (experiment.change == Change::kNone && !reported_) folder.emplace(PrivateFolder::Make());
  if (folder.has_value() && folder->ok()) {
    settings.report_path = TextOfPath((*folder)->path() / "report.cairn");
  }
  Result<TrialRun> trial = runs_.Try(settings, {});
  if (!trial.ok()) return trial.status();
  WhyRun run = {std::move(*trial), {}};
  if (!settings.report_path.empty() && run.trial.end == TrialEnd::kFailed) {
    run.shaders = ShadersOfReport(settings.report_path);
    reported_ = true;
  }
  return run;
}

int WhySearching::Run() {
  const uint64_t start_ns = MonotonicNs();
  if (const Status prepared = runs_.Prepare(); !prepared.ok()) return Failed(prepared);
  if (const Status opened = OpenJournal(); !opened.ok()) return Failed(opened);
  WhySearch search(
      [this](const Experiment& experiment, uint64_t most_ns) { return Try(experiment, most_ns); },
      SearchOptions(), journal_.get());
  Result<WhyFound> found = search.Search();
  runs_.line().Clear();
  if (!found.ok()) return Failed(found.status());
  WhyTold told;
  told.program = ShellQuotedLine(options_.runs.program);
  told.found = std::move(*found);
  told.hang_timeout_seconds = static_cast<double>(options_.runs.hang_timeout_ns) / 1e9;
  told.survive_seconds = static_cast<double>(options_.runs.survive_ns) / 1e9;
  told.duration_ns = MonotonicNs() - start_ns;
  return Tell(told);
}

int WhySearching::Failed(const Status& status) {
  if (journal_ != nullptr && journal_->empty()) (void)journal_->Remove();
  runs_.PrintFailure(status);
  return kExitFailed;
}

int WhySearching::Tell(const WhyTold& told) {
  const bool printed = PrintOutput("why", options_.runs.json ? WhyAsJson(told) : WhyAsText(told));
  if (const Status removed = journal_->Remove(); !removed.ok()) {
    PrintWarning("why", removed.message());
  }
  return printed && !told.found.causes.empty() ? 0 : kExitFailed;
}

int Run(WhyOptionsOfVerb options, const std::vector<std::string>& program) {
  if (program.empty()) {
    PrintError("why", "no program is given; say cairn why -- PROGRAM ARGUMENTS");
    return kExitUsage;
  }
  ProgramRunsOptions& runs = options.runs;
  const Result<uint64_t> hang_timeout_ns = ParseHangTimeout(runs.hang_timeout);
  const Result<uint64_t> recovery_ns = ParseSecondsOf("--recovery", options.recovery);
  const Result<uint64_t> survive_ns =
      ParseSurvive(options.survive, runs.hang_timeout, hang_timeout_ns.ok() ? *hang_timeout_ns : 0);
  for (const auto* const time : {&hang_timeout_ns, &recovery_ns, &survive_ns}) {
    if (time->ok()) continue;
    PrintError("why", time->status().message());
    return kExitUsage;
  }
  runs.program = program;
  runs.hang_timeout_ns = *hang_timeout_ns;
  runs.recovery_ns = *recovery_ns;
  runs.survive_ns = *survive_ns;
  runs.progress = ProgressOf(options.progress, runs.quiet || runs.json);
  return WhySearching(options).Run();
}

}  // namespace

Verb AddWhyVerb(CLI::App& root) {
  auto options = std::make_shared<WhyOptionsOfVerb>();
  Command command(root, "why",
                  "Finds out why a program crashes or hangs the GPU: the change with which it does "
                  "not.",
                  "cairn why [OPTIONS] -- PROGRAM [ARGUMENTS]", kWhyExamples);
  ProgramRunsOptions& runs = options->runs;
  command
      .Option("--hang-timeout", &runs.hang_timeout, "SECONDS",
              "GPU work that takes longer is a hang: more than the slowest healthy submission "
              "takes")
      .WithDefault();
  command
      .Option("--runs", &options->repeats, "COUNT",
              "How often the program is run as it is, and how many clean runs with a change count "
              "as none that fails")
      .From(1, 1000)
      .WithDefault();
  command
      .Option("--trips", &options->trips, "COUNT",
              "After so many trips a loop of a shader is cut: more than any healthy one makes")
      .From(1, 1'000'000'000)
      .WithDefault();
  command.Option("--survive", &options->survive, "SECONDS",
                 "For a program that does not end by itself: a run that goes on for so long is "
                 "clean, and is ended");
  command
      .Option("--recovery", &options->recovery, "SECONDS",
              "How long the GPU may take to work again after a run that failed; 0: do not look")
      .WithDefault();
  command.Option("--max-runs", &options->max_runs, "COUNT", "Give up after so many runs")
      .From(1, 1'000'000'000)
      .WithDefault();
  command.Option("--journal", &runs.journal, "FILE",
                 "Where answers are kept until the end; PROGRAM.why if not given");
  command.Flag("--restart", &runs.restart, "Forget the answers of an interrupted search");
  command.Json(&runs.json);
  command.Flag("--quiet", &runs.quiet, "No progress");
  command.Flag("--progress", &options->progress,
               "Progress as lines on stderr, also where that is no terminal and with --json");
  auto program = std::make_shared<std::vector<std::string>>();
  return {command.app(), [options, program] { return Run(*options, *program); }, kExitUsage,
          program};
}

}  // namespace cairn::cli
