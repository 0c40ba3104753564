// SPDX-License-Identifier: Apache-2.0
//
// cairn images: what render targets and textures of a trace hold, as PNG files.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/left_out.h"
#include "cli/play_process.h"
#include "cli/progress.h"
#include "cli/trace_file.h"
#include "cli/verb.h"
#include "d3d12abi/image_formats.h"
#include "d3d12gen/interfaces.h"
#include "format/trace/trace_state.h"
#include "reader/replay/image_file.h"
#include "reader/replay/player.h"
#include "reader/view/json_document.h"

namespace cairn::cli {
namespace {

using nlohmann::ordered_json;

constexpr char kExamples[] =
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
    "docs/images.schema.json\n"
    "\n"
    "Exit code: 0 if there are images; 1 if not; 2 if the command line is wrong; 3 if there are\n"
    "images, but calls of the trace were left out; 4 if the GPU hung, the device was lost, or the\n"
    "playback died.";

struct ImagesOptions {
  std::string path;
  std::string folder;
  std::string frame;
  std::string call;
  std::vector<std::string> objects;
  std::string library;
  std::string timeout = "20";
  bool all = false;
  bool stretch = false;
  bool json = false;
};

// Where the playback ends, and what the trace says of objects there.
struct Place {
  std::optional<uint64_t> frame;
  std::optional<uint64_t> call;
  bool has_call = false;
  uint64_t shown = kNoObject;  // the image of the frame
  std::unordered_map<uint64_t, std::string> names;
  std::unordered_map<uint64_t, const char*> alive;  // what each is, if it is no texture
};

std::optional<uint64_t> ParseNumber(std::string text) {
  std::erase(text, ',');  // as reports group digits
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || rest != end) return std::nullopt;
  return number;
}

Result<Place> FindPlace(const ImagesOptions& options, TraceReader& trace) {
  Place place;
  for (const auto& [text, option, number] : {std::tuple(&options.frame, "--frame", &place.frame),
                                             std::tuple(&options.call, "--call", &place.call)}) {
    if (text->empty()) continue;
    *number = ParseNumber(*text);
    if (!number->has_value()) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{}: '{}' is no number", option, *text));
    }
  }
  const uint64_t frames = trace.frame_count();
  if (place.frame) {
    const Result<uint64_t> ordinal = trace.OrdinalOf(*place.frame);
    if (!ordinal.ok() || *ordinal >= frames) {
      const uint64_t first = trace.first_frame().value_or(0);
      return Status(StatusCode::kInvalidArgument,
                    frames == 0 ? fmt::format("--frame: {} has no ends of frames", options.path)
                                : fmt::format("--frame: {} has the frames {} to {}", options.path,
                                              first, first + frames - 1));
    }
  }
  // A trace without frames is played to its end.
  if (!place.frame && !place.call && frames != 0) {
    place.frame = trace.first_frame().value_or(0) + frames - 1;
  }
  return place;
}

// Why an object has no image; nullptr for a texture.
const char* NoTexture(const TracedObject& object) {
  if (object.chain != Chain::kID3D12Resource) {
    return object.chain == Chain::kNone ? "something unknown" : Describe(object.chain).first->name;
  }
  return object.resource && object.resource->gpu_address != 0 ? "a buffer" : nullptr;
}

// What lives at that place, and its names.
Status ReadObjects(TraceReader& trace, TaskProgress* progress, Place* place) {
  TraceState state(trace);
  TraceCursor cursor(trace);
  Record record;
  while (cursor.Next(&record)) {
    if (place->call && record.number > *place->call) break;
    if (place->call == record.number && record.kind == RecordKind::kCall) place->has_call = true;
    (void)state.Apply(record);
    if (record.kind == RecordKind::kFrame) {
      place->shown = record.object;
      if (place->frame && trace.first_frame().value_or(0) + cursor.frame() >= *place->frame) break;
    }
    if (!progress->Update(record.number, trace.record_count() * 10)) {
      return {StatusCode::kInvalidArgument, "stopped"};
    }
  }
  for (const auto& [number, object] : state.objects()) {
    if (object.ended != 0) continue;
    place->alive[number] = NoTexture(object);
    if (!object.name.empty()) place->names[number] = object.name;
  }
  return cursor.status();
}

