// SPDX-License-Identifier: Apache-2.0
//
// cairn state: pipeline and bindings where a command list records a call.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "base/text.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"
#include "cli/verb.h"
#include "reader/view/bound_state.h"

namespace cairn::cli {
namespace {

constexpr char kStateExamples[] =
    "Examples:\n"
    "  cairn state --call 18233 game.cairn           what the draw of a report used\n"
    "  cairn state --call 18233 --json game.cairn    JSON; docs/formats/state.schema.json";

struct StateOptions {
  std::string path;
  std::string call;
  bool json = false;
};

int Run(const StateOptions& options) {
  const std::optional<uint64_t> call = ParseDigits(options.call);
  if (!call.has_value()) {
    PrintError("state", options.call.empty()
                            ? "no call is given; say cairn state --call NUMBER FILE.cairn"
                            : fmt::format("--call: '{}' is not a number", options.call));
    return kExitUsage;
  }
  if (options.path.empty()) {
    PrintError("state",
               fmt::format("no file is given; say cairn state --call {} FILE.cairn", options.call));
    return kExitUsage;
  }
  std::optional<TraceReader> trace = OpenTraceFile("state", options.path, Check::kPayloads);
  if (!trace.has_value()) return kExitFailed;
  const Result<ListState> state = ListStateAt(*trace, *call);
  if (!state.ok()) {
    PrintError("state", state.status().message());
    return kExitFailed;
  }
  const std::string text =
      options.json ? ListStateJson(*state) : FittedToTerminal(ListStateInWords(*state));
  return PrintOutput("state", text) ? 0 : kExitFailed;
}

}  // namespace

Verb AddStateVerb(CLI::App& root) {
  auto options = std::make_shared<StateOptions>();
  Command command(root, "state", "Prints the pipeline and everything bound at a call.",
                  "cairn state --call CALL [OPTIONS] FILE", kStateExamples);
  command.Call(&options->call, "Number of a call that a command list records");
  command.Json(&options->json);
  command.TraceFile(&options->path);
  return {.app = command.app(), .run = [options] { return Run(*options); }, .pages = true};
}

}  // namespace cairn::cli
