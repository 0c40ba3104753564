// SPDX-License-Identifier: Apache-2.0
#include "cli/bisect_program.h"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/shell_words.h"
#include "cli/bisect_parts.h"
#include "cli/program_runs.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "cli/why_runs.h"
#include "format/elimination/catalogue.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/new_file.h"
#include "os/process.h"
#include "reader/bisect/bisect.h"
#include "reader/bisect/bisect_journal.h"
#include "reader/bisect/probe_answer.h"
#include "reader/bisect/program_search.h"
#include "reader/bisect/program_trial.h"
#include "reader/serve/private_folder.h"
#include "reader/view/program_bisect_text.h"
#include "reader/view/why_text.h"
#include "watcher/output_path.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

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

class Bisecting {
 public:
  explicit Bisecting(const BisectProgramOptions& options)
      : options_(options), runs_("bisect", options.runs, &signals_) {}

  int Run();

 private:
  Status CheckFiles() const;
  Status OpenJournal();
  ProgramSearchOptions SearchOptions();
  void WriteReport(const BoardQuestion& alone, ProgramTold* told);
  std::vector<uint64_t> ShadersOfCulprit(const ProgramTold& told);
  void SearchWhy(const ProgramTold& told);
  int Failed(const Status& status);
  int Tell(ProgramTold told);
  Status Forget();

  const BisectProgramOptions& options_;
  TaskProgress signals_{"bisect"};
  ProgramRuns runs_;
  std::string journal_path_;
  std::string work_path_;  // the catalogue, for a search that goes on
  std::string why_journal_path_;
  std::unique_ptr<WhyRuns> why_runs_;
  WhyPart why_;
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
  if (IsSameFile(options_.output, FileOfProgram(options_.runs.program.front()))) {
    return refused("the program, which the report would replace");
  }
  for (const std::string& path : {journal_path_, work_path_, why_journal_path_}) {
    if (IsSameFile(options_.output, path)) {
      return refused("a file of the journal, which goes when the search is over");
    }
  }
  return {};
}

