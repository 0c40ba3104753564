// SPDX-License-Identifier: Apache-2.0
//
// cairn list: the reports of cairn watchd, the newest first.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/program_name.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/reading_limits.h"
#include "cli/report_store.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "reader/view/triage.h"
#include "watcher/report_folder.h"

namespace cairn::cli {
namespace {

constexpr char kListExamples[] =
    "Examples:\n"
    "  cairn list                     the reports of cairn watchd, the newest first\n"
    "  cairn list -n 0                all of them, not only the newest 20\n"
    "  cairn report --last            the newest one, whole\n"
    "  cairn triage ~/.local/state/cairn\n"
    "                                 the same reports, grouped by their cause; --jsonl for "
    "programs";

struct ListOptions {
  uint32_t most = 20;
};

// One report: when, and what happened to which program; then its file.
std::string RowOf(const StoredReport& report) {
  const Result<DumpSummary> dump = SummariseDump(report.path);
  std::string when(19, ' ');
  std::string what;
  if (dump.ok()) {
    const auto seconds = static_cast<std::time_t>(dump->seen_ns / 1'000'000'000);
    when = fmt::format("{:%F %T}", fmt::localtime(seconds));
    constexpr std::string_view kSubject = "The program ";
    const std::string sentence = dump->sentence.substr(0, dump->sentence.find("; where: "));
    what = VisibleText(NameOfProgram(dump->program));
    what +=
        sentence.starts_with(kSubject) ? " " + sentence.substr(kSubject.size()) : ": " + sentence;
  } else {
    what = "cannot be read: " + dump.status().message();
  }
  return fmt::format("{}  {}\n{:21}{} ({} KiB)\n", when, what, "", VisibleText(report.path),
                     (report.size_bytes + 1023) / 1024);
}

int Run(const ListOptions& options) {
  const std::string folder = ReportFolder();
  if (folder.empty()) {
    PrintError("list", "neither XDG_STATE_HOME nor HOME names the folder of reports");
    return kExitFailed;
  }
  const std::vector<StoredReport> reports = StoredReports(folder);
  if (reports.empty()) {
    return PrintOutput("list", fmt::format("no reports in {}\n", VisibleText(folder)))
               ? 0
               : kExitFailed;
  }
  const size_t most = options.most == 0 ? reports.size() : options.most;
  const size_t shown = std::min(most, reports.size());
  for (size_t i = 0; i < shown; ++i) {
    LimitReading("list", reports[i].path);
    if (!PrintOutput("list", FittedToTerminal(RowOf(reports[i])))) return kExitFailed;
  }
  if (shown == reports.size()) return 0;
  return PrintOutput("list", fmt::format("{} older ones: cairn list -n 0\n",
                                         GroupedDigits(reports.size() - shown)))
             ? 0
             : kExitFailed;
}

}  // namespace

Verb AddListVerb(CLI::App& root) {
  auto options = std::make_shared<ListOptions>();
  Command command(root, "list", "Lists the reports of cairn watchd, the newest first.",
                  "cairn list [OPTIONS]", kListExamples);
  command.Option("-n,--most", &options->most, "COUNT", "Number of reports to list; 0: all")
      .WithDefault();
  return {.app = command.app(), .run = [options] { return Run(*options); }, .pages = true};
}

}  // namespace cairn::cli
