// SPDX-License-Identifier: Apache-2.0
//
// cairn bisect: finds the call that makes a trace fail, or the work that makes a program fail.
#include "reader/bisect/bisect.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/bisect_parts.h"
#include "cli/bisect_program.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/program_runs.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"
#include "cli/trace_player.h"
#include "cli/verb.h"
#include "cli/why_runs.h"
#include "format/snapshot/snapshot_file.h"
#include "os/clock.h"
#include "os/file.h"
#include "reader/bisect/bisect_journal.h"
#include "reader/bisect/bisect_tree.h"
#include "reader/bisect/culprit_parts.h"
#include "reader/bisect/minimal_trace.h"
#include "reader/bisect/probe_answer.h"
#include "reader/bisect/trace_probe.h"
#include "reader/view/bisect_text.h"
#include "reader/view/why_text.h"
#include "watcher/output_path.h"

namespace cairn::cli {
namespace {

constexpr char kBisectExamples[] =
    "Examples:\n"
    "  cairn bisect game.cairn               which call crashes or hangs the GPU; writes\n"
    "                                        game.minimal.cairn, which holds nothing else\n"
    "  cairn bisect --hang-timeout 2 game.cairn\n"
    "                                        quicker where no healthy submission takes 2 s\n"
    "  cairn bisect --runs 10 game.cairn     for failures that come only now and then\n"
    "  cairn bisect --no-why game.cairn      the call alone, without the experiments that find "
    "its cause\n"
    "  cairn bisect --json game.cairn        the answer for programs "
    "(docs/formats/bisect.schema.json)\n"
    "  cairn bisect -- ./game --level 3      without a capture: runs the program again and again, "
    "each\n"
    "                                        time without a part of its draws, dispatches and "
    "copies\n"
    "  cairn bisect --survive 60 -- ./game   for a program that does not end by itself: a run\n"
    "                                        of a minute counts as clean\n"
    "  cairn bisect --runs 10 -o culprit.cairn -- ./game\n"
    "                                        failures that come now and then; the report of a run "
    "that\n"
    "                                        holds nothing but the culprit\n"
    "\n"
    "^C ends the search; the same command resumes it.\n"
    "\n"
    "Exit code: 0 if the culprit was found; 1 if not, or if the search was ended; 2 if the "
    "command\n"
    "line is wrong.";

struct BisectOptionsOfVerb {
  std::string path;
  std::string output;
  std::string journal;
  PlayOn on;
  std::string hang_timeout = "10";
  std::string survive;
  std::string recovery = "120";
  uint32_t repeats = 2;
  uint64_t max_probes = 100'000;
  bool restart = false;
  bool no_output = false;
  bool no_why = false;
  bool json = false;
  bool quiet = false;
  bool progress = false;
};

std::string JournalPath(const BisectOptionsOfVerb& options) {
  return options.journal.empty() ? WithEnding(options.path, ".bisect") : options.journal;
}

std::string MinimalPath(const BisectOptionsOfVerb& options) {
  return options.output.empty() ? WithEnding(options.path, ".minimal.cairn") : options.output;
}

// Two of the three files of a search that are one, in words; empty if each is a file of its own. One would
// take the place of the other, which may be worth hours.
std::string SameFilesInWords(const BisectOptionsOfVerb& options) {
  const std::string journal = JournalPath(options);
  if (IsSameFile(journal, options.path)) {
    return fmt::format(
        "{} is the trace: its journal needs a file of its own; give another with "
        "--journal",
        journal);
  }
  if (options.no_output) return "";
  const std::string minimal = MinimalPath(options);
  if (IsSameFile(minimal, options.path)) {
    return fmt::format(
        "{} is the trace, which the minimal trace would replace; give another file "
        "with -o",
        minimal);
  }
  const std::string why = WhyJournalBeside(options.journal, WithEnding(options.path, kWhyEnding));
  if (IsSameFile(minimal, journal) || IsSameFile(minimal, why)) {
    return fmt::format(
        "{} cannot be both the minimal trace and the journal; give another file "
        "with -o or --journal",
        minimal);
  }
  return "";
}

class Search {
 public:
  Search(const BisectOptionsOfVerb& options, TraceReader* trace, uint64_t hang_timeout_ns,
         uint64_t recovery_ns)
      : options_(options),
        trace_(trace),
        line_(ProgressOf(options.progress, options.quiet || options.json)),
        gpus_(MakeGpuCheck(recovery_ns, &signals_, &line_)),
        recovery_ns_(recovery_ns) {
    settings_.path = options.path;
    settings_.on = options.on;
    settings_.hang_timeout_ns = hang_timeout_ns;
    settings_.keep_on = [this] { return signals_.Update(0, 0); };
  }

