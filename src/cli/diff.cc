// SPDX-License-Identifier: Apache-2.0
//
// cairn diff: what differs between two traces, two playbacks, or two folders of images.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/left_out.h"
#include "cli/numbers.h"
#include "cli/play_process.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"
#include "cli/verb.h"
#include "reader/replay/image_file.h"
#include "reader/view/diff_text.h"
#include "reader/view/image_diff.h"
#include "reader/view/trace_diff.h"

namespace cairn::cli {
namespace {

constexpr char kExamples[] =
    "Examples:\n"
    "  cairn diff old.cairn new.cairn               calls that only one of them makes\n"
    "  cairn diff --frames 10-12 old.cairn new.cairn\n"
    "  cairn diff --images -o out old.cairn new.cairn\n"
    "                                               play both and compare what each frame shows\n"
    "  cairn diff --images game.cairn game.cairn    the same trace twice: does it play the same?\n"
    "  cairn diff out1 out2                         two folders of cairn replay --images\n"
    "\n"
    "Exit code: 0 if nothing differs; 1 if something does; 2 if it could not be compared.";

// As diff(1) has it.
constexpr int kExitDifferent = 1;
constexpr int kExitTrouble = 2;

struct DiffOptions {
  std::string paths[2];
  std::string frames_text;
  std::string folder;
  std::string library;
  std::string limit_text = "100";
  FrameRange frames;   // `frames_text`, read
  uint64_t limit = 0;  // `limit_text`, read
  bool images = false;
  bool json = false;
};

int Trouble(const Status& status) {
  PrintError("diff", status.message());
  return kExitTrouble;
}

Status ParseOptions(DiffOptions* options) {
  const Result<FrameRange> frames = ParseFramesOf("--frames", options->frames_text);
  if (!frames.ok()) return frames.status();
  options->frames = *frames;
  const std::optional<uint64_t> limit = ParseDigits(options->limit_text);
  if (!limit.has_value()) {
    return {
        StatusCode::kInvalidArgument,
        fmt::format("--limit: '{}' is no number of differences; 0 shows all", options->limit_text)};
  }
  options->limit = *limit == 0 ? ~uint64_t{0} : *limit;
  return {};
}

// ---- Images --------------------------------------------------------------------------------------

int PrintImages(const DiffOptions& options, const std::vector<ImagePair>& pairs) {
  bool all_same = true;
  for (const ImagePair& pair : pairs) {
    all_same = all_same && pair.same;
    const RgbaImage& picture = pair.difference.picture;
    if (pair.same || options.folder.empty() || picture.pixels.empty()) continue;
    const Status status = WritePng(options.folder + "/" + pair.file, picture);
    if (!status.ok()) return Trouble(status);
  }
  const std::string text = options.json ? ImagePairsJson(options.paths, pairs, options.limit)
                                        : ImagePairsText(options.paths, pairs, options.limit);
  if (!PrintOutput("diff", text)) return kExitTrouble;
  return all_same ? 0 : kExitDifferent;
}

int DiffFolders(const DiffOptions& options) {
  TaskProgress progress("diff");
  const Result<std::vector<ImagePair>> pairs = CompareFolders(
      options.paths, [&](uint64_t done, uint64_t total) { return progress.Update(done, total); });
  return pairs.ok() ? PrintImages(options, *pairs) : Trouble(pairs.status());
}

int DiffPlaybacks(const DiffOptions& options, TraceReader (&traces)[2], PlayTelling& telling) {
  auto progress = std::make_unique<TaskProgress>("diff");
  PlaybackDiffOptions diff;
  diff.frames = options.frames;
  diff.library = options.library;
  diff.progress = [&](uint64_t done, uint64_t total) { return progress->Update(done, total); };
  diff.on_begin = [&](size_t side, PlayerOptions* player) {
    progress->Restart();
    telling.AddTo(player, side);
  };
  diff.on_end = [&](size_t side, const PlayerResult& result) {
    PrintNotes("diff", options.paths[side] + ": ", result);
  };
  const Result<std::vector<ImagePair>> pairs = ComparePlaybacks(traces, options.paths, diff);
  progress.reset();
  if (!pairs.ok()) return Trouble(pairs.status());
  if (!pairs->empty()) return PrintImages(options, *pairs);
  return Trouble({StatusCode::kNotFound,
                  "neither trace has a frame with an image there; cairn info counts frames"});
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

// Into the folder for pictures, if one is asked for. If nothing could be compared, it goes again.
template <typename Compare>
int CompareInto(const DiffOptions& options, const Compare& compare) {
  std::error_code error;
  const bool is_new = !options.folder.empty() && !std::filesystem::exists(options.folder, error);
  if (!options.folder.empty()) {
    if (const Status made = MakeFolder(options.folder); !made.ok()) return Trouble(made);
  }
  const int exit_code = compare();
  if (exit_code == kExitTrouble && is_new) RemoveEmptyFolder(options.folder);
  return exit_code;
}

int DiffTraces(const DiffOptions& options, PlayTelling* telling) {
  const auto open = [&](const std::string& path) {
    return telling != nullptr ? OpenTraceToPlay("diff", path)
                              : OpenTraceFile("diff", path, Check::kPayloads);
  };
  std::optional<TraceReader> first = open(options.paths[0]);
  if (!first.has_value()) return kExitTrouble;
  std::optional<TraceReader> second = open(options.paths[1]);
  if (!second.has_value()) return kExitTrouble;
  TraceReader traces[2] = {std::move(*first), std::move(*second)};
  return telling == nullptr ? DiffCalls(options, traces) : DiffPlaybacks(options, traces, *telling);
}

int Run(DiffOptions options) {
  if (const Status status = ParseOptions(&options); !status.ok()) return Trouble(status);
  if (options.paths[0].empty() || options.paths[1].empty()) {
    PrintError("diff", "two files or two folders are needed; say cairn diff FIRST SECOND");
    return kExitTrouble;
  }
  std::error_code error;
  const bool folders[2] = {std::filesystem::is_directory(options.paths[0], error),
                           std::filesystem::is_directory(options.paths[1], error)};
  if (folders[0] && folders[1]) {
    if (options.frames_text.empty())
      return CompareInto(options, [&] { return DiffFolders(options); });
    PrintError("diff", "--frames picks frames of traces; FIRST and SECOND are folders");
    return kExitTrouble;
  }
  if (folders[0] || folders[1]) {
    PrintError("diff",
               fmt::format("{} is a folder and {} is none; give two of a kind",
                           options.paths[folders[0] ? 0 : 1], options.paths[folders[0] ? 1 : 0]));
    return kExitTrouble;
  }
  if (!options.folder.empty() && !options.images) {
    PrintError("diff", "-o writes pictures of differences; it needs --images");
    return kExitTrouble;
  }
  if (!options.images) return DiffTraces(options, nullptr);
  const PlayProcess process = {.verb = "diff",
                               .paths = {options.paths[0], options.paths[1]},
                               .failed = kExitTrouble,
                               .playback_failed = kExitTrouble};
  return CompareInto(options, [&] {
    return PlayInChild(process,
                       [&](PlayTelling& telling) { return DiffTraces(options, &telling); });
  });
}

}  // namespace

Verb AddDiffVerb(CLI::App& root) {
  auto options = std::make_shared<DiffOptions>();
  Command command(root, "diff", "Compares two traces, or two folders of images.",
                  "cairn diff [OPTIONS] FIRST SECOND", kExamples);
  command.Option("first", &options->paths[0], "FIRST",
                 "A .cairn file with a trace, or a folder of PNG files");
  command.Option("second", &options->paths[1], "SECOND", "Another one");
  command.Flag("--images", &options->images, "Play both traces and compare the images of frames");
  command.Option("-o,--output", &options->folder, "FOLDER",
                 "Write a picture of each image that differs into this folder");
  command.Option("--frames", &options->frames_text, "A[-B]",
                 "These frames only, as the program counts: from 0");
  command.Option("--limit", &options->limit_text, "N", "Show so many differences; 0: all")
      .WithDefault();
  command.Flag("--json", &options->json, "Print the differences as JSON");
  command.Option("--library", &options->library, "FILE",
                 "With --images: the Direct3D 12 to play on; without it libvkd3d-utils.so.1");
  return {.app = command.app(),
          .run = [options] { return Run(*options); },
          .usage_exit_code = kExitTrouble};
}

}  // namespace cairn::cli
