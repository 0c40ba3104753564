// SPDX-License-Identifier: Apache-2.0
//
// cairn replay: plays a trace on this machine's Direct3D 12.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/command.h"
#include "cli/device_check.h"
#include "cli/left_out.h"
#include "cli/numbers.h"
#include "cli/play_process.h"
#include "cli/progress.h"
#include "cli/replay_json.h"
#include "cli/trace_file.h"
#include "cli/verb.h"
#include "d3d12abi/image_formats.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/picture_window.h"
#include "reader/replay/image_file.h"
#include "reader/replay/play_cost.h"
#include "reader/replay/player.h"

namespace cairn::cli {
namespace {

constexpr char kReplayExamples[] =
    "Examples:\n"
    "  cairn replay game.cairn                        play it as fast as this machine can\n"
    "  cairn replay --validate game.cairn             compare what the program read back, and "
    "images\n"
    "                                                 (cairn run --capture --hash-frames)\n"
    "  cairn replay --frames 10-12 --images out game.cairn\n"
    "                                                 images of three frames as PNG files\n"
    "  cairn replay --hash game.cairn                 a line with the hash of each frame's image\n"
    "  cairn replay --loop 0 --pace original --window game.cairn\n"
    "                                                 shown in a window, again and again, as fast "
    "as\n"
    "                                                 it was, until that is closed\n"
    "  cairn replay --check game.cairn                what this machine's GPU lacks, before it is "
    "played\n"
    "\n"
    "Calls that cannot be made here are skipped, with a warning for each kind and its count.\n"
    "\n"
    "Exit code: 0 if all was played; 1 if not, or if --validate found a difference; 2 if the "
    "command\n"
    "line is wrong; 3 if it was played to its end, but some calls were skipped, or --check says "
    "so; 4 if the GPU "
    "hung,\n"
    "the device was lost, or the playback died; a line names the call.";

// For ^C, where that does not end a wait for the window.
constexpr uint32_t kBetweenLooksMs = 100;

// The values of --validate.
constexpr char kRead[] = "read";
constexpr char kAll[] = "all";

struct ReplayOptions {
  std::string path;
  std::string frames;
  std::string images;
  std::string library;
  std::string adapter;
  std::string pace = "fast";
  std::string timeout;
  std::string loop = "1";
  uint64_t plays = 1;  // `loop`, read
  std::string pad_bytes = "0";
  bool window = false;
  std::string validate;  // "", kRead or kAll
  bool hash = false;
  bool quiet = false;
  bool mark_frames = false;
  bool in_process = false;
  bool no_limit = false;
  bool check = false;
  bool json = false;
};

// True also of a trace that was recorded with these options: some programs draw and write nothing.
constexpr char kNothing[] =
    "nothing was compared: the trace has nothing that the program read back, and no hashes; record "
    "it with cairn run --capture --hash-frames, and --hash-resources for --validate=all";

// Returns the verb that the user gave, for messages.
const char* VerbOf(const ReplayOptions& options) {
  return options.mark_frames ? "trim" : "replay";
}

// Parses the numbers and words of the command line.
Status ParseOptions(ReplayOptions* options, PlayerOptions* player) {
  const Result<FrameRange> frames = ParseFramesOf("--frames", options->frames);
  if (!frames.ok()) return frames.status();
  player->first_frame = frames->first;
  player->frame_end = frames->end;
  CAIRN_RETURN_IF_ERROR(ParsePlayTimeout(options->timeout, player));
  const std::optional<uint64_t> plays = ParseDigits(options->loop);
  if (!plays.has_value()) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("--loop: '{}' is not a count; give 1 or more, or 0 to play until ^C",
                              options->loop));
  }
  options->plays = *plays;
  const std::optional<uint64_t> pad_bytes = ParseDigits(options->pad_bytes);
  if (!pad_bytes.has_value()) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("--pad: '{}' is not a number of bytes; give one such as 4096",
                              options->pad_bytes));
  }
  player->pad_resources_bytes = *pad_bytes;
  return Status();
}

// Returns a message that names a wanted frame outside of the `count` frames from `first` on; "" if
// there is none, or if all frames are wanted.
std::string MissingFrame(const ReplayOptions& options, const PlayerOptions& player, uint64_t first,
                         uint64_t count) {
  // Trim has looked before.
  if (options.frames.empty() || options.mark_frames) return "";
  const uint64_t end = first + count;
  const bool is_open = player.frame_end == kNoFrame;
  const bool has_first = player.first_frame >= first && player.first_frame < end;
  if (has_first && (is_open || player.frame_end <= end)) return "";
  const uint64_t missing = has_first ? player.frame_end - 1 : player.first_frame;
  if (first == 0 || count == 0) {
    return fmt::format("{} has {} frame{}, counted from 0: there is no frame {}", options.path,
                       count, count == 1 ? "" : "s", missing);
  }
  return fmt::format("{} holds only frames {} to {} of its program: there is no frame {}",
                     options.path, first, end - 1, missing);
}