  int Run() {
    const uint64_t start_ns = MonotonicNs();
    Result<BisectTree> tree =
        ReadBisectTree(trace_, [this](uint64_t) { return signals_.Update(0, 0); });
    if (!tree.ok()) return Failed(tree.status());
    tree_ = std::move(*tree);
    if (tree_.may_draw) gpus_.RunDraws();
    const std::string journal_path = JournalPath(options_);
    Result<DeviceFacts> device = ProbeDevice(settings_);
    if (!device.ok()) return Failed(device.status());
    told_.device = *device;
    settings_.device = std::move(*device);
    Result<std::unique_ptr<BisectJournal>> journal = BisectJournal::Open(
        journal_path, IdentityOfTrace(*trace_, told_.device, options_.on, OptionsText()),
        options_.restart);
    if (!journal.ok()) return Failed(journal.status());
    journal_ = std::move(*journal);
    TellOfJournal("bisect", *journal_, journal_path, options_.quiet || options_.json);
    bisect_.repeats = options_.repeats;
    bisect_.max_probes = options_.max_probes;
    bisect_.progress = [this](const BisectProgress& now) {
      if (!journal_->HasNext()) line_.Show(now, journal_->AverageMs());
    };
    Result<BisectAnswer> answer = Bisect(
        tree_, [this](const BisectQuestion& question) { return Ask(question); }, bisect_);
    line_.Clear();
    if (!answer.ok()) return Failed(answer.status());
    told_.answer = std::move(*answer);
    told_.hang_timeout_ns = settings_.hang_timeout_ns;
    return Tell(start_ns);
  }

 private:
  // However they were written.
  std::string OptionsText() const {
    return fmt::format("--hang-timeout {} --repeats {}, with canaries",
                       static_cast<double>(settings_.hang_timeout_ns) / 1e9, options_.repeats);
  }

  void Note(const BisectQuestion& question, const ProbeRun& run) {
    const bool whole = question.left_out.empty() && !question.parts;
    // Without a part it may be less.
    if (whole || told_.left_out.empty()) {
      told_.left_out = run.left_out;
      if (run.skipped != 0) {
        told_.left_out = fmt::format("{} calls; {}", GroupedDigits(run.skipped), run.left_out);
      }
    }
    if (!whole) return;
    ++told_.whole_plays;
    told_.whole_plays_ns += run.duration_ns;
    if (run.end == ProbeEnd::kRefused) told_.refused = run.message;
    if (run.slowest_ns <= told_.slowest_ns) return;
    told_.slowest_ns = run.slowest_ns;
    told_.slowest_submission = run.slowest_call;
  }

  Result<ProbeAnswer> Play(const TraceProbeSettings& settings, const BisectQuestion& question,
                           ProbeRun* run) {
    CAIRN_RETURN_IF_ERROR(gpus_.BeforeRun());
    Result<ProbeRun> played = PlayProbe(settings, question);
    if (!played.ok()) return played.status();
    *run = std::move(*played);
    Result<ProbeAnswer> answer = AnswerOf(*run, tree_, told_.device);
    if (answer.ok() && answer->outcome == ProbeOutcome::kFails) gpus_.RunFailed();
    return answer;
  }

  Result<ProbeAnswer> Ask(const BisectQuestion& question) {
    return journal_->Ask(question, [this](const BisectQuestion& q) -> Result<ProbeAnswer> {
      ProbeRun run;
      Result<ProbeAnswer> answer = Play(settings_, q, &run);
      // A play that says nothing says nothing of how long things take, either.
      if (answer.ok() && answer->outcome != ProbeOutcome::kUndecided) Note(q, run);
      return answer;
    });
  }

