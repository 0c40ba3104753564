// SPDX-License-Identifier: Apache-2.0
//
// cairn top: what the queues of a running program execute now.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/program_name.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "format/snapshot/snapshot_from_block.h"
#include "os/clock.h"
#include "os/process.h"
#include "os/running_processes.h"
#include "os/terminal.h"
#include "os/this_process.h"
#include "reader/view/top_view.h"
#include "watcher/running_blocks.h"

namespace cairn::cli {
namespace {

constexpr char kTopExamples[] =
    "Examples:\n"
    "  cairn top                       the programs that can be shown\n"
    "  cairn top 4711                  what each queue of process 4711 executes; ^C ends\n"
    "  cairn top game                  the same of the program that is called game\n"
    "  cairn top --interval 0.1 4711   look ten times a second\n"
    "  cairn top --once --json 4711    one look, for programs; the schema is "
    "docs/formats/top.schema.json\n"
    "\n"
    "Exit code: 0, also when the program ends meanwhile; 1 if the process cannot be looked at.";

struct TopOptions {
  std::string process;  // its number, or the name of its program
  std::string interval = "0.5";
  bool once = false;
  bool json = false;
};

std::string WhyNoProcess(const LiveProcesses& found) {
  return fmt::format("Cairn records no running program; start one with cairn run -- PROGRAM{}",
                     found.not_permitted == 0
                         ? ""
                         : fmt::format(" ({} processes of other users may not be looked into)",
                                       found.not_permitted));
}

int ListProcesses() {
  const LiveProcesses found = FindLiveProcesses();
  if (found.processes.empty()) {
    PrintError("top", WhyNoProcess(found));
    return kExitFailed;
  }
  std::string text = fmt::format("{:>8}  {}\n", "PID", "PROGRAM");
  for (const LiveProcess& process : found.processes) {
    text += fmt::format("{:>8}  {}\n", process.pid, VisibleText(process.program));
  }
  return PrintOutput("top", text) ? 0 : kExitFailed;
}

// One process under view.
class Viewer {
 public:
  // kNotFound, kUnsupported and kCorrupt as OpenLiveBlock and SnapshotFromBlock say.
  static Result<Viewer> Open(ProcessId pid) {
    // First, so that the end of exactly this process is seen.
    Result<ProcessHandle> process = OpenProcess(pid);
    if (!process.ok()) {
      return process.status().code() == StatusCode::kNotFound
                 ? Status(StatusCode::kNotFound, fmt::format("there is no process {}", pid))
                 : process.status();
    }
    Result<SharedMemory> block = OpenLiveBlock(pid);
    if (!block.ok()) return block.status();
    Viewer viewer(std::move(*process), std::move(*block));
    Result<ProgressProbe> probe = ProgressProbe::Open(viewer.bytes());
    if (!probe.ok()) return probe.status();
    viewer.probe_ = std::move(*probe);
    return viewer;
  }

  // `write` gets the look and returns its text.
  template <typename Write>
  Result<std::string> Look(const Write& write) {
    clock_.Look(probe_->Poll(), MonotonicNs());
    const Result<Snapshot> snapshot = SnapshotFromBlock(bytes(), RealtimeNs());
    if (!snapshot.ok()) return snapshot.status();
    const Analysis analysis = Analyse(*snapshot);
    const LiveView view = MakeLiveView(*snapshot, analysis);
    return write(LiveLook{*snapshot, analysis, view, clock_, MonotonicNs()});
  }

  const ProcessHandle& process() const { return process_; }
  std::string HowItEnded() const {
    const ProcessEnd end = CollectEnd(process_);
    switch (end.kind) {
      case EndKind::kExited:
        return fmt::format("process {} exited with code {}", process_.pid, end.value);
      case EndKind::kSignalled:
        return fmt::format("process {} died with {}", process_.pid,
                           SignalInWords(static_cast<uint32_t>(end.value)));
      default: return fmt::format("process {} ended", process_.pid);
    }
  }

 private:
  Viewer(ProcessHandle process, SharedMemory block)
      : process_(std::move(process)), block_(std::move(block)) {}
  std::span<const std::byte> bytes() const { return {block_.data(), block_.size_bytes()}; }

