// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/diff.h"
#include "cli/left_out.h"
#include "cli/play_process.h"
#include "cli/progress.h"
#include "cli/trace_file.h"
#include "cli/verb.h"
#include "os/file.h"
#include "reader/replay/image_file.h"
#include "reader/view/image_diff.h"
#include "reader/view/image_diff_text.h"

namespace cairn::cli {
namespace {

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

// The folder for pictures, if one is asked for. While a TaskProgress lives, so that ^C leaves no empty one.
Status MakeOutputFolder(const DiffOptions& options) {
  return options.folder.empty() ? Status() : MakeFolder(options.folder);
}

int CompareBothFolders(const DiffOptions& options) {
  TaskProgress progress("diff");
  if (const Status made = MakeOutputFolder(options); !made.ok()) return Trouble(made);
  const Result<std::vector<ImagePair>> pairs = CompareFolders(
      options.paths, [&](uint64_t done, uint64_t total) { return progress.Update(done, total); });
  return pairs.ok() ? PrintImages(options, *pairs) : Trouble(pairs.status());
}

int ComparePlayed(const DiffOptions& options, TraceReader (&traces)[2], PlayStatus& child) {
  auto progress = std::make_unique<TaskProgress>("diff");
  if (const Status made = MakeOutputFolder(options); !made.ok()) return Trouble(made);
  PlaybackDiffOptions diff;
  diff.frames = options.frames;
  diff.library = options.library;
  diff.adapter = options.adapter;
  diff.progress = [&](uint64_t done, uint64_t total) { return progress->Update(done, total); };
  diff.on_begin = [&](size_t side, PlayerOptions* player) {
    progress->Restart();
    child.AddTo(player, side);
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

int PlayBoth(const DiffOptions& options, PlayStatus& child) {
  std::optional<TraceReader> first = OpenTraceToPlay("diff", options.paths[0]);
  if (!first.has_value()) return kExitTrouble;
  std::optional<TraceReader> second = OpenTraceToPlay("diff", options.paths[1]);
  if (!second.has_value()) return kExitTrouble;
  TraceReader traces[2] = {std::move(*first), std::move(*second)};
  return ComparePlayed(options, traces, child);
}

bool MakesFolder(const DiffOptions& options) {
  return !options.folder.empty() &&
         FactsAt(options.folder).type == std::filesystem::file_type::not_found;
}

// If nothing could be compared, a folder that was made for the pictures goes again.
int TidiedUp(const DiffOptions& options, bool made_folder, int exit_code) {
  if (made_folder && exit_code == kExitTrouble) RemoveEmptyFolder(options.folder);
  return exit_code;
}

}  // namespace

int DiffFolders(const DiffOptions& options) {
  const bool makes_folder = MakesFolder(options);
  return TidiedUp(options, makes_folder, CompareBothFolders(options));
}

int DiffPlaybacks(const DiffOptions& options) {
  const bool makes_folder = MakesFolder(options);
  const PlayProcess process = {.verb = "diff",
                               .paths = {options.paths[0], options.paths[1]},
                               .failed = kExitTrouble,
                               .playback_failed = kExitTrouble,
                               .new_folder = makes_folder ? options.folder : ""};
  return TidiedUp(options, makes_folder, PlayInChild(process, [&](PlayStatus& child) {
                    return PlayBoth(options, child);
                  }));
}

}  // namespace cairn::cli
