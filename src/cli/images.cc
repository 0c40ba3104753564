// SPDX-License-Identifier: Apache-2.0
//
// cairn images: what render targets and textures of a trace hold, as PNG files.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/left_out.h"
#include "cli/numbers.h"
#include "cli/play_process.h"
#include "cli/progress.h"
#include "cli/trace_file.h"
#include "cli/verb.h"
#include "os/file.h"
#include "reader/replay/image_file.h"
#include "reader/replay/play_cost.h"
#include "reader/replay/player.h"
#include "reader/view/image_place.h"
#include "reader/view/texture_files.h"

namespace cairn::cli {
namespace {

constexpr char kImagesExamples[] =
    "Examples:\n"
    "  cairn images game.cairn                     what is drawn into, at the end of the last "
    "frame\n"
    "  cairn images --frame 12 -o out game.cairn   at the end of frame 12, into the folder out\n"
    "  cairn images --call 18233 game.cairn        after all that was submitted up to this call\n"
    "  cairn images --object Depth --stretch game.cairn\n"
    "                                              one object; its smallest value black, its "
    "largest "
    "white\n"
    "  cairn images --all --json game.cairn        every texture with all mips; "
    "docs/formats/images.schema.json\n"
    "\n"
    "Exit code: 0 if there are images; 1 if not; 2 if the command line is wrong; 3 if there are\n"
    "images, but some calls of the trace were skipped; 4 if the GPU hung, the device was lost, or "
    "the\n"
    "playback died.";

struct ImagesOptions {
  std::string path;
  std::string folder;
  std::string frame;
  std::string call;
  std::vector<std::string> objects;
  std::string library;
  std::string adapter;
  std::string timeout;
  bool all = false;
  bool stretch = false;
  bool json = false;
  bool no_limit = false;
};

// Returns the place at which the playback ends.
Result<ImagePlace> PlaceOf(const ImagesOptions& options, TraceReader& trace) {
  const Result<std::optional<uint64_t>> frame = ParseNumberOf("--frame", options.frame);
  if (!frame.ok()) return frame.status();
  const Result<std::optional<uint64_t>> call = ParseNumberOf("--call", options.call);
  if (!call.ok()) return call.status();
  return FindImagePlace(trace, options.path, {.frame = *frame, .call = *call});
}

Result<PlayerOptions> PlayerOptionsOf(const ImagesOptions& options, const ImagePlace& place,
                                      const ImageObjects& objects, uint64_t file_bytes) {
  PlayerOptions player;
  CAIRN_RETURN_IF_ERROR(ParsePlayTimeout(options.timeout, &player));
  player.library = options.library;
  player.adapter = options.adapter;
  if (!options.no_limit) player.most_cost_ns = PlayCost::MostNs(file_bytes);
  player.every_subresource = options.all;
  if (place.frame) player.frame_end = *place.frame + 1;
  if (place.call) player.last_call = *place.call;
  Result<std::unordered_set<uint64_t>> chosen = objects.Choose(options.objects);
  if (!chosen.ok()) return chosen.status();
  player.textures = std::move(chosen).value();
  return player;
}

// Prints the files, or the reason why there are none.
int PrintFiles(const ImagesOptions& options, const ImagePlace& place, const TextureFiles& files) {
  if (!files.status().ok()) {
    PrintError("images", files.status().message());
    return kExitFailed;
  }
  if (!PrintOutput("images", options.json ? files.Json(options.path, place) : files.lines())) {
    return kExitFailed;
  }
  if (files.written() != 0) return 0;
  PrintError("images", files.empty()
                           ? "nothing that was asked for lives there; cairn objects --alive lists "
                             "what does"
                           : "none of the textures can be shown");
  return kExitFailed;
}

// Handles a place that the command line or the file does not have.
int Refuse(const Status& status) {
  PrintError("images", status.message());
  return status.code() == StatusCode::kInvalidArgument ? kExitUsage : kExitFailed;
}

int Play(const ImagesOptions& options, const ImagePlace& place, const ImageObjects& objects,
         PlayerOptions player_options, TraceReader& trace) {
  // Before the folder: ^C from here on ends the playback in order.
  auto progress = std::make_unique<TaskProgress>("images");
  if (const Status made = MakeFolder(options.folder); !made.ok()) {
    progress.reset();
    return Refuse(made);
  }
  TextureFiles files(options.folder, objects, options.stretch);
  bool stopped = false;
  uint64_t frames = 0;
  const uint64_t expected =
      place.frame ? *place.frame + 1 - trace.first_frame().value_or(0) : trace.frame_count();
  player_options.on_texture = [&](TextureImage image) { files.Add(std::move(image)); };
  player_options.on_frame = [&](uint64_t) { ++frames; };
  player_options.interrupted = [&] {
    if (!progress->Update(frames, expected)) stopped = true;
    return stopped || !files.status().ok();
  };
  const Result<std::unique_ptr<Player>> player = Player::Create(&trace, std::move(player_options));
  if (!player.ok()) {
    progress.reset();
    return Refuse(player.status());
  }
  const Status status = (*player)->Run();
  progress.reset();
  const PlayerFailure failure = (*player)->failure();
  if (!status.ok()) {
    PrintError("images", options.path + ": " + status.message());
  } else if (stopped) {
    PrintError("images", "stopped");
  }
  if (failure == PlayerFailure::kHang || failure == PlayerFailure::kLost) {
    return kExitPlaybackFailed;
  }
  if (!status.ok() || stopped) return kExitFailed;
  PrintNotes("images", "", (*player)->result());
  const int exit_code = PrintFiles(options, place, files);
  return exit_code == 0 && (*player)->result().skipped != 0 ? kExitLeftOut : exit_code;
}

int PlayTrace(const ImagesOptions& options, PlayStatus& child) {
  std::optional<TraceReader> trace = OpenTraceToPlay("images", options.path);
  if (!trace.has_value()) return options.path.empty() ? kExitUsage : kExitFailed;
  const Result<ImagePlace> place = PlaceOf(options, *trace);
  if (!place.ok()) return Refuse(place.status());
  const Result<ImageObjects> objects = [&] {
    TaskProgress progress("images");
    return ImageObjects::Read(*trace, *place, [&](uint64_t done, uint64_t total) {
      return progress.Update(done, total);
    });
  }();
  if (!objects.ok()) return Refuse(objects.status());
  Result<PlayerOptions> player =
      PlayerOptionsOf(options, *place, *objects, trace->file().size_bytes());
  if (!player.ok()) return Refuse(player.status());
  child.AddTo(&*player);
  return Play(options, *place, *objects, std::move(player).value(), *trace);
}

int Run(ImagesOptions options) {
  if (!options.frame.empty() && !options.call.empty()) {
    PrintError("images", "--frame and --call name two places; give one of them");
    return kExitUsage;
  }
  if (options.folder.empty()) options.folder = ".";
  const bool is_new_folder = FactsAt(options.folder).type == std::filesystem::file_type::not_found;
  const int exit_code = PlayInChild({.verb = "images",
                                     .paths = {options.path},
                                     .new_folder = is_new_folder ? options.folder : ""},
                                    [&](PlayStatus& child) { return PlayTrace(options, child); });
  // A folder that got no image.
  if (exit_code != 0 && is_new_folder) RemoveEmptyFolder(options.folder);
  return exit_code;
}

}  // namespace

Verb AddImagesVerb(CLI::App& root) {
  auto options = std::make_shared<ImagesOptions>();
  Command command(root, "images", "Writes render targets and textures of a trace as PNG files.",
                  "cairn images [OPTIONS] FILE", kImagesExamples);
  command.TraceFile(&options->path);
  command.Option("-o,--output", &options->folder, "FOLDER",
                 "The folder for the files; without it the current one");
  command.Option("--frame", &options->frame, "N",
                 "At the end of this frame, counted from 0; without it the last");
  command.Call(&options->call, "After all that was submitted up to this call");
  command.Option("--object", &options->objects, "OBJECT",
                 "This texture, by its number or name; may be given several times");
  command.Flag("--all", &options->all,
               "Write all textures with all mips, not only those that are drawn into");
  command.Flag("--stretch", &options->stretch,
               "Map each image's smallest value to black, its largest to white");
  command.Json(&options->json);
  command.PlayTimeout(&options->timeout);
  command.NoPlayLimit(&options->no_limit);
  command.Library(&options->library);
  command.Adapter(&options->adapter);
  return {.app = command.app(), .run = [options] { return Run(*options); }};
}

}  // namespace cairn::cli
