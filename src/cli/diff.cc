// SPDX-License-Identifier: Apache-2.0
//
// cairn diff: what differs between two traces, two playbacks, or two folders of images.
#include "cli/diff.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"
#include "cli/verb.h"
#include "os/file.h"
#include "reader/replay/device.h"
#include "reader/view/diff_text.h"
#include "reader/view/trace_diff.h"

namespace cairn::cli {
namespace {

constexpr char kDiffExamples[] =
    "Examples:\n"
    "  cairn diff old.cairn new.cairn               calls that only one of them makes\n"
    "  cairn diff --frames 10-12 old.cairn new.cairn\n"
    "  cairn diff --images -o out old.cairn new.cairn\n"
    "                                               play both and compare what each frame shows\n"
    "  cairn diff --images game.cairn game.cairn    the same trace twice: does it play the same?\n"
    "  cairn diff out1 out2                         two folders of cairn replay --images\n"
    "\n"
    "Exit code: 0 if nothing differs; 1 if something does; 2 if it could not be compared.";

Status ParseOptions(DiffOptions* options) {
  const Result<FrameRange> frames = ParseFramesOf("--frames", options->frames_text);
  if (!frames.ok()) return frames.status();
  options->frames = *frames;
  const std::optional<uint64_t> limit = ParseDigits(options->limit_text);
  if (!limit.has_value()) {
    return {StatusCode::kInvalidArgument,
            fmt::format("--limit: '{}' is not a number of differences; 0 shows all",
                        options->limit_text)};
  }
  options->limit = *limit == 0 ? ~uint64_t{0} : *limit;
  return {};
}

// ---- Calls ---------------------------------------------------------------------------------------

// The differences as they are found.
class CallPrinter {
 public:
  explicit CallPrinter(const DiffOptions& options)
      : options_(options), text_(!options.json && StdoutShowsColour()) {}

  bool Add(const CallDifference& difference) {
    if (count_ == options_.limit) {
      cut_ = true;
      return false;
    }
    ++count_;
    if (options_.json) {
      list_.push_back(difference);
      return true;
    }
    written_ = PrintOutput("diff", text_.Next(difference));
    return written_;
  }

  bool written() const { return written_; }
  bool cut() const { return cut_; }
  const std::vector<CallDifference>& list() const { return list_; }

 private:
  const DiffOptions& options_;
  CallDifferenceText text_;
  uint64_t count_ = 0;
  bool cut_ = false;
  bool written_ = true;
  std::vector<CallDifference> list_;  // for JSON
};

int DiffCalls(const DiffOptions& options, TraceReader (&traces)[2]) {
  auto progress = std::make_unique<TaskProgress>("diff");
  CallPrinter printer(options);
  TraceDiffOptions diff;
  diff.frames = options.frames;
  diff.align = options.align;
  diff.print = [&](const CallDifference& difference) { return printer.Add(difference); };
  diff.progress = [&](uint64_t done, uint64_t total) { return progress->Update(done, total); };
  const Result<TraceDiffResult> result = CompareTraces(traces[0], traces[1], diff);
  progress.reset();
  if (!result.ok()) return Trouble(result.status());
  if (result->stopped) return Trouble({StatusCode::kInvalidArgument, "stopped"});
  if (result->undecoded != 0) PrintWarning("diff", UndecodedWarning(*result));
  const std::string text =
      options.json ? CallDifferencesJson(options.paths, *result, printer.list(), printer.cut())
                   : DiffSummary(*result, printer.cut());
  if (!printer.written() || !PrintOutput("diff", text)) return kExitTrouble;
  return result->differences == 0 && result->different_images.empty() ? 0 : kExitDifferent;
}

// ---- The verb ------------------------------------------------------------------------------------

int DiffTraces(const DiffOptions& options) {
  std::optional<TraceReader> first = OpenTraceFile("diff", options.paths[0], Check::kPayloads);
  if (!first.has_value()) return kExitTrouble;
  std::optional<TraceReader> second = OpenTraceFile("diff", options.paths[1], Check::kPayloads);
  if (!second.has_value()) return kExitTrouble;
  TraceReader traces[2] = {std::move(*first), std::move(*second)};
  return DiffCalls(options, traces);
}

int Run(DiffOptions options) {
  if (const Status status = ParseOptions(&options); !status.ok()) return Trouble(status);
  if (options.paths[0].empty() || options.paths[1].empty()) {
    PrintError("diff", "two files or two folders are needed; say cairn diff FIRST SECOND");
    return kExitTrouble;
  }
  using std::filesystem::file_type;
  const bool folders[2] = {FactsAt(options.paths[0]).type == file_type::directory,
                           FactsAt(options.paths[1]).type == file_type::directory};
  if (folders[0] && folders[1]) {
    if (options.frames_text.empty()) return DiffFolders(options);
    PrintError("diff", "--frames picks frames of traces; FIRST and SECOND are folders");
    return kExitTrouble;
  }
  if (folders[0] || folders[1]) {
    PrintError("diff",
               fmt::format("{} is a folder and {} is not; give two traces or two folders",
                           options.paths[folders[0] ? 0 : 1], options.paths[folders[0] ? 1 : 0]));
    return kExitTrouble;
  }
  if (options.align && (options.images || folders[0])) {
    PrintError("diff", "--align lines up the calls of traces; images are compared by their frames");
    return kExitTrouble;
  }
  if (!options.folder.empty() && !options.images) {
    PrintError("diff", "-o writes pictures of differences; it needs --images");
    return kExitTrouble;
  }
  return options.images ? DiffPlaybacks(options) : DiffTraces(options);
}

}  // namespace

int Trouble(const Status& status) {
  PrintError("diff", status.message());
  return kExitTrouble;
}

Verb AddDiffVerb(CLI::App& root) {
  auto options = std::make_shared<DiffOptions>();
  Command command(root, "diff", "Compares two traces, or two folders of images.",
                  "cairn diff [OPTIONS] FIRST SECOND", kDiffExamples);
  command.Option("first", &options->paths[0], "FIRST",
                 "A .cairn file with a trace, or a folder of PNG files");
  command.Option("second", &options->paths[1], "SECOND", "Another trace, or folder");
  command.Flag("--images", &options->images, "Play both traces and compare the images of frames");
  command.Option("-o,--output", &options->folder, "FOLDER",
                 "Write a picture of each image that differs into this folder");
  command.Frames(&options->frames_text, "These frames only");
  command.Flag("--align", &options->align,
               "Compare frames that do the same, whatever their numbers are");
  command.Option("--limit", &options->limit_text, "N", "Show at most this many differences; 0: all")
      .WithDefault();
  command.Json(&options->json);
  command.Option("--library", &options->library, "FILE",
                 std::string("With --images: the Direct3D 12 library to play with; without it ") +
                     kDefaultD3D12Library);
  command.Option(
      "--adapter", &options->adapter, "N|NAME",
      "With --images: the adapter to play on: its number, from 0, or a part of its name");
  return {.app = command.app(),
          .run = [options] { return Run(*options); },
          .usage_exit_code = kExitTrouble};
}

}  // namespace cairn::cli
