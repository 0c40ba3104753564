// SPDX-License-Identifier: Apache-2.0
//
// cairn watch: the watcher of a program that was started without `cairn run`. Not for people:
// cairnStartWatcher starts it with its end of the socket.
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/layer.h"
#include "cli/numbers.h"
#include "cli/report_program.h"
#include "cli/stderr_verdict.h"
#include "cli/verb.h"
#include "os/channel.h"
#include "os/clock.h"
#include "os/process.h"
#include "watcher/report_folder.h"
#include "watcher/watch_loop.h"

namespace cairn::cli {
namespace {

constexpr char kWatchExamples[] =
    "Examples:\n"
    "  cairn watch --fd 3 -o game.cairn   as cairnStartWatcher starts it, with its socket as 3\n"
    "  cairn watch --fd 3 --reports FOLDER\n"
    "                                     as cairn watchd starts it";

constexpr int kLastStandardStream = 2;

struct WatchOptions {
  int fd = -1;
  std::string output_path;
  std::string hang_timeout = "10";
  std::string reports;  // the folder of cairn watchd
  std::string program;  // to name them after
  uint32_t quota_mib = 1024;
  uint32_t keep_days = 30;
  std::string on_report;
};

int Run(const WatchOptions& options) {
  const Result<uint64_t> hang_timeout_ns = ParseSecondsOf("--hang-timeout", options.hang_timeout);
  if (!hang_timeout_ns.ok()) {
    PrintError("watch", hang_timeout_ns.status().message());
    return kExitUsage;
  }
  if (options.fd <= kLastStandardStream) {
    PrintError("watch",
               "--fd must name the watcher's socket; programs call cairnStartWatcher, "
               "people say cairn run -- PROGRAM");
    return kExitUsage;
  }
  WatchSettings settings;
  settings.policy.hang_timeout_ns = *hang_timeout_ns;
  settings.output_path = options.output_path;
  settings.program = options.program;
  settings.capture = EnvironmentAsksForCapture();
  settings.say = settings.warn = [](const std::string& line) { PrintOnError(line + "\n"); };
  settings.tell_unwritten = TellUnwritten;
  ReportProgram on_report(options.on_report);
  if (const Status checked = on_report.Check(); !checked.ok()) {
    if (options.reports.empty()) {
      PrintError("watch", checked.message());
      return kExitFailed;
    }
    PrintWarning("watch", checked.message());  // cairn watchd had found it: the report counts more
  }
  settings.groups_of_own_children = [&] { return on_report.groups(); };
  settings.look_at_own_children = [&] { return on_report.Look(); };
  settings.report_written = [&](const std::string& path) { on_report.Add(path); };
  if (!options.reports.empty()) {
    const Result<ProcessHandle> program = MakerOfChannel(options.fd);
    if (!program.ok()) {
      PrintError("watch", program.status().message());
      return kExitFailed;
    }
    settings.output_path =
        NewReportPath(options.reports, options.program, program->pid, RealtimeNs());
    const ReportLimits limits{.most_bytes = uint64_t{options.quota_mib} << 20,
                              .most_age_seconds = uint64_t{options.keep_days} * 24 * 60 * 60};
    settings.report_written = [&, limits](const std::string& path) {
      PruneReports(options.reports, limits);
      on_report.Add(path);
    };
  }
  const Status status = WatchInherited(settings, static_cast<uint64_t>(options.fd));
  on_report.Finish(nullptr);
  if (status.ok()) return 0;
  PrintError("watch", status.message());
  return kExitFailed;
}

}  // namespace

Verb AddWatchVerb(CLI::App& root) {
  auto options = std::make_shared<WatchOptions>();
  Command command(root, "watch", "Watches the process at the other end of a socket.",
                  "cairn watch --fd N [OPTIONS]", kWatchExamples);
  command.Hide();  // hidden
  command.Option("--fd", &options->fd, "N", "The inherited socket");
  command.Option("-o,--output", &options->output_path, "FILE",
                 "File to write; PROGRAM.cairn in the working directory if not given");
  command
      .Option("--hang-timeout", &options->hang_timeout, "SECONDS",
              "Report a hang when submitted GPU work makes no progress for this long; "
              "fractions allowed, 0: never")
      .WithDefault();
  command.Option("--reports", &options->reports, "FOLDER",
                 "Folder for files that are named after the program and the time");
  command.Option("--program", &options->program, "NAME", "Program that they are named after");
  command.Option("--quota", &options->quota_mib, "MIB", "Limit the size of all files there")
      .From(1, 1 << 20)
      .WithDefault();
  command
      .Option("--keep", &options->keep_days, "DAYS", "Remove files there that are older than this")
      .From(1, 36'500)
      .WithDefault();
  command.Option("--on-report", &options->on_report, "COMMAND", kOnReportHelp);
  return {command.app(), [options] { return Run(*options); }};
}

}  // namespace cairn::cli
