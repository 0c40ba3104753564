// SPDX-License-Identifier: Apache-2.0
#include "cli/why_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/bisect_parts.h"
#include "cli/trace_player.h"
#include "cli/verb.h"
#include "format/file/file_reader.h"
#include "format/snapshot/snapshot_file.h"
#include "os/clock.h"
#include "os/file.h"
#include "reader/analysis/findings.h"
#include "reader/serve/private_folder.h"
#include "reader/why/culprit_shaders.h"

namespace cairn::cli {

ReportFacts ReadReportFacts(const std::string& path) {
  for (const std::string& name : {path, path + ".part"}) {
    const Result<FileReader> reader = FileReader::Open(name);
    if (!reader.ok()) continue;
    Result<Snapshot> snapshot = ReadSnapshot(*reader);
    if (!snapshot.ok()) continue;
    const Findings findings = AnalyseDump(*snapshot);
    ReportFacts facts = {CulpritShaders(*snapshot, findings), "",
                         PipelinesOfShaders(*snapshot, findings), std::nullopt};
    const auto device = findings.device != kNone
                            ? snapshot->devices.begin() + findings.device
                            : std::find_if(snapshot->devices.begin(), snapshot->devices.end(),
                                           [](const Device& one) { return one.api != Api::kNone; });
    if (device != snapshot->devices.end()) facts.driver = snapshot->Text(device->driver);
    facts.snapshot = std::move(*snapshot);
    return facts;
  }
  return {};
}

WhySubject WhySubjectOfTrace(const TraceReader& trace, const std::string& path,
                             const DeviceFacts& device, const PlayOn& on,
                             const std::string& journal, uint64_t hang_timeout_ns) {
  const double hang_timeout_s = static_cast<double>(hang_timeout_ns) / 1e9;
  return {path, true, journal, [=, &trace](const std::string& own) {
            return IdentityOfTrace(trace, device, on,
                                   fmt::format("--hang-timeout {} {}", hang_timeout_s, own));
          }};
}

WhyOptions WhyRuns::SearchOptions() {
  WhyOptions search;
  search.runs = why_.repeats;
  search.trips = why_.trips;
  search.counts = why_.counts;
  search.max_runs = why_.max_runs;
  search.shaders = why_.shaders;
  search.hang_timeout_ns = options_.hang_timeout_ns;
  search.progress = [this](const BisectProgress& now) {
    if (!journal_->HasNext()) runs_.line().Show(now, journal_->AverageMs());
  };
  search.pause = [this](uint32_t nth) { runs_.WaitForGpu(nth); };
  return search;
}

void WhyRuns::SetMoreTime(uint32_t times, TrialSettings* settings) const {
  const uint64_t hang_timeout_ns = options_.hang_timeout_ns * times;
  settings->hang_timeout = fmt::format("{}", static_cast<double>(hang_timeout_ns) / 1e9);
  if (options_.with_hang_timeout) settings->program = options_.with_hang_timeout(hang_timeout_ns);
  // A run that is ended sooner than a hang would show is not clean.
  if (settings->survive_ns != 0) settings->survive_ns += hang_timeout_ns - options_.hang_timeout_ns;
}

Result<WhyRun> WhyRuns::Try(const Experiment& experiment, uint64_t most_ns) {
  TrialSettings settings = runs_.settings();
  settings.experiment = experiment;
  settings.most_ns = most_ns;
  if (experiment.change == Change::kMoreTime) SetMoreTime(experiment.times, &settings);
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
    facts_ = ReadReportFacts(settings.report_path);
    run.shaders = facts_.shaders;
    reported_ = true;
  }
  return run;
}

Result<WhyTold> WhyRuns::Search(const WhySubject& subject) {
  const uint64_t start_ns = MonotonicNs();
  Result<std::unique_ptr<BisectJournal>> journal =
      BisectJournal::Open(subject.journal,
                          subject.identity(fmt::format("--runs {} --trips {} --counts {}",
                                                       why_.repeats, why_.trips, why_.counts)),
                          options_.restart);
  if (!journal.ok()) return journal.status();
  journal_ = std::move(*journal);
  TellOfJournal(verb_, *journal_, subject.journal, options_.quiet || options_.json);
  WhySearch search(
      [this](const Experiment& experiment, uint64_t most_ns) { return Try(experiment, most_ns); },
      SearchOptions(), journal_.get());
  Result<WhyFound> found = search.Search();
  runs_.line().Clear();
  if (!found.ok()) {
    if (journal_->empty()) (void)journal_->Remove();
    return found.status();
  }
  WhyTold told;
  told.program = subject.shown;
  told.is_trace = subject.is_trace;
  told.found = std::move(*found);
  told.driver = facts_.driver;
  told.pipelines = facts_.pipelines;
  told.trips = why_.trips;
  told.counts = why_.counts;
  told.hang_timeout_seconds = static_cast<double>(options_.hang_timeout_ns) / 1e9;
  told.survive_seconds = static_cast<double>(options_.survive_ns) / 1e9;
  told.duration_ns = MonotonicNs() - start_ns;
  return told;
}

WhyRunsOptions WhyOptionsBehind(uint32_t repeats, uint64_t max_probes) {
  WhyRunsOptions options;
  options.repeats = std::max(options.repeats, repeats);
  options.max_runs = std::min(options.max_runs, max_probes);
  return options;
}

std::string WhyJournalBeside(const std::string& given, const std::string& otherwise) {
  return given.empty() ? otherwise : given + kWhyEnding;
}

WhyPart SearchBehindBisect(WhyRuns* runs, const WhySubject& subject) {
  WhyPart part;
  Result<WhyTold> told = runs->Search(subject);
  if (told.ok()) {
    part.told = std::move(told).value();
  } else if (told.status().code() == StatusCode::kInterrupted) {
    part.interrupted = true;
  } else {
    PrintNoWhy(told.status());
  }
  return part;
}

void PrintNoWhy(const Status& status) {
  PrintWarning("bisect", "the cause is not known: " + status.message());
}

void PrintWhyInterrupted() {
  PrintError("bisect",
             "interrupted in the search for the cause; the same command resumes from here");
}

void WhyRuns::Forget() {
  if (journal_ == nullptr) return;
  if (const Status removed = journal_->Remove(); !removed.ok()) {
    PrintWarning(verb_, removed.message());
  }
}

}  // namespace cairn::cli