// One playback; the player calls its functions.
class Playback {
 public:
  // `window` may be null.
  Playback(const ReplayOptions& options, uint64_t frame_count, TaskProgress* progress,
           PictureWindow* window)
      : options_(options), frame_count_(frame_count), progress_(progress), window_(window) {}

  void AddTo(PlayerOptions* player) {
    player->images = !options_.images.empty() || options_.hash || window_ != nullptr;
    player->on_image = [this](FrameImage image) { Keep(image); };
    player->on_frame = [this](uint64_t) { ++frames_; };
    player->interrupted = [this] {
      if (!progress_->Update(frames_, frame_count_)) stopped_ = true;
      return stopped_ || !status_.ok();
    };
  }
  // The first error with images.
  const Status& status() const { return status_; }
  bool stopped() const { return stopped_; }
  uint64_t images() const { return images_; }

 private:
  void Keep(const FrameImage& image) {
    if (!status_.ok()) return;
    ++images_;
    if (options_.hash) {
      const std::string line = fmt::format("frame {}  {}  {} x {}  {}\n", image.frame,
                                           HashText({image.hash_low, image.hash_high}), image.width,
                                           image.height, FormatName(image.format));
      if (!PrintOutput("replay", line)) status_ = Status(StatusCode::kIo, "");
    }
    if ((options_.images.empty() && window_ == nullptr) || !status_.ok()) return;
    const uint64_t row_bytes = image.height == 0 ? 0 : image.pixels.size() / image.height;
    const auto format = static_cast<DXGI_FORMAT>(image.format);
    const Result<RgbaImage> picture =
        ToRgba(format, image.width, image.height, row_bytes, image.pixels);
    if (!picture.ok()) {
      status_ = picture.status().WithContext(fmt::format("image of frame {}", image.frame));
      return;
    }
    if (!options_.images.empty()) {
      status_ = WritePng(fmt::format("{}/frame-{:06}.png", options_.images, image.frame), *picture);
    }
    if (window_ != nullptr && status_.ok()) Show(image.frame, *picture);
  }
  void Show(uint64_t frame, const RgbaImage& picture) {
    // Looked at before, not after: who closes it at the last image has seen all there is, and nothing was stopped.
    if (window_->WaitUntilClosed(0)) {
      stopped_ = true;
      return;
    }
    const std::string file = TextOfPath(FilePath(options_.path).filename());
    status_ = window_->Show(fmt::format("{}: frame {}", file, frame), picture.width, picture.height,
                            picture.pixels);
  }

  const ReplayOptions& options_;
  const uint64_t frame_count_;
  TaskProgress* const progress_;
  PictureWindow* const window_;
  uint64_t frames_ = 0;
  uint64_t images_ = 0;
  bool stopped_ = false;
  Status status_;
};

std::string Summary(const ReplayOptions& options, const PlayerResult& result,
                    uint64_t duration_ns) {
  std::string text = fmt::format("{}: {} and {} played in {:.2f} s", VisibleText(options.path),
                                 Counted(result.frames, "frame"), Counted(result.calls, "call"),
                                 static_cast<double>(duration_ns) / 1e9);
  if (options.validate == kRead) {
    text += fmt::format("; {} and {} match the recording",
                        Counted(result.compared_readbacks, "readback"),
                        Counted(result.compared_frames, "image"));
  } else if (options.validate == kAll) {
    text += fmt::format(
        "; {}, {}, {} and {} match the recording", Counted(result.compared_readbacks, "readback"),
        Counted(result.compared_frames, "image"), Counted(result.compared_resources, "subresource"),
        Counted(result.compared_results, "result"));
  }
  if (result.skipped != 0) text += fmt::format("; {} skipped", Counted(result.skipped, "call"));
  return text + "\n";
}

int PrintEnd(const ReplayOptions& options, const Player& player, const Status& status) {
  const PlayerFailure failure = player.failure();
  const char* const what = failure == PlayerFailure::kMismatch ? "first difference: " : "";
  PrintError(VerbOf(options), fmt::format("{}: {}{}", options.path, what, status.message()));
  const bool repeats = failure == PlayerFailure::kHang || failure == PlayerFailure::kLost;
  return repeats ? kExitPlaybackFailed : kExitFailed;
}

