// SPDX-License-Identifier: Apache-2.0
//
// cairn bisect: finds the call that makes a trace fail.
#include "reader/bisect/bisect.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/trace_file.h"
#include "cli/verb.h"
#include "os/clock.h"
#include "os/terminal.h"
#include "reader/bisect/bisect_journal.h"
#include "reader/bisect/bisect_tree.h"
#include "reader/bisect/minimal_trace.h"
#include "reader/bisect/probe_answer.h"
#include "reader/bisect/trace_probe.h"
#include "reader/view/bisect_text.h"
#include "watcher/output_path.h"

namespace cairn::cli {
namespace {

constexpr char kExamples[] =
    "Examples:\n"
    "  cairn bisect game.cairn               which call crashes or hangs the GPU; writes\n"
    "                                        game.minimal.cairn, which holds nothing else\n"
    "  cairn bisect --hang-timeout 2 game.cairn\n"
    "                                        quicker where no healthy submission takes 2 s\n"
    "  cairn bisect --repeats 10 game.cairn  for what fails only now and then\n"
    "  cairn bisect --json game.cairn        the answer for programs (docs/bisect.schema.json)\n"
    "\n"
    "^C ends the search; the same command goes on where it was.\n"
    "\n"
    "Exit code: 0 if the culprit was found; 1 if not, or if the search was ended; 2 if the "
    "command\n"
    "line is wrong.";

struct Options {
  std::string path;
  std::string output;
  std::string journal;
  std::string library;
  std::string hang_timeout = "10";
  uint32_t repeats = 2;
  uint64_t max_probes = 100'000;
  bool restart = false;
  bool no_output = false;
  bool json = false;
  bool quiet = false;
};

// "game.cairn" -> "game.minimal.cairn"
std::string WithEnding(const std::string& path, const char* ending) {
  constexpr std::string_view kEnding = ".cairn";
  const std::string stem =
      path.ends_with(kEnding) ? path.substr(0, path.size() - kEnding.size()) : path;
  return stem + ending;
}

std::string JournalPath(const Options& options) {
  return options.journal.empty() ? WithEnding(options.path, ".bisect") : options.journal;
}

std::string MinimalPath(const Options& options) {
  return options.output.empty() ? WithEnding(options.path, ".minimal.cairn") : options.output;
}

// Whether both name the same file, be it there or not.
bool IsSameFile(const std::string& one, const std::string& other) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::equivalent(one, other, error)) return true;
  const auto canonical = [](const std::string& path) {
    std::error_code unknown;
    const fs::path absolute = fs::absolute(path, unknown);
    fs::path found = fs::weakly_canonical(absolute, unknown);
    return unknown ? absolute.lexically_normal() : found;
  };
  return canonical(one) == canonical(other);
}

// Two of the three files of a search that are one, in words; empty if each is a file of its own. One would
// take the place of the other, which may be worth hours.
std::string SameFilesInWords(const Options& options) {
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
  if (IsSameFile(minimal, journal)) {
    return fmt::format(
        "{} cannot be both the minimal trace and the journal; give another file "
        "with -o or --journal",
        minimal);
  }
  return "";
}

// One line on stderr, if that is a terminal: a bar, and what is left to do.
class ProbeLine {
 public:
  explicit ProbeLine(bool quiet) : shown_(!quiet && TakesEscapes(StandardStream::kError)) {}
  ~ProbeLine() { Clear(); }
  ProbeLine(const ProbeLine&) = delete;
  ProbeLine& operator=(const ProbeLine&) = delete;

  void Show(const BisectProgress& progress, uint64_t average_ms) {
    if (!shown_) return;
    std::fputs(("\r\x1b[K" + ProgressLine(progress, average_ms)).c_str(), stderr);
    std::fflush(stderr);
  }
  void Clear() const {
    if (shown_) std::fputs("\r\x1b[K", stderr);
  }

 private:
  const bool shown_;
};

