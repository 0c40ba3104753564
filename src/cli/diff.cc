// SPDX-License-Identifier: Apache-2.0
//
// cairn diff: what differs between two traces, two playbacks, or two folders of images.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/left_out.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"
#include "cli/verb.h"
#include "d3d12abi/image_formats.h"
#include "reader/replay/image_file.h"
#include "reader/replay/player.h"
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
  std::string frames;
  std::string folder;
  std::string library;
  std::string limit_text = "100";
  uint64_t limit = 0;
  bool images = false;
  bool json = false;
  bool is_new_folder = false;  // it was not there before
  uint64_t first_frame = 0;
  uint64_t frame_end = kNoFrame;
};

bool ParseNumber(std::string_view text, uint64_t* number) {
  std::string digits(text);
  std::erase(digits, ',');  // as reports group them
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, *number);
  return error == std::errc() && rest == end && !digits.empty();
}

bool ParseLimit(DiffOptions* options) {
  if (!ParseNumber(options->limit_text, &options->limit)) {
    PrintError("diff", fmt::format("--limit: '{}' is no number of differences; 0 shows all",
                                   options->limit_text));
    return false;
  }
  if (options->limit == 0) options->limit = ~uint64_t{0};
  return true;
}

bool ParseFrames(DiffOptions* options) {
  const std::string& text = options->frames;
  if (text.empty()) return true;
  const size_t dash = text.find('-');
  const std::string_view first = std::string_view(text).substr(0, dash);
  const std::string_view last =
      dash == std::string::npos ? first : std::string_view(text).substr(dash + 1);
  uint64_t end = ~uint64_t{0} - 1;
  if (ParseNumber(first, &options->first_frame) && (last.empty() || ParseNumber(last, &end)) &&
      options->first_frame <= end && end != ~uint64_t{0}) {
    options->frame_end = end + 1;
    return true;
  }
  PrintError("diff",
             fmt::format("--frames: '{}' is neither a frame (7) nor a range (7-9, 7-)", text));
  return false;
}

std::string Counted(uint64_t count, const char* what) {
  return fmt::format("{} {}{}", GroupedDigits(count), what, count == 1 ? "" : "s");
}

// ---- Images --------------------------------------------------------------------------------------

// One image of each side, or of one side only.
struct ImagePair {
  std::string what;  // "frame 12", "a.png"
  std::string file;  // for the picture of the difference
  bool present[2] = {};
  bool same = false;
  ImageDifference difference;
  std::string problem;
};

std::string ImagesJson(const DiffOptions& options, const std::vector<ImagePair>& pairs,
                       uint64_t compared, uint64_t different) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.StringKey("format", "cairn-diff-images");
  json.NumberKey("version", 1);
  json.StringKey("first", options.paths[0]);
  json.StringKey("second", options.paths[1]);
  json.NumberKey("compared_images", compared);
  json.NumberKey("different_images", different);
  json.BeginArray("images");
  uint64_t shown = 0;
  for (const ImagePair& pair : pairs) {
    if (pair.same || shown == options.limit) continue;
    ++shown;
    json.BeginObject();
    json.StringKey("what", pair.what);
    json.BoolKey("first", pair.present[0]);
    json.BoolKey("second", pair.present[1]);
    json.BoolKey("same_size", pair.difference.same_size);
    json.NumberKey("different_pixels", pair.difference.different_pixels);
    json.NumberKey("largest_difference", pair.difference.largest);
    if (!pair.problem.empty()) json.StringKey("problem", pair.problem);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return text;
}

std::string ImageLine(const DiffOptions& options, const ImagePair& pair) {
  const std::string what = VisibleText(pair.what);
  if (!pair.present[0] || !pair.present[1]) {
    return fmt::format("{}: only in {}\n", what,
                       VisibleText(options.paths[pair.present[0] ? 0 : 1]));
  }
  if (!pair.problem.empty()) return fmt::format("{}: differs; {}\n", what, pair.problem);
  if (!pair.difference.same_size) return fmt::format("{}: not of the same size\n", what);
  return fmt::format("{}: {} different, by {} of 255 at most\n", what,
                     Counted(pair.difference.different_pixels, "pixel"), pair.difference.largest);
}

