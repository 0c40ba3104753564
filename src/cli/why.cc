// SPDX-License-Identifier: Apache-2.0
//
// cairn why: finds the change with which a program, or the playback of a trace, does not fail.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/shell_words.h"
#include "base/text.h"
#include "cli/bisect_parts.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/program_runs.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"
#include "cli/trace_player.h"
#include "cli/verb.h"
#include "cli/why_runs.h"
#include "cli/written_output.h"
#include "os/file.h"
#include "reader/analysis/findings.h"
#include "reader/bisect/bisect_tree.h"
#include "reader/bisect/trace_probe.h"
#include "reader/page/page.h"
#include "reader/view/why_text.h"
#include "watcher/output_path.h"

namespace cairn::cli {
namespace {

constexpr char kWhyExamples[] =
    "Examples:\n"
    "  cairn why -- ./game                   runs the program again and again, each time with one\n"
    "                                        thing changed: loops that end, accesses checked,\n"
    "                                        barriers, objects kept alive, new memory filled, "
    "or\n"
    "                                        more time; the change that helps shows the cause\n"
    "  cairn why --hang-timeout 2 -- ./game  quicker where no healthy submission takes 2 s\n"
    "  cairn why --survive 60 -- ./game      for a program that does not end by itself: a run of\n"
    "                                        a minute counts as clean\n"
    "  cairn why --runs 10 -- ./game         for failures that come only now and then\n"
    "  cairn why game.cairn                  the same with the playback of a trace\n"
    "  cairn why --markdown -- ./game        the answer for a bug tracker\n"
    "  cairn why --html why.html -- ./game   the same as a page for a browser, with the report\n"
    "  cairn why --json -- ./game            the answer for programs "
    "(docs/formats/why.schema.json)\n"
    "\n"
    "^C ends the search; the same command resumes it.\n"
    "\n"
    "Exit code: 0 if a cause was found; 1 if not, or if the search was ended; 2 if the command\n"
    "line is wrong.";

struct WhyOptionsOfVerb {
  std::string path;  // of a trace
  PlayOn on;
  bool markdown = false;
  std::string html;  // the name of a page
  bool force = false;
  ProgramRunsOptions runs;
  std::string survive;
  std::string recovery = "120";
  uint32_t repeats = 3;
  uint32_t trips = 65536;
  uint32_t counts = 1 << 24;
  uint64_t max_runs = 10'000;
  bool progress = false;
};

WhyRunsOptions RunsOf(const WhyOptionsOfVerb& options) {
  return {options.repeats, options.trips, options.counts, options.max_runs, {}};
}

// Writes the answer as a page, with the report of the first run that failed.
int WriteHtml(const WhyOptionsOfVerb& options, const WhyTold& told, const WhyRuns& runs) {
  const std::string why = WhyAsJson(told, JsonWriter::kOneLine);
  return WriteHtmlFile("why", options.html, options.force, [&](const auto& print) {
    const std::optional<Snapshot>& report = runs.report();
    if (!report.has_value()) return WritePage({.file = told.program, .why = why}, print);
    const Findings findings = AnalyseDump(*report);
    return WritePage({.file = told.program,
                      .snapshot = &*report,
                      .findings = &findings,
                      .names_file = false,
                      .why = why},
                     print);
  });
}

Status CheckPage(const WhyOptionsOfVerb& options) {
  if (options.html.empty()) return {};
  if (!HasPage()) return WritePage({}, nullptr);
  return CheckNew("--html", FilePath(options.html), options.force);
}

int Tell(const WhyOptionsOfVerb& options, const WhyTold& told, WhyRuns* runs) {
  const std::string text = options.runs.json  ? WhyAsJson(told)
                           : options.markdown ? WhyAsMarkdown(told)
                                              : FittedSentences(WhyAsText(told));
  const bool printed = PrintOutput("why", text);
  // The journal stays if the page cannot be written: the same command then needs a few runs.
  if (!options.html.empty() && WriteHtml(options, told, *runs) != 0) return kExitFailed;
  runs->Forget();
  return printed && !told.found.causes.empty() ? 0 : kExitFailed;
}

int RunProgram(const WhyOptionsOfVerb& options) {
  TaskProgress signals("why");
  ProgramRuns runs("why", options.runs, &signals);
  WhyRuns why("why", options.runs, &runs, RunsOf(options));
  const auto search = [&]() -> Result<WhyTold> {
    CAIRN_RETURN_IF_ERROR(runs.Prepare());
    return why.Search({ShellQuotedLine(options.runs.program), false, runs.JournalPath(kWhyEnding),
                       [&](const std::string& own) { return runs.Identity(own); }});
  };
  const Result<WhyTold> told = search();
  if (told.ok()) return Tell(options, *told, &why);
  runs.PrintFailure(told.status());
  return kExitFailed;
}

int RunTrace(const WhyOptionsOfVerb& options) {
  const std::string& path = options.path;
  std::optional<TraceReader> trace = OpenTraceToPlay("why", path);
  if (!trace.has_value()) return kExitFailed;
  const std::string& given = options.runs.journal;
  const std::string journal = given.empty() ? WithEnding(path, kWhyEnding) : given;
  if (IsSameFile(journal, path)) {
    PrintError("why", fmt::format("{} is the trace: its journal needs a file of its own; give "
                                  "another with --journal",
                                  journal));
    return kExitUsage;
  }
  TaskProgress signals("why");
  ProgramRuns runs("why", options.runs, &signals);
  WhyRuns why("why", options.runs, &runs, RunsOf(options));
  const auto search = [&]() -> Result<WhyTold> {
    CAIRN_RETURN_IF_ERROR(runs.Prepare());
    const auto keep_on = [&signals] { return signals.Update(0, 0); };
    const Result<bool> may_draw = TraceMayDraw(&*trace, [&](uint64_t) { return keep_on(); });
    if (!may_draw.ok()) return may_draw.status();
    if (*may_draw) runs.ExpectDraws();
    const Result<DeviceFacts> device = ProbeDevice({.path = path,
                                                    .on = options.on,
                                                    .hang_timeout_ns = options.runs.hang_timeout_ns,
                                                    .keep_on = keep_on});
    if (!device.ok()) return device.status();
    return why.Search(WhySubjectOfTrace(*trace, path, *device, options.on, journal,
                                        options.runs.hang_timeout_ns));
  };
  const Result<WhyTold> told = search();
  if (told.ok()) return Tell(options, *told, &why);
  const bool interrupted = told.status().code() == StatusCode::kInterrupted;
  runs.PrintFailure(interrupted
                        ? told.status()
                        : Status(told.status().code(), path + ": " + told.status().message()));
  return kExitFailed;
}

// Returns the fault of the command line; "" if there is none.
std::string WrongWords(const WhyOptionsOfVerb& options, const std::vector<std::string>& program) {
  if (program.empty() && options.path.empty()) {
    return "nothing is given; say cairn why -- PROGRAM ARGUMENTS, or cairn why FILE.cairn";
  }
  if (program.empty()) {
    if (options.survive.empty()) return "";
    return "--survive is for programs: say cairn why --survive SECONDS -- PROGRAM";
  }
  if (!options.path.empty()) {
    return fmt::format("give a trace or a program, not both: {} stands in front of --",
                       VisibleText(options.path));
  }
  if (!options.on.library.empty()) return "--library is for traces: a program is not played";
  return options.on.adapter.empty() ? "" : "--adapter is for traces: a program is not played";
}

int Run(WhyOptionsOfVerb options, const std::vector<std::string>& program) {
  if (const std::string wrong = WrongWords(options, program); !wrong.empty()) {
    PrintError("why", wrong);
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
  // Found out before the runs, which may take hours.
  const Status page = CheckPage(options);
  if (!page.ok()) {
    PrintError("why", page.message());
    return kExitFailed;
  }
  runs.program = program;
  runs.hang_timeout_ns = *hang_timeout_ns;
  runs.recovery_ns = *recovery_ns;
  runs.survive_ns = *survive_ns;
  runs.progress = ProgressOf(options.progress, runs.quiet || runs.json);
  if (!program.empty()) return RunProgram(options);
  SetPlayer(options.path, options.on, &runs);
  return RunTrace(options);
}

}  // namespace

Verb AddWhyVerb(CLI::App& root) {
  auto options = std::make_shared<WhyOptionsOfVerb>();
  Command command(
      root, "why",
      "Finds out why a program, or a trace, crashes or hangs the GPU: changes one thing "
      "at a time until it no longer fails.",
      "cairn why [OPTIONS] -- PROGRAM [ARGUMENTS]\n       cairn why [OPTIONS] FILE", kWhyExamples);
  ProgramRunsOptions& runs = options->runs;
  command.TraceFile(&options->path);
  command
      .Option("--hang-timeout", &runs.hang_timeout, "SECONDS",
              "GPU work that takes longer counts as a hang; give more than the slowest healthy "
              "submission takes")
      .WithDefault();
  command
      .Option("--runs", &options->repeats, "COUNT",
              "How often to run the program, or play the trace, unchanged; and how many clean runs "
              "show that a change helps")
      .From(1, 1000)
      .WithDefault();
  command
      .Option("--trips", &options->trips, "COUNT",
              "Cut a shader's loop after this many trips (iterations); give more than any healthy "
              "loop makes")
      .From(1, 1'000'000'000)
      .WithDefault();
  command
      .Option("--counts", &options->counts, "COUNT",
              "Limit a draw to this many vertices in all its instances, a dispatch to this many "
              "groups; give more than any healthy call has")
      .From(1, 1'000'000'000)
      .WithDefault();
  command.Option("--survive", &options->survive, "SECONDS",
                 "For a program that does not end by itself: end a run after this time, and count "
                 "it as clean");
  command
      .Option("--recovery", &options->recovery, "SECONDS",
              "How long to wait for the GPU to work again after a failed run; 0: do not check")
      .WithDefault();
  command.Option("--max-runs", &options->max_runs, "COUNT", "Give up after this many runs")
      .From(1, 1'000'000'000)
      .WithDefault();
  command.Option(
      "--journal", &runs.journal, "FILE",
      "File that keeps the answers until the search ends; PROGRAM.why or NAME.why if not given");
  command.Flag("--restart", &runs.restart, "Forget the answers of an interrupted search");
  command.Library(&options->on.library);
  command.Adapter(&options->on.adapter);
  const CommandOption json = command.Json(&runs.json);
  command.Flag("--markdown", &options->markdown, "Print the answer as Markdown for a bug tracker")
      .Without(json);
  const CommandOption html =
      command
          .Option("--html", &options->html, "PAGE",
                  "Write the answer and the report of the first failed run as one page for a "
                  "browser, too")
          .Without(json);
  command.Flag("--force", &options->force, "Let --html replace a file").OnlyWith(html);
  command.Flag("--quiet", &runs.quiet, "No progress");
  command.Flag("--progress", &options->progress,
               "Progress as lines on stderr, also where that is no terminal and with --json");
  auto program = std::make_shared<std::vector<std::string>>();
  Verb verb = {command.app(), [options, program] { return Run(*options, *program); }, kExitUsage,
               program};
  verb.program_needs_dashes = true;
  return verb;
}

}  // namespace cairn::cli