// Plays once; the `first` playback prints the notes that all share. An exit code ends the loop.
// Adds to `left_out`.
std::optional<int> PlayOnce(const ReplayOptions& options, const PlayerOptions& all,
                            TraceReader* trace, bool first, TaskProgress* progress,
                            PictureWindow* window, uint64_t* left_out) {
  const bool notes = first && !options.quiet;
  progress->Restart();
  Playback playback(options, trace->frame_count(), progress, window);
  PlayerOptions player_options = all;
  playback.AddTo(&player_options);
  Result<std::unique_ptr<Player>> player = Player::Create(trace, std::move(player_options));
  if (!player.ok()) {
    PrintError(VerbOf(options), player.status().message());
    return player.status().code() == StatusCode::kInvalidArgument ? kExitUsage : kExitFailed;
  }
  const uint64_t start_ns = MonotonicNs();
  const Status status = (*player)->Run();
  const uint64_t duration_ns = MonotonicNs() - start_ns;
  progress->Restart();
  const PlayerResult& result = (*player)->result();
  *left_out += result.skipped;
  if (notes) PrintNotes(VerbOf(options), "", result);
  if (options.check) {
    if (status.ok() && !playback.stopped()) return PrintCheck(options.path, result, options.json);
    if (status.ok()) PrintError("replay", "interrupted");
    return status.ok() ? kExitFailed : PrintEnd(options, **player, status);
  }
  if (!playback.status().ok()) {
    if (!playback.status().message().empty())
      PrintError(VerbOf(options), playback.status().message());
    return kExitFailed;
  }
  if (!status.ok()) return PrintEnd(options, **player, status);
  if (playback.stopped()) {
    if (options.mark_frames) {
      PrintError("trim", "interrupted; nothing is written");
      return kExitFailed;
    }
    PrintWarning(VerbOf(options), fmt::format("stopped after {}", Counted(result.frames, "frame")));
    return options.plays == 0 ? 0 : kExitFailed;
  }
  // Damage hid the number of frames until now.
  const std::string missing =
      MissingFrame(options, all, trace->first_frame().value_or(0), result.frames);
  if (!missing.empty()) {
    PrintError(VerbOf(options), missing);
    return kExitFailed;
  }
  if ((options.json || (!options.quiet && !options.mark_frames)) &&
      !PrintOutput("replay", options.json ? ReplayJson(options.path, result)
                                          : Summary(options, result, duration_ns))) {
    return kExitFailed;
  }
  if (result.not_compared != 0) {
    PrintError(VerbOf(options), fmt::format("{} of what was recorded could not be compared here",
                                            GroupedDigits(result.not_compared)));
    return kExitFailed;
  }
  const uint64_t compared =
      result.compared_readbacks + result.compared_frames + result.compared_resources;
  if (notes && !options.validate.empty() && compared == 0) PrintWarning(VerbOf(options), kNothing);
  if ((!options.images.empty() || options.window) && playback.images() == 0) {
    PrintError(VerbOf(options),
               fmt::format("none of these frames of {} has an image; cairn info counts them",
                           options.path));
    return kExitFailed;
  }
  return std::nullopt;
}

// `child`: this process's status; null in a process that is no child.
int Play(const ReplayOptions& options, PlayerOptions player, PlayStatus* child) {
  if (child != nullptr) child->AddTo(&player);
  player.original_pace = options.pace == "original";
  player.validate = !options.validate.empty();
  player.validate_resources = options.validate == kAll;
  // Unwritten memory then holds zeros, as Direct3D 12 promises, not earlier data.
  if (player.validate) player.new_memory = NewMemory::kZeros;
  player.library = options.library;
  player.adapter = options.adapter;
  player.check_only = options.check;
  player.mark_frames = options.mark_frames;
  // Trim has looked at the file before.
  std::optional<TraceReader> trace = options.mark_frames || options.quiet
                                         ? OpenTraceFileQuietly(VerbOf(options), options.path)
                                         : OpenTraceToPlay("replay", options.path);
  if (!trace.has_value()) return options.path.empty() ? kExitUsage : kExitFailed;
  if (RefuseWithoutShaders(VerbOf(options), options.path, *trace)) return kExitFailed;
  if (!options.no_limit && !options.mark_frames) {
    player.most_cost_ns = PlayCost::MostNs(trace->file().size_bytes());
  }
  // The number of frames of a damaged trace is known only after the playback.
  if (trace->losses().empty()) {
    const std::string missing =
        MissingFrame(options, player, trace->first_frame().value_or(0), trace->frame_count());
    if (!missing.empty()) {
      PrintError("replay", missing);
      return kExitFailed;
    }
  }
  if (!options.images.empty()) {
    if (const Status made = MakeFolder(options.images); !made.ok()) {
      PrintError(VerbOf(options), made.message());
      return kExitFailed;
    }
  }
  std::unique_ptr<PictureWindow> window;
  if (options.window) {
    Result<std::unique_ptr<PictureWindow>> opened = PictureWindow::Open();
    if (!opened.ok()) {
      PrintError("replay", opened.status().message());
      return kExitFailed;
    }
    window = std::move(*opened);
  }
  // One for all playbacks: ^C between two of them stops the next one.
  TaskProgress progress(VerbOf(options));
  uint64_t left_out = 0;
  for (uint64_t i = 0; options.plays == 0 || i < options.plays; ++i) {
    if (const std::optional<int> code =
            PlayOnce(options, player, &*trace, i == 0, &progress, window.get(), &left_out)) {
      return *code;
    }
  }
  // The last image stays until the user has seen enough of it.
  while (window != nullptr && progress.Update(0, 0) && !window->WaitUntilClosed(kBetweenLooksMs)) {
  }
  return left_out == 0 ? 0 : kExitLeftOut;
}

