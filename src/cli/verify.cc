// SPDX-License-Identifier: Apache-2.0
//
// cairn verify: what cannot be right in a trace, found without a GPU.
#include "format/trace/verify.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/reading_limits.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"
#include "cli/verb.h"
#include "reader/view/trace_views.h"

namespace cairn::cli {
namespace {

constexpr char kVerifyExamples[] =
    "Examples:\n"
    "  cairn verify game.cairn           damage, references, fences, addresses, descriptors\n"
    "  cairn verify --json game.cairn    for programs; the schema is "
    "docs/formats/verify.schema.json\n"
    "\n"
    "Exits with 0 if there is neither an error nor a warning. docs/reference/cairn-verify.md lists "
    "the "
    "rules.";

struct VerifyOptionsOfVerb {
  std::string path;
  bool json = false;
};

int Run(const VerifyOptionsOfVerb& options) {
  LimitReading("verify", options.path);
  std::optional<TraceReader> trace = OpenTraceFileQuietly("verify", options.path);
  if (!trace.has_value()) return options.path.empty() ? kExitUsage : kExitFailed;
  Result<VerifyReport> report = [&] {
    TaskProgress progress("verify");
    VerifyOptions verify;
    verify.progress = [&](uint64_t done, uint64_t total) { return progress.Update(done, total); };
    return VerifyTrace(&*trace, verify);
  }();
  if (!report.ok()) {
    PrintError("verify", options.path + ": " + report.status().message());
    return kExitFailed;
  }
  if (report->interrupted) {
    PrintError("verify", "interrupted; what was found so far is not shown");
    return kExitFailed;
  }
  const std::string text =
      options.json ? VerifyJson(*report, trace->frame_count())
                   : FittedToTerminal(VerifyText(options.path, *report, trace->frame_count()));
  if (!PrintOutput("verify", text)) return kExitFailed;
  return report->clean() ? 0 : kExitFailed;
}

}  // namespace

Verb AddVerifyVerb(CLI::App& root) {
  auto options = std::make_shared<VerifyOptionsOfVerb>();
  Command command(root, "verify", "Checks a trace for damage and contradictions.",
                  "cairn verify [OPTIONS] FILE", kVerifyExamples);
  command.DumpFile(&options->path);
  command.Json(&options->json);
  return {.app = command.app(), .run = [options] { return Run(*options); }, .pages = true};
}

}  // namespace cairn::cli
