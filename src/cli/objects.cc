// SPDX-License-Identifier: Apache-2.0
//
// cairn objects: what exists when in a trace, and what was never destroyed.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "base/text.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/trace_file.h"
#include "cli/verb.h"
#include "reader/view/trace_views.h"

namespace cairn::cli {
namespace {

constexpr char kObjectsExamples[] =
    "Examples:\n"
    "  cairn objects game.cairn                        every object, when it was made and "
    "destroyed\n"
    "  cairn objects --alive game.cairn                what was never destroyed\n"
    "  cairn objects --frame 100 --alive game.cairn    what lives when frame 100 begins\n"
    "  cairn objects --call 18233 --kind heap game.cairn\n"
    "                                                heaps, as they are at call 18233\n"
    "  cairn objects --json game.cairn                 the schema is "
    "docs/formats/objects.schema.json";

struct ObjectsOptions {
  std::string path;
  std::string at;
  std::string frame;
  ObjectQuery query;
  bool json = false;
};

int Run(ObjectsOptions& options) {
  const Result<std::optional<uint64_t>> at = ParseNumberOf("--call", options.at);
  const Result<std::optional<uint64_t>> frame = ParseNumberOf("--frame", options.frame);
  if (!at.ok() || !frame.ok()) {
    PrintError("objects", (at.ok() ? frame : at).status().message());
    return kExitUsage;
  }
  options.query.at_number = *at;
  options.query.at_frame = *frame;
  std::optional<TraceReader> trace = OpenTraceFile("objects", options.path, Check::kPayloads);
  if (!trace.has_value()) return options.path.empty() ? kExitUsage : kExitFailed;
  const Result<ObjectList> list = [&] {
    TaskProgress progress("objects");
    options.query.progress = [&](uint64_t done, uint64_t total) {
      return progress.Update(done, total);
    };
    return ListObjects(*trace, options.query);
  }();
  if (!list.ok()) {
    PrintError("objects", list.status().message());
    return list.status().code() == StatusCode::kInvalidArgument ? kExitUsage : kExitFailed;
  }
  if (list->interrupted) {
    PrintError("objects", "interrupted");
    return kExitFailed;
  }
  if (list->contradictions != 0) {
    PrintWarning("objects",
                 fmt::format("{} records contradict others and are skipped; cairn verify "
                             "names them",
                             list->contradictions));
  }
  const auto print = [](std::string_view text) { return PrintOutput("objects", text); };
  const bool printed = options.json ? WriteObjectsJson(*list, print) : print(ObjectsText(*list));
  return printed ? 0 : kExitFailed;
}

}  // namespace

Verb AddObjectsVerb(CLI::App& root) {
  auto options = std::make_shared<ObjectsOptions>();
  Command command(root, "objects", "Lists the objects in a trace.", "cairn objects [OPTIONS] FILE",
                  kObjectsExamples);
  command.DumpFile(&options->path);
  command.Flag("--alive", &options->query.alive,
               "Only objects that are not destroyed at that point");
  const CommandOption at = command.Option("--call,--at", &options->at, "CALL",
                                          "The objects at this call; at the end without it");
  command
      .Option("--frame", &options->frame, "N",
              "The objects when this frame begins; counted from the program's first frame, 0")
      .Without(at);
  command.Option("--kind", &options->query.kind, "TEXT",
                 "Only objects whose kind, or interface, contains this text");
  command.Option("--name", &options->query.name, "TEXT",
                 "Only objects whose name contains this text");
  command.Json(&options->json);
  return {.app = command.app(), .run = [options] { return Run(*options); }, .pages = true};
}

}  // namespace cairn::cli