  int Failed(const Status& status) {
    line_.Clear();
    if (journal_ != nullptr && journal_->empty()) (void)journal_->Remove();
    if (status.code() == StatusCode::kInterrupted) {
      PrintError("bisect", "interrupted; the same command resumes from here");
    } else {
      PrintError("bisect", options_.path + ": " + status.message());
    }
    return kExitFailed;
  }

  // Looks within the culprits. False: it was interrupted.
  bool SearchParts() {
    const Probe probe = [this](const BisectQuestion& question) { return Ask(question); };
    const ReadBytes read = [this](const BisectQuestion& question,
                                  const BytesToRead& place) -> Result<std::vector<std::byte>> {
      TraceProbeSettings settings = settings_;
      settings.read = place;
      ProbeRun run;
      const Result<ProbeAnswer> answer = Play(settings, question, &run);
      if (!answer.ok()) return answer.status();
      return run.bytes;
    };
    for (CulpritText& culprit : told_.culprits) {
      const Status status = SearchWithin(trace_, tree_, told_.answer, probe, read, bisect_,
                                         &culprit, &told_.answer.probes);
      line_.Clear();
      if (status.code() == StatusCode::kInterrupted) return false;
      if (status.ok()) continue;
      PrintWarning("bisect", "the search within a call ended early: " + status.message());
    }
    return true;
  }

  int Tell(uint64_t start_ns) {
    told_.path = options_.path;
    bool interrupted = false;
    if (told_.answer.found) {
      Result<std::vector<CulpritText>> culprits =
          DescribeCulprits(trace_, told_.answer.culprits, told_.answer.place);
      if (!culprits.ok()) return Failed(culprits.status());
      told_.culprits = std::move(*culprits);
      interrupted = !SearchParts();
    }
    told_.duration_ns = MonotonicNs() - start_ns;
    if (const Result<Snapshot> crash = ReadSnapshot(trace_->file()); crash.ok()) {
      told_.recorded = RecordedIncidents(*crash);
      AddBreadcrumbPaths(*crash, &told_.culprits);
    }
    if (interrupted) {
      (void)PrintOutput("bisect", AnswerInWords());
      PrintError(
          "bisect",
          "interrupted in the search within the culprit; the same command resumes from here");
      return kExitFailed;
    }
    if (told_.answer.found && !options_.no_output) {
      const Status written = WriteMinimal();
      // The answers are in the journal: the same command tells it, and writes the file.
      if (written.code() == StatusCode::kInterrupted) return Failed(written);
      // The answer stands without it.
      if (!written.ok()) {
        PrintWarning("bisect", "no minimal trace is written: " + written.message());
      }
    }
    if (told_.answer.found && !options_.no_why) SearchWhy();
    const bool printed = PrintOutput("bisect", AnswerInWords());
    if (why_.interrupted) {
      PrintWhyInterrupted();
      return printed ? 0 : kExitFailed;
    }
    if (const Status removed = journal_->Remove(); !removed.ok()) {
      PrintWarning("bisect", removed.message());
    }
    return printed && told_.answer.found ? 0 : kExitFailed;
  }

  std::string AnswerInWords() {
    if (options_.json) {
      if (why_.told.has_value()) told_.why_json = WhyAsJson(*why_.told, JsonWriter::kOneLine);
      return AnswerAsJson(told_);
    }
    return FittedSentences(AnswerAsText(told_) +
                           (why_.told.has_value() ? WhyBehindBisect(*why_.told) : ""));
  }

  // On the whole trace, as cairn why does.
  void SearchWhy() {
    ProgramRunsOptions played = {
        .hang_timeout = options_.hang_timeout,
        .hang_timeout_ns = settings_.hang_timeout_ns,
        .recovery_ns = recovery_ns_,
        .restart = options_.restart,
        .json = options_.json,
        .quiet = options_.quiet,
        .progress = ProgressOf(options_.progress, options_.quiet || options_.json)};
    SetPlayer(options_.path, options_.on, &played);
    ProgramRuns runs("bisect", played, &signals_);
    if (tree_.may_draw) runs.ExpectDraws();
    if (const Status prepared = runs.Prepare(); !prepared.ok()) return PrintNoWhy(prepared);
    WhyRuns why("bisect", played, &runs, WhyOptionsBehind(options_.repeats, options_.max_probes));
    const std::string journal =
        WhyJournalBeside(options_.journal, WithEnding(options_.path, kWhyEnding));
    why_ = SearchBehindBisect(
        &why, WhySubjectOfTrace(*trace_, options_.path, told_.device, options_.on, journal,
                                settings_.hang_timeout_ns));
    if (why_.told.has_value()) why.Forget();
  }