// The objects that were asked for, by number or name.
Result<std::unordered_set<uint64_t>> ChosenObjects(const ImagesOptions& options,
                                                   const Place& place) {
  std::unordered_set<uint64_t> chosen;
  for (const std::string& text : options.objects) {
    const std::optional<uint64_t> number = ParseNumber(text.substr(text.starts_with('#') ? 1 : 0));
    std::vector<uint64_t> meant;
    if (number && place.alive.contains(*number)) {
      meant.push_back(*number);
    } else {
      for (const auto& [named, name] : place.names) {
        if (name == text) meant.push_back(named);
      }
    }
    const char* other = nullptr;  // what it is instead of a texture
    bool has_texture = false;
    for (const uint64_t object : meant) {
      if (place.alive.at(object) == nullptr) {
        chosen.insert(object);
        has_texture = true;
      } else {
        other = place.alive.at(object);
      }
    }
    if (has_texture) continue;
    return Status(StatusCode::kInvalidArgument,
                  meant.empty()
                      ? fmt::format("--object: nothing that lives there is called '{}'; cairn "
                                    "objects --alive lists what does",
                                    text)
                      : fmt::format("--object: '{}' is {}, not a texture", text, other));
  }
  return chosen;
}

// Writes the images that the player gives.
class Pictures {
 public:
  Pictures(const ImagesOptions& options, const Place& place) : options_(options), place_(place) {}

  void Add(const TextureImage& image) {
    if (!status_.ok()) return;
    ordered_json entry = Describe(image);
    if (!image.problem.empty()) {
      Refuse(&entry, image.problem);
      return;
    }
    entry["hash"] = HashText(HashPixels(image.pixels));
    const uint64_t slice_bytes = image.row_bytes * image.row_count;
    ordered_json files = ordered_json::array();
    for (uint32_t z = 0; z < image.depth; ++z) {
      const auto slice = std::span(image.pixels).subspan(z * slice_bytes, slice_bytes);
      const Result<RgbaImage> picture =
          ToRgba(static_cast<DXGI_FORMAT>(image.format), image.width, image.height, image.row_bytes,
                 slice, options_.stretch ? ValueRange::kStretched : ValueRange::kNatural);
      if (!picture.ok()) {
        Refuse(&entry, picture.status().message());
        return;
      }
      const std::string file = FileName(image, z);
      status_ = WritePng(options_.folder + "/" + file, *picture);
      if (!status_.ok()) return;
      ++written_;
      files.push_back(file);
    }
    lines_ += fmt::format("{}  {} x {}  {}  {}{}\n", Title(image), image.width, image.height,
                          FormatName(image.format), files.front().get<std::string>(),
                          files.size() == 1 ? "" : fmt::format(" and {} more", files.size() - 1));
    entry["files"] = std::move(files);
    images_.push_back(std::move(entry));
  }

  const Status& status() const { return status_; }
  uint64_t written() const { return written_; }
  const std::string& lines() const { return lines_; }
  ordered_json images() const { return images_; }

 private:
  std::string NameOf(uint64_t object) const {
    const auto found = place_.names.find(object);
    return found == place_.names.end() ? "" : found->second;
  }

  std::string Title(const TextureImage& image) const {
    const std::string name = NameOf(image.object);
    std::string title = fmt::format("object {}", GroupedDigits(image.object));
    if (!name.empty()) title += fmt::format(" \"{}\"", VisibleText(name));
    if (image.mip != 0) title += fmt::format(", mip {}", image.mip);
    if (image.slice != 0) title += fmt::format(", slice {}", image.slice);
    if (image.plane != 0) title += fmt::format(", plane {}", image.plane);
    if (image.object == place_.shown) title += ", shown";
    return title;
  }