int PrintImages(const DiffOptions& options, const std::vector<ImagePair>& pairs,
                uint64_t compared) {
  std::string text;
  uint64_t different = 0;
  for (const ImagePair& pair : pairs) {
    if (pair.same) continue;
    ++different;
    if (different <= options.limit) text += ImageLine(options, pair);
    const RgbaImage& picture = pair.difference.picture;
    if (options.folder.empty() || picture.pixels.empty()) continue;
    const Status status = WritePng(options.folder + "/" + pair.file, picture);
    if (!status.ok()) {
      PrintError("diff", status.message());
      return kExitTrouble;
    }
  }
  text += different == 0
              ? fmt::format("{} compared, all the same\n", Counted(compared, "image"))
              : fmt::format("{} compared, {} different\n", Counted(compared, "image"), different);
  if (options.json) text = ImagesJson(options, pairs, compared, different);
  if (!PrintOutput("diff", text)) return kExitTrouble;
  return different == 0 ? 0 : kExitDifferent;
}

Result<std::set<std::string>> PngFiles(const std::string& folder) {
  std::set<std::string> files;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    if (entry->path().extension() == ".png") files.insert(entry->path().filename());
    entry.increment(error);
  }
  if (error) return Status(StatusCode::kIo, folder + " cannot be read: " + error.message());
  return files;
}

int CompareFolders(const DiffOptions& options) {
  std::set<std::string> files[2];
  for (size_t i = 0; i < 2; ++i) {
    Result<std::set<std::string>> found = PngFiles(options.paths[i]);
    if (!found.ok()) {
      PrintError("diff", found.status().message());
      return kExitTrouble;
    }
    files[i] = std::move(found).value();
  }
  std::set<std::string> all = files[0];
  all.insert(files[1].begin(), files[1].end());
  if (all.empty()) {
    PrintError("diff", fmt::format("neither {} nor {} holds a PNG file; cairn replay --images "
                                   "writes some",
                                   options.paths[0], options.paths[1]));
    return kExitTrouble;
  }
  TaskProgress progress("diff");
  std::vector<ImagePair> pairs;
  for (const std::string& file : all) {
    ImagePair pair;
    pair.what = pair.file = file;
    for (size_t i = 0; i < 2; ++i) pair.present[i] = files[i].contains(file);
    if (pair.present[0] && pair.present[1]) {
      const Result<RgbaImage> first = ReadPng(options.paths[0] + "/" + file);
      const Result<RgbaImage> second = ReadPng(options.paths[1] + "/" + file);
      if (!first.ok() || !second.ok()) {
        PrintError("diff", (first.ok() ? second : first).status().message());
        return kExitTrouble;
      }
      pair.difference = CompareImages(*first, *second);
      pair.same = pair.difference.same_size && pair.difference.different_pixels == 0;
    }
    pairs.push_back(std::move(pair));
    if (!progress.Update(pairs.size(), all.size())) {
      PrintError("diff", "stopped");
      return kExitTrouble;
    }
  }
  return PrintImages(options, pairs, all.size());
}

// ---- Playbacks -----------------------------------------------------------------------------------

struct PlayedFrame {
  ImageHash hash;
  std::optional<FrameImage> image;
};
using PlayedFrames = std::map<uint64_t, PlayedFrame>;