  ProcessHandle process_;
  SharedMemory block_;
  std::optional<ProgressProbe> probe_;
  ProgressClock clock_;
};

int PrintOnce(Viewer& viewer, bool json) {
  const Result<std::string> text = viewer.Look([json](const LiveLook& look) {
    return json ? LiveJson(look) : LiveText(look, OutputSize().columns, StdoutShowsColour());
  });
  if (!text.ok()) {
    PrintError("top", text.status().message());
    return kExitFailed;
  }
  return PrintOutput("top", *text) ? 0 : kExitFailed;
}

// Shows looks until the process ends or the user has seen enough.
int Follow(Viewer& viewer, uint64_t interval_ns) {
  LiveScreen screen;
  for (;;) {
    const Result<std::string> text = viewer.Look([](const LiveLook& look) {
      return LiveText(look, OutputSize().columns, StdoutShowsColour());
    });
    if (!text.ok()) {
      screen.Close();
      PrintError("top", text.status().message());
      return kExitFailed;
    }
    if (!screen.Show(*text)) return kExitFailed;
    switch (screen.Wait(viewer.process(), interval_ns)) {
      case LiveScreen::Woken::kByTime: break;
      case LiveScreen::Woken::kByUser:
      case LiveScreen::Woken::kByRequest: return 0;
      case LiveScreen::Woken::kByProcess:
        screen.Close();
        return PrintOutput("top", viewer.HowItEnded() + "\n") ? 0 : kExitFailed;
    }
  }
}

std::optional<ProcessId> ParsePid(const std::string& text) {
  int32_t pid = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, pid);
  if (error != std::errc() || rest != end || pid <= 0) return std::nullopt;
  return pid;
}

std::string InLowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Returns how well a name fits a program: 3 for its path or the whole name of its file, 2 without .exe or in
// other letters, 1 for a part of the name, 0 for another name.
int Fit(const std::string& name, const std::string& program) {
  const std::string_view file = NameOfProgram(program);
  if (name == program || name == file) return 3;
  const std::string wanted = InLowerCase(name);
  const std::string found = InLowerCase(file);
  if (wanted == found || wanted + ".exe" == found) return 2;
  return found.find(wanted) == std::string::npos ? 0 : 1;
}

// Returns those that fit best.
std::vector<LiveProcess> ProcessesCalled(const std::string& name,
                                         const std::vector<LiveProcess>& processes) {
  int best = 1;
  for (const LiveProcess& process : processes) best = std::max(best, Fit(name, process.program));
  std::vector<LiveProcess> found;
  std::copy_if(processes.begin(), processes.end(), std::back_inserter(found),
               [&](const LiveProcess& process) { return Fit(name, process.program) == best; });
  return found;
}

// kInvalidArgument: none, or several, which the message lists; digits, which are the number of none.
Result<ProcessId> ProcessCalled(const std::string& name) {
  constexpr size_t kMostListed = 10;
  if (name.find_first_not_of("0123456789") == std::string::npos) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("'{}' is not a process number; cairn top lists the processes that can "
                    "be looked at",
                    name));
  }
  const LiveProcesses live = FindLiveProcesses();
  const std::vector<LiveProcess> found = ProcessesCalled(name, live.processes);
  if (found.size() == 1) return found.front().pid;
  if (found.size() > 1) {
    std::string list;
    for (size_t i = 0; i < std::min(found.size(), kMostListed); ++i) {
      list += fmt::format("{}cairn top {} ({})", i == 0 ? "" : ", ", found[i].pid,
                          VisibleText(found[i].program));
    }
    if (found.size() > kMostListed) list += fmt::format(" and {} more", found.size() - kMostListed);
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("'{}' is the name of {} processes; say {}", name, found.size(), list));
  }
  // Its number leads to the reason why it cannot be looked at.
  for (const ProcessId pid : RunningProcesses()) {
    if (pid != OwnProcessId() && Fit(name, ProgramOf(pid)) >= 2) return pid;
  }
  return Status(
      StatusCode::kInvalidArgument,
      live.processes.empty()
          ? fmt::format("no process is called '{}'; {}", name, WhyNoProcess(live))
          : fmt::format("no process that can be looked at is called '{}'; cairn top lists "
                        "them",
                        name));
}

int Run(const TopOptions& options) {
  const Result<uint64_t> interval_ns = ParseSecondsOf("--interval", options.interval);
  if (!interval_ns.ok() || *interval_ns == 0) {
    PrintError("top", fmt::format("--interval: '{}' is not a time in seconds from 0.001 to 1000000",
                                  options.interval));
    return kExitUsage;
  }
  if (options.json && !options.once) {
    PrintError("top", "--json prints one look; say --once --json");
    return kExitUsage;
  }
  if (options.process.empty()) {
    if (!options.once) return ListProcesses();
    PrintError("top", "--once needs a process; cairn top lists them");
    return kExitUsage;
  }
  std::optional<ProcessId> pid = ParsePid(options.process);
  if (!pid.has_value()) {
    const Result<ProcessId> called = ProcessCalled(options.process);
    if (!called.ok()) {
      PrintError("top", called.status().message());
      return kExitUsage;
    }
    pid = *called;
  }
  Result<Viewer> viewer = Viewer::Open(*pid);
  if (!viewer.ok()) {
    PrintError("top", viewer.status().message());
    return kExitFailed;
  }
  return options.once ? PrintOnce(*viewer, options.json) : Follow(*viewer, *interval_ns);
}

}  // namespace

Verb AddTopVerb(CLI::App& root) {
  auto options = std::make_shared<TopOptions>();
  Command command(root, "top",
                  "Shows which commands each GPU queue of a running program executes right now.",
                  "cairn top [OPTIONS] [PID|NAME]", kTopExamples);
  command.Option(
      "process", &options->process, "PID|NAME",
      "The process, by its number, or by the name of its program or a part of it; without "
      "it a list of the processes that can be shown");
  command
      .Option("--interval", &options->interval, "SECONDS", "Time between looks; fractions allowed")
      .WithDefault();
  command.Flag("--once", &options->once, "Look once and end");
  command.Flag("--json", &options->json, "With --once: print JSON");
  return {command.app(), [options] { return Run(*options); }};
}

}  // namespace cairn::cli