  std::string FileName(const TextureImage& image, uint32_t z) const {
    std::string name = fmt::format("object-{}", image.object);
    const std::string part = FileNamePart(NameOf(image.object));
    if (!part.empty()) name += "-" + part;
    if (image.plane != 0) name += fmt::format("-plane{}", image.plane);
    if (image.slice != 0) name += fmt::format("-slice{}", image.slice);
    if (image.mip != 0) name += fmt::format("-mip{}", image.mip);
    if (image.depth != 1) name += fmt::format("-z{}", z);
    return name + ".png";
  }

  ordered_json Describe(const TextureImage& image) const {
    const std::string name = NameOf(image.object);
    return {{"object", image.object},
            {"name", name.empty() ? ordered_json() : ordered_json(name)},
            {"mip", image.mip},
            {"slice", image.slice},
            {"plane", image.plane},
            {"width", image.width},
            {"height", image.height},
            {"depth", image.depth},
            {"format", FormatName(image.format)},
            {"target", image.is_target},
            {"shown", image.object == place_.shown}};
  }

  void Refuse(ordered_json* entry, const std::string& problem) {
    lines_ += fmt::format("{}  no image: {}\n", Title(*entry), VisibleText(problem));
    (*entry)["problem"] = problem;
    images_.push_back(std::move(*entry));
  }
  static std::string Title(const ordered_json& entry) {
    return fmt::format("object {}, mip {}, slice {}, plane {}", entry["object"].get<uint64_t>(),
                       entry["mip"].get<uint32_t>(), entry["slice"].get<uint32_t>(),
                       entry["plane"].get<uint32_t>());
  }

  const ImagesOptions& options_;
  const Place& place_;
  Status status_;
  uint64_t written_ = 0;
  std::string lines_;
  ordered_json images_ = ordered_json::array();
};