// Plays a trace. The pixels of frames in `keep` are kept, of the others the hashes.
Result<PlayedFrames> PlayFrames(const DiffOptions& options, size_t side, TraceReader& trace,
                                const std::set<uint64_t>& keep) {
  TaskProgress progress("diff");
  PlayedFrames frames;
  uint64_t count = 0;
  bool stopped = false;
  PlayerOptions player_options;
  player_options.images = true;
  player_options.first_frame = options.first_frame;
  player_options.frame_end = options.frame_end;
  player_options.library = options.library;
  player_options.on_image = [&](FrameImage image) {
    PlayedFrame& frame = frames[image.frame];
    frame.hash = {image.hash_low, image.hash_high};
    if (keep.contains(image.frame)) frame.image = std::move(image);
  };
  player_options.on_frame = [&](uint64_t) { ++count; };
  player_options.interrupted = [&] {
    return stopped = stopped || !progress.Update(count, trace.frame_count());
  };
  const Result<std::unique_ptr<Player>> player = Player::Create(&trace, std::move(player_options));
  if (!player.ok()) return player.status();
  const Status status = (*player)->Run();
  if ((*player)->abandoned() && (!status.ok() || stopped)) {
    // A GPU that is at work keeps its driver from going: this process ends without tidying up.
    PrintError("diff", status.ok() ? "stopped" : options.paths[side] + ": " + status.message());
    if (options.is_new_folder) RemoveEmptyFolder(options.folder);
    std::fflush(nullptr);
    std::_Exit(kExitTrouble);
  }
  if (!status.ok()) return status.WithContext(options.paths[side]);
  if (keep.empty()) {
    PrintNotes("diff", options.paths[side] + ": ", (*player)->result());
  }
  if (stopped) return Status(StatusCode::kInvalidArgument, "stopped");
  return frames;
}

Result<RgbaImage> Picture(const FrameImage& image) {
  const uint64_t row_bytes = image.height == 0 ? 0 : image.pixels.size() / image.height;
  return ToRgba(static_cast<DXGI_FORMAT>(image.format), image.width, image.height, row_bytes,
                image.pixels);
}

void ComparePixels(const PlayedFrames (&frames)[2], uint64_t frame, ImagePair* pair) {
  const auto& first = frames[0].at(frame).image;
  const auto& second = frames[1].at(frame).image;
  if (!first || !second) {
    pair->problem = "its pixels were not looked at";
    return;
  }
  const Result<RgbaImage> pictures[2] = {Picture(*first), Picture(*second)};
  for (const Result<RgbaImage>& picture : pictures) {
    if (!picture.ok()) pair->problem = picture.status().message();
  }
  if (pair->problem.empty()) pair->difference = CompareImages(*pictures[0], *pictures[1]);
  if (pair->problem.empty() && pair->difference.same_size &&
      pair->difference.different_pixels == 0) {
    pair->problem = "too little to be seen in 8 bits, or in another format";
  }
}

int ComparePlaybacks(DiffOptions options, TraceReader (&traces)[2]) {
  const Result<FrameRange> both =
      ComparableFrames(traces[0], traces[1], {options.first_frame, options.frame_end});
  if (!both.ok()) {
    PrintError("diff", both.status().message());
    return kExitTrouble;
  }
  options.first_frame = both->first;
  options.frame_end = both->end;
  // First all hashes; pixels only of frames that differ, and not of too many at once.
  constexpr size_t kMostPixels = 32;
  PlayedFrames frames[2];
  std::set<uint64_t> different;
  for (const bool again : {false, true}) {
    if (again && different.empty()) break;
    for (size_t i = 0; i < 2; ++i) {
      Result<PlayedFrames> played = PlayFrames(options, i, traces[i], different);
      if (!played.ok()) {
        PrintError("diff", played.status().message());
        return kExitTrouble;
      }
      if (!again) {
        frames[i] = std::move(played).value();
        continue;
      }
      // The verdict is that of the first pass; this one only looks closer.
      for (auto& [frame, closer] : *played) {
        const auto known = frames[i].find(frame);
        if (known != frames[i].end()) known->second.image = std::move(closer.image);
      }
    }
    if (again) break;
    for (const auto& [frame, played] : frames[0]) {
      const auto other = frames[1].find(frame);
      if (other == frames[1].end() || other->second.hash == played.hash) continue;
      if (different.size() < kMostPixels) different.insert(frame);
    }
  }
  std::set<uint64_t> all;
  for (const PlayedFrames& side : frames) {
    for (const auto& [frame, played] : side) all.insert(frame);
  }
  if (all.empty()) {
    PrintError("diff", "neither trace has a frame with an image there; cairn info counts frames");
    return kExitTrouble;
  }
  std::vector<ImagePair> pairs;
  for (const uint64_t frame : all) {
    ImagePair pair;
    pair.what = fmt::format("frame {}", frame);
    pair.file = fmt::format("frame-{:06}.png", frame);
    for (size_t i = 0; i < 2; ++i) pair.present[i] = frames[i].contains(frame);
    if (pair.present[0] && pair.present[1]) {
      pair.same = frames[0].at(frame).hash == frames[1].at(frame).hash;
      if (!pair.same) ComparePixels(frames, frame, &pair);
    }
    pairs.push_back(std::move(pair));
  }
  return PrintImages(options, pairs, all.size());
}