// Returns the first option that was given and has no meaning where nothing is played; null: there is none.
const char* OptionOfPlaybacks(const ReplayOptions& options) {
  const ReplayOptions none;
  if (!options.images.empty()) return "--images";
  if (options.window) return "--window";
  if (options.loop != none.loop) return "--loop";
  if (options.hash) return "--hash";
  if (!options.validate.empty()) return "--validate";
  if (!options.frames.empty()) return "--frames";
  if (options.pad_bytes != none.pad_bytes) return "--pad";
  return nullptr;
}

int Run(ReplayOptions options) {
  PlayerOptions player;
  if (const Status status = ParseOptions(&options, &player); !status.ok()) {
    PrintError(VerbOf(options), status.message());
    return kExitUsage;
  }
  if (options.json && (options.hash || options.loop != ReplayOptions().loop)) {
    PrintError("replay", "--json prints one document: not with --hash or --loop");
    return kExitUsage;
  }
  if (const char* const other = options.check ? OptionOfPlaybacks(options) : nullptr) {
    PrintError("replay", fmt::format("{} is for playbacks: --check plays nothing", other));
    return kExitUsage;
  }
  const bool is_new_folder = !options.images.empty() &&
                             FactsAt(options.images).type == std::filesystem::file_type::not_found;
  const int exit_code =
      options.in_process
          ? Play(options, player, nullptr)
          : PlayInChild({.verb = VerbOf(options),
                         .paths = {options.path},
                         .new_folder = is_new_folder ? options.images : ""},
                        [&](PlayStatus& child) { return Play(options, player, &child); });
  // A folder that got no image.
  if (is_new_folder && exit_code != 0) RemoveEmptyFolder(options.images);
  if (!options.in_process) return exit_code;
  // A GPU that is still at work keeps its driver from going: this process ends without tidying up.
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

}  // namespace

Verb AddReplayVerb(CLI::App& root) {
  auto options = std::make_shared<ReplayOptions>();
  Command command(root, "replay", "Plays a trace on this machine's Direct3D 12.",
                  "cairn replay [OPTIONS] FILE", kReplayExamples);
  command.TraceFile(&options->path);
  command.Frames(&options->frames,
                 "Images and comparisons of these frames only; the playback ends after the last");
  command
      .FlagWithWord(
          "--validate", &options->validate, kRead,
          "Compare what the program read back and the hashes of frames with what was "
          "recorded; --validate=all: also what resources held when they were destroyed; end at the "
          "first difference")
      .OneOf({kRead, kAll});
  command.Option("--images", &options->images, "FOLDER",
                 "Write the frames' images into this folder: frame-000000.png, ...");
  command.Flag("--window", &options->window,
               "Show the frames' images in a window; the last one stays until it is closed");
  command.Flag("--hash", &options->hash, "Print the hash of every frame's image");
  command.Option("--loop", &options->loop, "COUNT", "Play it this many times; 0: until ^C")
      .WithDefault();
  command
      .Option("--pace", &options->pace, "PACE",
              "fast, or original: at the speed at which the program ran")
      .OneOf({"fast", "original"})
      .WithDefault();
  command.PlayTimeout(&options->timeout);
  command.NoPlayLimit(&options->no_limit);
  command.Library(&options->library);
  command.Adapter(&options->adapter);
  command.Option("--pad", &options->pad_bytes, "BYTES", "Make each buffer this many bytes larger");
  command.Flag("--check", &options->check,
               "Play nothing: print how this machine's devices differ from the recording's");
  command.Json(&options->json);
  command.Flag("--in-process", &options->in_process,
               "Play in this process, for a debugger: what kills the playback ends cairn, too");
  // For cairn trim, which captures the playback.
  command.Flag("--mark-frames", &options->mark_frames).Hidden();
  command.Flag("--quiet", &options->quiet,
               "Print only errors, the hashes of --hash, and the document of --json");
  return {command.app(), [options] { return Run(*options); }};
}

}  // namespace cairn::cli