Result<PlayerOptions> PlayerOptionsOf(const ImagesOptions& options, const Place& place) {
  PlayerOptions player;
  const Result<uint64_t> timeout_ns = ParseSeconds(options.timeout);
  if (!timeout_ns.ok()) return timeout_ns.status().WithContext("--timeout");
  constexpr uint64_t kNever = uint64_t{1'000'000'000} * 1'000'000'000;
  player.wait_timeout_ns = *timeout_ns == 0 ? kNever : *timeout_ns;
  player.library = options.library;
  player.every_subresource = options.all;
  if (place.frame) player.frame_end = *place.frame + 1;
  if (place.call) player.last_call = *place.call;
  Result<std::unordered_set<uint64_t>> chosen = ChosenObjects(options, place);
  if (!chosen.ok()) return chosen.status();
  player.textures = std::move(chosen).value();
  return player;
}

// What was written, or why nothing was.
int PrintPictures(const ImagesOptions& options, const Place& place, const Pictures& pictures) {
  if (!pictures.status().ok()) {
    PrintError("images", pictures.status().message());
    return kExitFailed;
  }
  std::string text = pictures.lines();
  if (options.json) {
    const ordered_json document = {
        {"format", "cairn-images"},
        {"version", 1},
        {"file", options.path},
        {"frame", place.frame ? ordered_json(*place.frame) : ordered_json()},
        {"call", place.call ? ordered_json(*place.call) : ordered_json()},
        {"folder", options.folder},
        {"images", pictures.images()}};
    text = JsonDocument(document);
  }
  if (!PrintOutput("images", text)) return kExitFailed;
  if (pictures.written() != 0) return 0;
  PrintError("images", pictures.images().empty()
                           ? "nothing that was asked for lives there; cairn objects --alive lists "
                             "what does"
                           : "none of the textures can be shown");
  return kExitFailed;
}

int Play(const ImagesOptions& options, const Place& place, PlayerOptions player_options,
         TraceReader& trace, std::unique_ptr<TaskProgress> progress) {
  Pictures pictures(options, place);
  bool stopped = false;
  uint64_t frames = 0;
  const uint64_t expected =
      place.frame ? *place.frame + 1 - trace.first_frame().value_or(0) : trace.frame_count();
  player_options.on_texture = [&](const TextureImage& image) { pictures.Add(image); };
  player_options.on_frame = [&](uint64_t) { ++frames; };
  player_options.interrupted = [&] {
    if (!progress->Update(frames, expected)) stopped = true;
    return stopped || !pictures.status().ok();
  };
  const Result<std::unique_ptr<Player>> player = Player::Create(&trace, std::move(player_options));
  if (!player.ok()) {
    progress.reset();
    PrintError("images", player.status().message());
    return kExitFailed;
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
  const int exit_code = PrintPictures(options, place, pictures);
  return exit_code == 0 && (*player)->result().skipped != 0 ? kExitLeftOut : exit_code;
}

int PlayTrace(const ImagesOptions& options, PlayTelling& telling) {
  std::optional<TraceReader> trace = OpenTraceToPlay("images", options.path);
  if (!trace.has_value()) return options.path.empty() ? kExitUsage : kExitFailed;
  Result<Place> place = FindPlace(options, *trace);
  if (!place.ok()) {
    PrintError("images", place.status().message());
    return kExitUsage;
  }
  auto progress = std::make_unique<TaskProgress>("images");
  if (const Status status = ReadObjects(*trace, progress.get(), &*place); !status.ok()) {
    progress.reset();
    PrintError("images", status.message());
    return kExitFailed;
  }
  if (place->call && !place->has_call) {
    progress.reset();
    PrintError("images", fmt::format("--call: there is no call {}; cairn calls lists what there is",
                                     GroupedDigits(*place->call)));
    return kExitUsage;
  }
  Result<PlayerOptions> player = PlayerOptionsOf(options, *place);
  if (!player.ok()) {
    progress.reset();
    PrintError("images", player.status().message());
    return kExitUsage;
  }
  telling.AddTo(&*player);
  if (const Status made = MakeFolder(options.folder); !made.ok()) {
    progress.reset();
    PrintError("images", made.message());
    return kExitFailed;
  }
  return Play(options, *place, std::move(player).value(), *trace, std::move(progress));
}

int Run(ImagesOptions options) {
  if (!options.frame.empty() && !options.call.empty()) {
    PrintError("images", "--frame and --call name two places; give one of them");
    return kExitUsage;
  }
  if (options.folder.empty()) options.folder = ".";
  std::error_code none;
  const bool is_new_folder = !std::filesystem::exists(options.folder, none);
  const int exit_code = PlayInChild(
      "images", options.path, [&](PlayTelling& telling) { return PlayTrace(options, telling); });
  // A folder that got no image.
  if (exit_code != 0 && is_new_folder) std::filesystem::remove(options.folder, none);
  return exit_code;
}

}  // namespace

Verb AddImagesVerb(CLI::App& root) {
  auto options = std::make_shared<ImagesOptions>();
  Command command(root, "images", "Writes render targets and textures of a trace as PNG files.",
                  "cairn images [OPTIONS] FILE", kExamples);
  command.TraceFile(&options->path);
  command.Option("-o,--output", &options->folder, "FOLDER",
                 "The folder for the files; without it the current one");
  command.Option("--frame", &options->frame, "N",
                 "At the end of this frame, as the program counts; without it the last");
  command.Option("--call", &options->call, "CALL", "After all that was submitted up to this call");
  command.Option("--object", &options->objects, "OBJECT",
                 "This texture, by its number or name; may be given several times");
  command.Flag("--all", &options->all,
               "All textures with all mips, not only those that are drawn into");
  command.Flag("--stretch", &options->stretch,
               "The smallest value of an image becomes black, the largest white");
  command.Flag("--json", &options->json, "Print a list of the images as JSON");
  command.PlayTimeout(&options->timeout);
  command.Library(&options->library);
  return {.app = command.app(), .run = [options] { return Run(*options); }};
}

}  // namespace cairn::cli