// What an answer in the journal is about: the same trace, played in the same way on the same device and
// driver. Libraries that do not say which device it is leave that to these variables.
JournalIdentity Identity(const TraceReader& trace, const Options& options, uint64_t hang_timeout_ns,
                         const DeviceFacts& device) {
  const TraceFacts& facts = trace.facts();
  std::string environment;
  for (const char* name :
       {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES", "VK_LOADER_DRIVERS_SELECT",
        "VK_LOADER_DRIVERS_DISABLE", "MESA_VK_DEVICE_SELECT", "DRI_PRIME", "CUDA_VISIBLE_DEVICES",
        "VKD3D_VULKAN_DEVICE", "VKD3D_FILTER_DEVICE_NAME", "VKD3D_CONFIG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    environment += fmt::format("{}{}={}", environment.empty() ? "" : ", ", name, value);
  }
  JournalIdentity identity = {
      {"trace", fmt::format("{} {} {} {} records", facts.start_realtime_ns, facts.process_id,
                            facts.trimmed ? "trimmed" : "whole", trace.record_count())},
      {"device", device.name},
      {"driver", device.driver},
      {"library", device.library_paths.empty() ? options.library : device.library_paths},
      // However it was written.
      {"options", fmt::format("--hang-timeout {} --repeats {}, with canaries",
                              static_cast<double>(hang_timeout_ns) / 1e9, options.repeats)},
      {"environment", environment},
  };
  for (auto& [name, value] : identity) value = value.empty() ? "unknown" : VisibleText(value);
  return identity;
}

class Search {
 public:
  Search(const Options& options, TraceReader* trace, uint64_t hang_timeout_ns)
      : options_(options), trace_(trace), line_(options.quiet || options.json) {
    settings_.path = options.path;
    settings_.library = options.library;
    settings_.hang_timeout_ns = hang_timeout_ns;
    settings_.keep_on = [this] { return signals_.Update(0, 0); };
  }

  int Run() {
    const uint64_t start_ns = MonotonicNs();
    Result<BisectTree> tree =
        ReadBisectTree(trace_, [this](uint64_t) { return signals_.Update(0, 0); });
    if (!tree.ok()) return Failed(tree.status());
    tree_ = std::move(*tree);
    const std::string journal_path = JournalPath(options_);
    Result<DeviceFacts> device = ProbeDevice(settings_);
    if (!device.ok()) return Failed(device.status());
    told_.device = *device;
    settings_.device = std::move(*device);
    Result<std::unique_ptr<BisectJournal>> journal = BisectJournal::Open(
        journal_path, Identity(*trace_, options_, settings_.hang_timeout_ns, told_.device),
        options_.restart);
    if (!journal.ok()) return Failed(journal.status());
    journal_ = std::move(*journal);
    TellOfJournal(journal_path);
    BisectOptions bisect;
    bisect.repeats = options_.repeats;
    bisect.max_probes = options_.max_probes;
    bisect.progress = [this](const BisectProgress& now) {
      if (!journal_->HasNext()) line_.Show(now, journal_->AverageMs());
    };
    Result<BisectAnswer> answer = Bisect(
        tree_, [this](const BisectQuestion& question) { return Ask(question); }, bisect);
    line_.Clear();
    if (!answer.ok()) return Failed(answer.status());
    told_.answer = std::move(*answer);
    told_.duration_ns = MonotonicNs() - start_ns;
    told_.hang_timeout_ns = settings_.hang_timeout_ns;
    return Tell();
  }

 private:
  void TellOfJournal(const std::string& path) const {
    // Answers are worth hours: what became of them is said, asked for or not.
    if (!journal_->put_aside().empty()) {
      PrintWarning(
          "bisect",
          fmt::format("begins anew: {} is not of this search, and is now {} (where it "
                      "holds, --journal {} goes on with it): {}",
                      path, journal_->old_path(), journal_->old_path(), journal_->put_aside()));
    }
    if (journal_->remembered() == 0 || options_.quiet || options_.json) return;
    PrintWarning("bisect",
                 fmt::format("goes on after {} probe{} of an earlier search; --restart "
                             "begins anew",
                             journal_->remembered(), journal_->remembered() == 1 ? "" : "s"));
  }

  void Note(const BisectQuestion& question, const ProbeRun& run) {
    const bool whole = question.left_out.empty();
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

  Result<ProbeAnswer> Ask(const BisectQuestion& question) {
    return journal_->Ask(question, [this](const BisectQuestion& q) -> Result<ProbeAnswer> {
      const Result<ProbeRun> run = PlayProbe(settings_, q);
      if (!run.ok()) return run.status();
      Result<ProbeAnswer> answer = AnswerOf(*run, tree_, told_.device);
      // A play that says nothing says nothing of how long things take, either.
      if (answer.ok() && answer->outcome != ProbeOutcome::kUndecided) Note(q, *run);
      return answer;
    });
  }

  int Failed(const Status& status) {
    line_.Clear();
    if (journal_ != nullptr && journal_->empty()) (void)journal_->Remove();
    if (status.message() == kInterrupted) {
      PrintError("bisect", "interrupted; the same command goes on from here");
    } else {
      PrintError("bisect", options_.path + ": " + status.message());
    }
    return kExitFailed;
  }

  int Tell() {
    told_.path = options_.path;
    told_.recorded = RecordedIncidents(trace_->file());
    if (told_.answer.found) {
      Result<std::vector<CulpritText>> culprits =
          DescribeCulprits(trace_, told_.answer.culprits, told_.answer.place);
      if (!culprits.ok()) return Failed(culprits.status());
      told_.culprits = std::move(*culprits);
      AddBreadcrumbPaths(trace_->file(), &told_.culprits);
      if (!options_.no_output) {
        const Status written = WriteMinimal();
        // The answers are in the journal: the same command tells it, and writes the file.
        if (written.message() == kInterrupted) return Failed(written);
        // The answer stands without it.
        if (!written.ok()) {
          PrintWarning("bisect", "no minimal trace is written: " + written.message());
        }
      }
    }
    const std::string text = options_.json ? AnswerAsJson(told_) : AnswerAsText(told_);
    const bool printed = PrintOutput("bisect", text);
    if (const Status removed = journal_->Remove(); !removed.ok()) {
      PrintWarning("bisect", removed.message());
    }
    return printed && told_.answer.found ? 0 : kExitFailed;
  }

  // It is kept only if it was seen to fail.
  Status WriteMinimal() {
    const std::string path = MinimalPath(options_);
    const std::string untested = path + ".untested";
    Result<bool> fails = WriteAndTest(untested, MinimalObjects::kNeeded);
    // What a fault hits may be what nothing needs.
    if (fails.ok() && !*fails) fails = WriteAndTest(untested, MinimalObjects::kAll);
    if (fails.ok() && *fails) {
      if (std::rename(untested.c_str(), path.c_str()) == 0) {
        told_.minimal_path = path;
        return {};
      }
      fails = StatusFromErrno(errno, path);
    }
    std::error_code none;
    std::filesystem::remove(untested, none);
    std::filesystem::remove(untested + ".part", none);
    if (!fails.ok()) return fails.status();
    PrintWarning(
        "bisect",
        "what is left does not fail in the same way in a file of its own: no minimal trace is "
        "written");
    return {};
  }

  // Does it fail in the same way as the trace did?
  Result<bool> WriteAndTest(const std::string& path, MinimalObjects objects) {
    CAIRN_RETURN_IF_ERROR(WriteMinimalTrace(trace_, tree_, told_.answer, objects, path));
    TraceProbeSettings settings = settings_;
    settings.path = path;
    const Probe probe = [&](const BisectQuestion& question) -> Result<ProbeAnswer> {
      const Result<ProbeRun> run = PlayProbe(settings, question);
      if (!run.ok()) return run.status();
      return AnswerOf(*run, tree_, told_.device);
    };
    return FailsTheSame(told_.answer, probe, {});
  }

  const Options& options_;
  TraceReader* const trace_;
  TaskProgress signals_{"bisect"};
  ProbeLine line_;
  TraceProbeSettings settings_;
  BisectTree tree_;
  std::unique_ptr<BisectJournal> journal_;
  BisectTold told_;
};

int Run(const Options& options) {
  const Result<uint64_t> hang_timeout_ns = ParseSeconds(options.hang_timeout);
  if (!hang_timeout_ns.ok() || *hang_timeout_ns == 0) {
    PrintError("bisect", "--hang-timeout: " +
                             (hang_timeout_ns.ok()
                                  ? "without one a hang is never noticed; give seconds above 0"
                                  : hang_timeout_ns.status().message()));
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
  return Search(options, &*trace, *hang_timeout_ns).Run();
}

}  // namespace

Verb AddBisectVerb(CLI::App& root) {
  auto options = std::make_shared<Options>();
  Command command(root, "bisect", "Finds the call that makes a trace crash or hang the GPU.",
                  "cairn bisect [OPTIONS] FILE", kExamples);
  command.TraceFile(&options->path);
  command.Option("-o,--output", &options->output, "FILE",
                 "Where to write the trace that holds the culprit alone; NAME.minimal.cairn if "
                 "not given");
  command.Flag("--no-output", &options->no_output, "Do not write a minimal trace");
  command
      .Option("--hang-timeout", &options->hang_timeout, "SECONDS",
              "GPU work that takes longer is a hang: more than the slowest healthy submission "
              "takes")
      .WithDefault();
  command
      .Option("--repeats", &options->repeats, "COUNT",
              "How often the whole trace is played first, and the answer at the end is checked")
      .From(1, 1000)
      .WithDefault();
  command.Option("--max-probes", &options->max_probes, "COUNT", "Give up after so many plays")
      .From(1, 1'000'000'000)
      .WithDefault();
  command.Option("--journal", &options->journal, "FILE",
                 "Where answers are kept until the end; NAME.bisect if not given");
  command.Flag("--restart", &options->restart, "Forget the answers of an interrupted search");
  command.Library(&options->library);
  command.Flag("--json", &options->json, "Print the answer as JSON");
  command.Flag("--quiet", &options->quiet, "No progress");
  return {command.app(), [options] { return Run(*options); }};
}

}  // namespace cairn::cli
