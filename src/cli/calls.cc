// SPDX-License-Identifier: Apache-2.0
//
// cairn calls: the Direct3D 12 calls in a trace.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"
#include "cli/verb.h"
#include "format/calls/object_text.h"
#include "format/snapshot/snapshot_file.h"
#include "reader/view/call_listing.h"

namespace cairn::cli {
namespace {

constexpr char kCallsExamples[] =
    "Examples:\n"
    "  cairn calls --around 18233 game.cairn      the calls around one that a report names\n"
    "  cairn calls --frames 7-9 game.cairn        of three frames\n"
    "  cairn calls --function Create game.cairn   what was created\n"
    "  cairn calls --object Depth game.cairn      on an object, or with it as an argument\n"
    "  cairn calls --json game.cairn              JSON, a line each; "
    "docs/formats/calls.schema.json\n"
    "\n"
    "Call numbers have gaps: results and other records of the trace are numbered, too. A result is "
    "printed on the line of its call.";

struct CallsOptions {
  std::string path;
  std::string frames;
  std::string around;
  std::string object;
  std::string thread;
  std::string submission;
  std::string context;
  std::string from;
  std::string limit;
  CallListingOptions listing;
  bool no_names = false;
};

Status ParseNumberInto(std::string_view option, std::string_view text,
                       std::optional<uint64_t>* number) {
  const Result<std::optional<uint64_t>> parsed = ParseNumberOf(option, text);
  if (parsed.ok()) *number = *parsed;
  return parsed.status();
}

Status ParseFrames(const std::string& text, CallFilter* filter) {
  if (text.empty()) return {};
  const Result<FrameRange> frames = ParseFramesOf("--frames", text);
  if (!frames.ok()) return frames.status();
  filter->first_frame = frames->first;
  if (frames->end != kNoFrame) filter->last_frame = frames->end - 1;
  return {};
}

Status ParseFilter(CallsOptions* options) {
  CallFilter& filter = options->listing.filter;
  CAIRN_RETURN_IF_ERROR(ParseFrames(options->frames, &filter));
  CAIRN_RETURN_IF_ERROR(ParseNumberInto("--around", options->around, &filter.around));
  CAIRN_RETURN_IF_ERROR(ParseNumberInto("--submission", options->submission, &filter.submission));
  std::optional<uint64_t> number;
  CAIRN_RETURN_IF_ERROR(ParseNumberInto("--context", options->context, &number));
  if (number.has_value() && !filter.around.has_value()) {
    return Status(StatusCode::kInvalidArgument,
                  "--context needs a call to show the neighbours of; say --around CALL as well");
  }
  filter.context = std::min<uint64_t>(number.value_or(filter.context), 1'000'000);
  number.reset();
  CAIRN_RETURN_IF_ERROR(ParseNumberInto("--thread", options->thread, &number));
  if (number.has_value()) filter.thread = static_cast<uint32_t>(std::min<uint64_t>(*number, ~0u));
  number.reset();
  CAIRN_RETURN_IF_ERROR(ParseNumberInto("--from", options->from, &number));
  filter.from = number.value_or(filter.from);
  number.reset();
  CAIRN_RETURN_IF_ERROR(ParseNumberInto("--limit", options->limit, &number));
  if (number.value_or(0) != 0) filter.most = *number;
  filter.object = ObjectNumberIn(options->object);
  if (!filter.object.has_value()) filter.object_name = options->object;
  if (!filter.object_name.empty() && options->no_names) {
    return Status(StatusCode::kInvalidArgument,
                  "--object: with --no-names give the number of the object, not its name");
  }
  options->listing.names = !options->no_names;
  return {};
}

// The states of a crash's work, if the file holds one.
GpuStates StatesIn(const FileReader& file) {
  const Result<Snapshot> snapshot = ReadSnapshot(file);
  return snapshot.ok() ? GpuStates(*snapshot, Analyse(*snapshot)) : GpuStates();
}

int Run(CallsOptions options) {
  if (const Status status = ParseFilter(&options); !status.ok()) {
    PrintError("calls", status.message());
    return kExitUsage;
  }
  std::optional<TraceReader> trace = OpenTraceFile("calls", options.path);
  if (!trace.has_value()) return options.path.empty() ? kExitUsage : kExitFailed;
  options.listing.colour = !options.listing.json && StdoutShowsColour();
  bool written = true;
  const Result<ListedCalls> listed =
      ListCalls(*trace, options.listing, StatesIn(trace->file()),
                [&](std::string_view text) { return written = PrintOutput("calls", text); });
  if (!listed.ok()) {
    PrintError("calls", listed.status().message());
    return kExitFailed;
  }
  if (listed->damaged != 0 && DamageInWords(options.path, *trace).empty()) {
    PrintWarning("calls", fmt::format("{} record{} could not be read, the first: {}; cairn verify "
                                      "lists all",
                                      GroupedDigits(listed->damaged),
                                      listed->damaged == 1 ? "" : "s", listed->first_damage));
  }
  if (listed->left_out != 0) {
    PrintWarning(
        "calls",
        fmt::format("the last {} are listed without arguments: a file of {} bytes may not "
                    "print so much; --frames and --around show some of them",
                    GroupedDigits(listed->left_out), GroupedDigits(trace->file().size_bytes())));
  }
  return written ? 0 : kExitFailed;
}

}  // namespace

Verb AddCallsVerb(CLI::App& root) {
  auto options = std::make_shared<CallsOptions>();
  Command command(root, "calls", "Prints the Direct3D 12 calls in a trace.",
                  "cairn calls [OPTIONS] FILE", kCallsExamples);
  command.TraceFile(&options->path);
  command.Frames(&options->frames, "Calls of a frame (7) or of several (7-9)");
  const CommandOption around = command.Option("--around", &options->around, "CALL",
                                              "The call with this number, and those around it");
  command.Option("--context", &options->context, "N", "With --around: how many on each side; 10");
  command.Option("--object", &options->object, "OBJECT",
                 "Calls on this object, or with it as an argument; its number or name");
  command.Option("--function", &options->listing.filter.function, "NAME",
                 "Calls of a function, by its name or a part of it");
  command.Option("--thread", &options->thread, "N", "Calls of a thread, by its index in the trace");
  command.Option("--submission", &options->submission, "N",
                 "Calls that the N-th ExecuteCommandLists of the trace executed, from 1");
  command.Option("--from", &options->from, "CALL", "Calls from this number on");
  command.Option("--limit", &options->limit, "N", "Print at most this many lines; 0: all")
      .Without(around);
  command.Flag("--whole", &options->listing.whole, "Print long arrays and bytes in full");
  command.Flag("--no-names", &options->no_names,
               "Print objects by number only: quicker for a late frame of a long trace");
  command.Flag("--json", &options->listing.json, "Print JSON, one line for each call");
  return {.app = command.app(), .run = [options] { return Run(*options); }, .pages = true};
}

}  // namespace cairn::cli
