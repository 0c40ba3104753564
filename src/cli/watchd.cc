// SPDX-License-Identifier: Apache-2.0
//
// cairn watchd: the service that watches Vulkan programs which nobody started with cairn run.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/report_program.h"
#include "cli/report_store.h"
#include "cli/verb.h"
#include "cli/watchd_setup.h"
#include "os/process.h"
#include "os/this_process.h"
#include "watcher/report_folder.h"
#include "watcher/watch_service.h"

namespace cairn::cli {
namespace {

constexpr char kWatchdExamples[] =
    "Examples:\n"
    "  cairn watchd --enable          from now on, watch every Vulkan program of this user\n"
    "  cairn list                     what went wrong since then\n"
    "  cairn report --last            the newest report\n"
    "  cairn watchd --disable         no more\n"
    "  cairn watchd                   the service itself, as systemd starts it; for a session "
    "without systemd";

struct WatchdOptions {
  std::string hang_timeout = "10";
  uint32_t quota_mib = 1024;
  uint32_t keep_days = 30;
  std::string on_report;
  bool enable = false;
  bool disable = false;
};

void Say(const std::string& line) {
  PrintOnError("cairn watchd: " + line + "\n");
}

int Serve(const WatchdOptions& options) {
  const std::string folder = ReportFolder();
  if (folder.empty()) {
    PrintError("watchd", "neither XDG_STATE_HOME nor HOME names a folder for reports");
    return kExitFailed;
  }
  if (const Status opened = OpenReportFolder(folder); !opened.ok()) {
    PrintError("watchd", opened.message());
    return kExitFailed;
  }
  const ReportLimits limits{.most_bytes = uint64_t{options.quota_mib} << 20,
                            .most_age_seconds = uint64_t{options.keep_days} * 24 * 60 * 60};
  if (const Status checked = ReportProgram(options.on_report).Check(); !checked.ok()) {
    PrintError("watchd", checked.message());
    return kExitFailed;
  }
  PruneReports(folder, limits);
  WatchServiceSettings settings;
  // As it is now: the file may be replaced by an upgrade while the service runs.
  const std::string own = OwnProgramPath();
  settings.watcher = [&](const std::string& program, uint64_t number) {
    std::vector<std::string> words{own,
                                   "watch",
                                   "--fd",
                                   std::to_string(number),
                                   "--program",
                                   program,
                                   "--hang-timeout",
                                   options.hang_timeout,
                                   "--reports",
                                   folder,
                                   "--quota",
                                   std::to_string(options.quota_mib),
                                   "--keep",
                                   std::to_string(options.keep_days)};
    if (!options.on_report.empty()) {
      words.emplace_back("--on-report");
      words.push_back(options.on_report);
    }
    return words;
  };
  settings.warn = Say;
  settings.ready = [&folder] { Say("ready; reports go to " + folder); };
  const Status status = RunWatchService(settings);
  if (status.ok()) return 0;
  PrintError("watchd", status.message());
  return kExitFailed;
}

int Run(const WatchdOptions& options) {
  const Result<uint64_t> hang_timeout_ns = ParseSecondsOf("--hang-timeout", options.hang_timeout);
  if (!hang_timeout_ns.ok()) {
    PrintError("watchd", hang_timeout_ns.status().message());
    return kExitUsage;
  }
  if (options.enable) return EnableWatchd();
  if (options.disable) return DisableWatchd();
  return Serve(options);
}

}  // namespace

Verb AddWatchdVerb(CLI::App& root) {
  auto options = std::make_shared<WatchdOptions>();
  Command command(root, "watchd",
                  "Watches every Vulkan program of this user, in the background: reports are kept "
                  "for cairn list.",
                  "cairn watchd [OPTIONS]", kWatchdExamples);
  const CommandOption enable = command.Flag(
      "--enable", &options->enable, "Switch the service on, now and at each start of a session");
  const CommandOption disable =
      command.Flag("--disable", &options->disable, "Switch it off").Without(enable);
  command
      .Option("--hang-timeout", &options->hang_timeout, "SECONDS",
              "Report a hang when submitted GPU work makes no progress for this long; "
              "fractions allowed, 0: never")
      .WithDefault()
      .Without(enable)
      .Without(disable);
  command
      .Option("--quota", &options->quota_mib, "MIB",
              "Limit the size of all reports together; the oldest are removed")
      .From(1, 1 << 20)
      .WithDefault()
      .Without(enable)
      .Without(disable);
  command.Option("--keep", &options->keep_days, "DAYS", "Remove reports older than this")
      .From(1, 36'500)
      .WithDefault()
      .Without(enable)
      .Without(disable);
  command.Option("--on-report", &options->on_report, "COMMAND", kOnReportHelp)
      .Without(enable)
      .Without(disable);
  return {.app = command.app(), .run = [options] { return Run(*options); }};
}

}  // namespace cairn::cli