Status Bisecting::OpenJournal() {
  const JournalIdentity identity = runs_.Identity(fmt::format("--runs {}", options_.repeats));
  bool restart = options_.runs.restart;
  for (;;) {
    Result<std::unique_ptr<BisectJournal>> journal =
        BisectJournal::Open(journal_path_, identity, restart);
    if (!journal.ok()) return journal.status();
    journal_ = std::move(*journal);
    TellOfJournal("bisect", *journal_, journal_path_, options_.runs.quiet || options_.runs.json);
    if (journal_->remembered() == 0) return {};
    // The journal's answers are about the work that this file describes.
    Result<WorkCatalogue> catalogue = ReadCatalogue(BytesOf(work_path_));
    if (catalogue.ok()) {
      catalogue_ = std::move(*catalogue);
      runs_.NoteWork(*catalogue_);
      return {};
    }
    PrintWarning("bisect", fmt::format("starts over: the answers in {} are of no use without {}, "
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
  search.hang_timeout_ns = options_.runs.hang_timeout_ns;
  search.progress = [this](const BisectProgress& now) {
    if (!journal_->HasNext()) runs_.line().Show(now, journal_->AverageMs());
  };
  search.save = [this](const WorkCatalogue& catalogue) {
    const std::error_code error = ReplaceFile(work_path_, WriteCatalogue(catalogue));
    return error ? StatusFromError(error, work_path_) : Status();
  };
  search.pause = [this](uint32_t nth) { runs_.WaitForGpu(nth); };
  return search;
}

int Bisecting::Run() {
  const uint64_t start_ns = MonotonicNs();
  if (const Status prepared = runs_.Prepare(); !prepared.ok()) return Failed(prepared);
  journal_path_ = runs_.JournalPath(".bisect");
  work_path_ = journal_path_ + ".work";
  why_journal_path_ = WhyJournalBeside(options_.runs.journal, runs_.JournalPath(kWhyEnding));
  if (const Status checked = CheckFiles(); !checked.ok()) {
    PrintError("bisect", checked.message());
    return kExitUsage;
  }
  if (const Status opened = OpenJournal(); !opened.ok()) return Failed(opened);
  const RunProgram run = [this](const BoardQuestion& question, uint64_t most_ns) {
    TrialSettings settings = runs_.settings();
    settings.most_ns = most_ns;
    return runs_.Try(settings, question);
  };
  ProgramSearch search(run, SearchOptions(), journal_.get(),
                       catalogue_.has_value() ? &*catalogue_ : nullptr);
  Result<ProgramFound> found = search.Search();
  runs_.line().Clear();
  if (!found.ok()) return Failed(found.status());
  ProgramTold told;
  told.program = ShellQuotedLine(options_.runs.program);
  told.found = std::move(*found);
  told.hang_timeout_seconds = static_cast<double>(options_.runs.hang_timeout_ns) / 1e9;
  told.survive_seconds = static_cast<double>(options_.runs.survive_ns) / 1e9;
  if (told.found.answer.found && !options_.output.empty()) WriteReport(told.found.alone, &told);
  told.duration_ns = MonotonicNs() - start_ns;
  if (told.found.answer.found && !options_.no_why) SearchWhy(told);
  return Tell(std::move(told));
}

// Those of a report of a run with the culprit alone; none if it does not fail, or does not say.
std::vector<uint64_t> Bisecting::ShadersOfCulprit(const ProgramTold& told) {
  if (!told.report_path.empty()) return ReadReportFacts(told.report_path).shaders;
  const Result<PrivateFolder> folder = PrivateFolder::Make();
  if (!folder.ok()) return {};
  TrialSettings settings = runs_.settings();
  settings.report_path = TextOfPath(folder->path() / "report.cairn");
  const Result<TrialRun> run = runs_.Try(settings, told.found.alone);
  const bool failed = run.ok() && run->end == TrialEnd::kFailed;
  return failed ? ReadReportFacts(settings.report_path).shaders : std::vector<uint64_t>();
}

void Bisecting::SearchWhy(const ProgramTold& told) {
  WhyRunsOptions why = WhyOptionsBehind(options_.repeats, options_.max_probes);
  why.shaders = ShadersOfCulprit(told);
  why_runs_ = std::make_unique<WhyRuns>("bisect", options_.runs, &runs_, std::move(why));
  why_ = SearchBehindBisect(why_runs_.get(),
                            {told.program, false, why_journal_path_,
                             [this](const std::string& own) { return runs_.Identity(own); }});
}

// Runs the program once more for the report. A run that fails differently gives no report.
void Bisecting::WriteReport(const BoardQuestion& alone, ProgramTold* told) {
  TrialSettings settings = runs_.settings();
  settings.report_path = options_.output;
  const fs::file_time_type start = fs::file_time_type::clock::now() - std::chrono::seconds(1);
  const BisectAnswer& failure = told->found.answer;
  for (uint32_t i = 0; i < TriesOf(failure); ++i) {
    const Result<TrialRun> run = runs_.Try(settings, alone);
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
  if (journal_ != nullptr && journal_->empty()) (void)Forget().ok();
  runs_.PrintFailure(status);
  return kExitFailed;
}

int Bisecting::Tell(ProgramTold told) {
  std::string text;
  if (options_.runs.json) {
    if (why_.told.has_value()) told.why_json = WhyAsJson(*why_.told, JsonWriter::kOneLine);
    text = ProgramAnswerAsJson(told);
  } else {
    text = ProgramAnswerAsText(told);
    if (why_.told.has_value()) text += WhyBehindBisect(*why_.told);
    text = FittedSentences(text);
  }
  const bool printed = PrintOutput("bisect", text);
  if (why_.interrupted) {
    PrintWhyInterrupted();
    return printed ? 0 : kExitFailed;
  }
  if (const Status removed = Forget(); !removed.ok()) PrintWarning("bisect", removed.message());
  if (why_.told.has_value()) why_runs_->Forget();
  return printed && told.found.answer.found ? 0 : kExitFailed;
}

}  // namespace

int BisectProgram(const BisectProgramOptions& options) {
  return Bisecting(options).Run();
}

}  // namespace cairn::cli