  // Writes the minimal trace; keeps it only if it was seen to fail.
  Status WriteMinimal() {
    const std::string path = MinimalPath(options_);
    const std::string untested = path + ".untested";
    Result<bool> fails = WriteAndTest(untested, MinimalObjects::kNeeded);
    // The fault may need an object that no other call needs.
    if (fails.ok() && !*fails) fails = WriteAndTest(untested, MinimalObjects::kAll);
    if (fails.ok() && *fails) {
      const std::error_code error = Rename(untested, path);
      if (!error) {
        told_.minimal_path = path;
        return {};
      }
      fails = StatusFromError(error, path);
    }
    (void)RemoveFile(untested);
    (void)RemoveFile(untested + ".part");
    if (!fails.ok()) return fails.status();
    PrintWarning(
        "bisect",
        "what is left does not fail in the same way in a file of its own: no minimal trace is "
        "written");
    return {};
  }

  // Returns true if the minimal trace fails in the same way as the trace did.
  Result<bool> WriteAndTest(const std::string& path, MinimalObjects objects) {
    CAIRN_RETURN_IF_ERROR(WriteMinimalTrace(trace_, tree_, told_.answer, objects, path));
    TraceProbeSettings settings = settings_;
    settings.path = path;
    const Probe probe = [&](const BisectQuestion& question) -> Result<ProbeAnswer> {
      ProbeRun run;
      return Play(settings, question, &run);
    };
    return FailsTheSame(told_.answer, probe, {});
  }