// ---- Calls ---------------------------------------------------------------------------------------

// The differences as they are found: a heading for each frame and thread, a line for each call.
class CallPrinter {
 public:
  explicit CallPrinter(const DiffOptions& options)
      : options_(options), colour_(!options.json && StdoutShowsColour()) {}

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
    std::string text;
    std::optional<uint32_t> threads[2];
    threads[difference.in_second] = difference.thread;
    threads[!difference.in_second] = difference.other_thread;
    const Place place = {difference.frame, threads[0], threads[1]};
    if (count_ == 1 || place != place_) {
      text += fmt::format("frame {}, thread {}", difference.frame,
                          threads[0] ? *threads[0] : *threads[1]);
      if (threads[0] && threads[1] && threads[0] != threads[1]) {
        text += fmt::format(", in the second thread {}", *threads[1]);
      }
      text += "\n";
    }
    place_ = place;
    // Descriptions of pipelines take thousands of characters; JSON has them whole.
    constexpr size_t kMostBytes = 400;
    const std::string_view shown = Utf8Prefix(difference.text, kMostBytes);
    const char* const colour = !colour_ ? "" : difference.in_second ? "\x1b[32m" : "\x1b[31m";
    text +=
        fmt::format("{}{} {:>10}  {}{}{}\n", colour, difference.in_second ? '+' : '-',
                    GroupedDigits(difference.call), VisibleText(shown),
                    shown.size() == difference.text.size() ? "" : " ...", colour_ ? "\x1b[0m" : "");
    written_ = PrintOutput("diff", text);
    return written_;
  }

  bool written() const { return written_; }
  bool cut() const { return cut_; }
  const std::vector<CallDifference>& list() const { return list_; }

 private:
  // The frame, and the thread of each side.
  using Place = std::tuple<uint64_t, std::optional<uint32_t>, std::optional<uint32_t>>;

  const DiffOptions& options_;
  const bool colour_;
  uint64_t count_ = 0;
  bool cut_ = false;
  bool written_ = true;
  Place place_;
  std::vector<CallDifference> list_;  // for JSON
};

std::string Summary(const TraceDiffResult& result, bool cut) {
  std::string text =
      result.differences == 0
          ? fmt::format("{} in {}: no call differs", Counted(result.calls[0], "call"),
                        Counted(result.frames[0], "frame"))
          : fmt::format("{} only in one of {} and {} calls{}", Counted(result.differences, "call"),
                        GroupedDigits(result.calls[0]), GroupedDigits(result.calls[1]),
                        cut ? "; --limit 0 shows all" : "");
  if (result.frames[0] != result.frames[1]) {
    text += fmt::format("; {} and {} frames", GroupedDigits(result.frames[0]),
                        GroupedDigits(result.frames[1]));
  }
  if (!result.different_images.empty()) {
    text += fmt::format("; recorded hashes of images: {} of {} differ, the first that of frame {}",
                        GroupedDigits(result.different_images.size()),
                        GroupedDigits(result.compared_images), result.different_images.front());
  } else if (result.compared_images != 0) {
    text +=
        fmt::format("; recorded hashes of {}: the same", Counted(result.compared_images, "image"));
  }
  return text + "\n";
}

std::string CallsJson(const DiffOptions& options, const TraceDiffResult& result,
                      const CallPrinter& printer) {
  std::string text;
  JsonWriter json(&text);
  const auto numbers = [&json](std::string_view key, std::span<const uint64_t> values) {
    json.BeginArray(key);
    for (const uint64_t value : values) json.Number(value);
    json.EndArray();
  };
  json.BeginObject();
  json.StringKey("format", "cairn-diff-calls");
  json.NumberKey("version", 1);
  json.StringKey("first", options.paths[0]);
  json.StringKey("second", options.paths[1]);
  numbers("frames", result.frames);
  numbers("calls", result.calls);
  json.NumberKey("different_calls", result.differences);
  json.NumberKey("compared_images", result.compared_images);
  numbers("different_images", result.different_images);
  json.BoolKey("complete", !printer.cut());
  json.BeginArray("differences");
  for (const CallDifference& difference : printer.list()) {
    json.BeginObject();
    json.NumberKey("frame", difference.frame);
    json.NumberKey("thread", difference.thread);
    json.StringKey("in", difference.in_second ? "second" : "first");
    json.NumberKey("call", difference.call);
    json.StringKey("text", difference.text);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return text;
}

int CompareCalls(const DiffOptions& options, TraceReader (&traces)[2]) {
  auto progress = std::make_unique<TaskProgress>("diff");
  CallPrinter printer(options);
  TraceDiffOptions diff;
  diff.first_frame = options.first_frame;
  diff.frame_end = options.frame_end;
  diff.print = [&](const CallDifference& difference) { return printer.Add(difference); };
  diff.progress = [&](uint64_t done, uint64_t total) { return progress->Update(done, total); };
  const Result<TraceDiffResult> result = CompareTraces(traces[0], traces[1], diff);
  progress.reset();
  if (!result.ok()) {
    PrintError("diff", result.status().message());
    return kExitTrouble;
  }
  if (result->stopped) {
    PrintError("diff", "stopped");
    return kExitTrouble;
  }
  if (result->undecoded != 0) {
    PrintWarning("diff",
                 fmt::format("{} could not be read, or say more than a file of its size may, "
                             "and were compared by their functions only; cairn verify lists "
                             "those that are damaged",
                             Counted(result->undecoded, "call")));
  }
  const std::string text =
      options.json ? CallsJson(options, *result, printer) : Summary(*result, printer.cut());
  if (!printer.written() || !PrintOutput("diff", text)) return kExitTrouble;
  return result->differences == 0 && result->different_images.empty() ? 0 : kExitDifferent;
}

// Into the folder for pictures, if one is asked for. If nothing could be compared, it goes again.
template <typename Compare>
int CompareInto(DiffOptions options, const Compare& compare) {
  if (!options.folder.empty()) {
    std::error_code error;
    options.is_new_folder = !std::filesystem::exists(options.folder, error);
    if (const Status made = MakeFolder(options.folder); !made.ok()) {
      PrintError("diff", made.message());
      return kExitTrouble;
    }
  }
  const int exit_code = compare(options);
  if (exit_code == kExitTrouble && options.is_new_folder) RemoveEmptyFolder(options.folder);
  return exit_code;
}

int Run(DiffOptions options) {
  if (!ParseFrames(&options) || !ParseLimit(&options)) return kExitTrouble;
  if (options.paths[0].empty() || options.paths[1].empty()) {
    PrintError("diff", "two files or two folders are needed; say cairn diff FIRST SECOND");
    return kExitTrouble;
  }
  std::error_code error;
  const bool folders[2] = {std::filesystem::is_directory(options.paths[0], error),
                           std::filesystem::is_directory(options.paths[1], error)};
  if (folders[0] && folders[1]) {
    if (options.frames.empty()) return CompareInto(options, CompareFolders);
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
  const auto open = [&options](const std::string& path) {
    return options.images ? OpenTraceToPlay("diff", path)
                          : OpenTraceFile("diff", path, Check::kPayloads);
  };
  std::optional<TraceReader> first = open(options.paths[0]);
  if (!first.has_value()) return kExitTrouble;
  std::optional<TraceReader> second = open(options.paths[1]);
  if (!second.has_value()) return kExitTrouble;
  TraceReader traces[2] = {std::move(*first), std::move(*second)};
  if (!options.images) return CompareCalls(options, traces);
  return CompareInto(options,
                     [&traces](const DiffOptions& into) { return ComparePlaybacks(into, traces); });
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
  command.Option("--frames", &options->frames, "A[-B]",
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