  const BisectOptionsOfVerb& options_;
  TraceReader* const trace_;
  TaskProgress signals_{"bisect"};
  ProbeLine line_;
  GpuCheck gpus_;
  TraceProbeSettings settings_;
  BisectTree tree_;
  std::unique_ptr<BisectJournal> journal_;
  BisectOptions bisect_;
  BisectTold told_;
  const uint64_t recovery_ns_;
  WhyPart why_;
};

// Returns the fault of the options of a search that runs a program; "" if there is none.
std::string WrongForProgram(const BisectOptionsOfVerb& options) {
  if (!options.path.empty()) {
    return fmt::format("give a trace or a program, not both: {} stands in front of --",
                       VisibleText(options.path));
  }
  const char* of_traces = nullptr;
  if (options.no_output) of_traces = "--no-output";
  if (!options.on.library.empty()) of_traces = "--library";
  if (!options.on.adapter.empty()) of_traces = "--adapter";
  if (of_traces != nullptr) {
    return fmt::format("{} is for traces: a program is not played", of_traces);
  }
  return "";
}

int RunProgramSearch(const BisectOptionsOfVerb& options, const std::vector<std::string>& program,
                     uint64_t hang_timeout_ns, uint64_t recovery_ns) {
  std::string wrong = WrongForProgram(options);
  const Result<uint64_t> survive_ns =
      ParseSurvive(options.survive, options.hang_timeout, hang_timeout_ns);
  if (wrong.empty() && !survive_ns.ok()) wrong = survive_ns.status().message();
  if (!wrong.empty()) {
    PrintError("bisect", wrong);
    return kExitUsage;
  }
  if (!options.output.empty()) {
    if (const Status writable = CheckOutputPath(options.output); !writable.ok()) {
      PrintError("bisect", writable.message());
      return kExitFailed;
    }
  }
  BisectProgramOptions search;
  search.runs = {.program = program,
                 .journal = options.journal,
                 .hang_timeout = options.hang_timeout,
                 .hang_timeout_ns = hang_timeout_ns,
                 .survive_ns = *survive_ns,
                 .recovery_ns = recovery_ns,
                 .restart = options.restart,
                 .json = options.json,
                 .quiet = options.quiet,
                 .progress = ProgressOf(options.progress, options.quiet || options.json)};
  search.output = options.output;
  search.no_why = options.no_why;
  search.repeats = options.repeats;
  search.max_probes = options.max_probes;
  return BisectProgram(search);
}

int Run(const BisectOptionsOfVerb& options, const std::vector<std::string>& program) {
  const Result<uint64_t> hang_timeout_ns = ParseHangTimeout(options.hang_timeout);
  if (!hang_timeout_ns.ok()) {
    PrintError("bisect", hang_timeout_ns.status().message());
    return kExitUsage;
  }
  const Result<uint64_t> recovery_ns = ParseSecondsOf("--recovery", options.recovery);
  if (!recovery_ns.ok()) {
    PrintError("bisect", recovery_ns.status().message());
    return kExitUsage;
  }
  if (!program.empty()) return RunProgramSearch(options, program, *hang_timeout_ns, *recovery_ns);
  if (!options.survive.empty()) {
    PrintError("bisect",
               "--survive is for programs: say cairn bisect --survive SECONDS -- PROGRAM");
    return kExitUsage;
  }
  std::optional<TraceReader> trace = OpenTraceToPlay("bisect", options.path);
  if (!trace.has_value()) return options.path.empty() ? kExitUsage : kExitFailed;
  if (const std::string same = SameFilesInWords(options); !same.empty()) {
    PrintError("bisect", same);
    return kExitUsage;
  }
  // A search may take hours: what it is to end in can be written, or it is not begun.
  if (!options.no_output) {
    if (const Status writable = CheckOutputPath(MinimalPath(options)); !writable.ok()) {
      PrintError("bisect", writable.message());
      return kExitFailed;
    }
  }
  return Search(options, &*trace, *hang_timeout_ns, *recovery_ns).Run();
}

}  // namespace

Verb AddBisectVerb(CLI::App& root) {
  auto options = std::make_shared<BisectOptionsOfVerb>();
  Command command(
      root, "bisect", "Finds the call that makes a trace, or a program, crash or hang the GPU.",
      "cairn bisect [OPTIONS] FILE\n       cairn bisect [OPTIONS] -- PROGRAM [ARGUMENTS]",
      kBisectExamples);
  command.TraceFile(&options->path);
  command.Option(
      "-o,--output", &options->output, "FILE",
      "Where to write the trace that holds the culprit alone; NAME.minimal.cairn if "
      "not given. With a program: the report of a run with the culprit alone; none if not given");
  command.Flag("--no-output", &options->no_output, "Do not write a minimal trace");
  command
      .Option("--hang-timeout", &options->hang_timeout, "SECONDS",
              "GPU work that takes longer counts as a hang; give more than the slowest healthy "
              "submission takes")
      .WithDefault();
  command
      .Option("--runs,--repeats", &options->repeats, "COUNT",
              "How often to play the whole trace, or run the whole program, at the start, and how "
              "often "
              "to check the answer at the end")
      .From(1, 1000)
      .WithDefault();
  command.Option(
      "--survive", &options->survive, "SECONDS",
      "For a program that does not end by itself: end a run after this time, and count it as "
      "clean");
  command
      .Option("--recovery", &options->recovery, "SECONDS",
              "How long to wait for the GPU to work again after a failed run; 0: do not check")
      .WithDefault();
  command.Option("--max-probes", &options->max_probes, "COUNT", "Give up after this many plays")
      .From(1, 1'000'000'000)
      .WithDefault();
  command.Option("--journal", &options->journal, "FILE",
                 "File that keeps the answers until the search ends; NAME.bisect if not given");
  command.Flag("--restart", &options->restart, "Forget the answers of an interrupted search");
  command.Flag("--no-why", &options->no_why,
               "Do not look for the cause behind the culprit: the experiments of cairn why");
  command.Library(&options->on.library);
  command.Adapter(&options->on.adapter);
  command.Json(&options->json);
  command.Flag("--quiet", &options->quiet, "No progress");
  command.Flag("--progress", &options->progress,
               "Progress as lines on stderr, also where that is no terminal and with --json");
  auto program = std::make_shared<std::vector<std::string>>();
  Verb verb = {command.app(), [options, program] { return Run(*options, *program); }, kExitUsage,
               program};
  verb.program_needs_dashes = true;
  return verb;
}

}  // namespace cairn::cli
