// SPDX-License-Identifier: Apache-2.0
//
// cairn trim: a range of a trace's frames that plays on its own. The trace is played under a capture that
// starts late, so that the GPU itself says what was in memory at that moment; then what nothing refers
// to is left out.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/layer.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/trace_file.h"
#include "cli/verb.h"
#include "format/file/file_writer.h"
#include "format/model/unneeded_contents.h"
#include "format/model/unused_objects.h"
#include "format/settings/layer_settings.h"
#include "format/trace/trace_filter.h"
#include "format/trace/trace_reader.h"
#include "os/child.h"
#include "os/file.h"
#include "os/this_process.h"
#include "watcher/output_path.h"
#include "watcher/watch_loop.h"

namespace cairn::cli {
namespace {

constexpr char kTrimExamples[] =
    "Examples:\n"
    "  cairn trim --frames 100-199 game.cairn         writes game-100-199.cairn\n"
    "  cairn trim --frames 7-7 -o one.cairn game.cairn\n"
    "\n"
    "Exit code: 0 when the file is written; 1 if not; 2 if the command line is wrong; 3 if it is\n"
    "written, without the calls that the playback skipped; 4 if the GPU hung, the device was lost, "
    "or "
    "the\n"
    "playback died.";

struct TrimOptions {
  std::string path;
  std::string frames;
  std::string output_path;
  std::string library;
  std::string adapter;
  bool hash_frames = false;
  bool keep_all = false;
  bool quiet = false;
};

// The facts that the copy takes from the original trace.
struct Original {
  TraceFacts facts;
  TraceRedaction redaction;
  uint64_t first_frame = 0;  // as its program counts
  uint64_t frame_count = 0;
  bool hashed = false;
};

// Looks at the first frame of `trace`.
Original OriginalOf(TraceReader* trace) {
  Original original;
  original.facts = trace->facts();
  original.redaction = trace->table().redaction;
  original.frame_count = trace->frame_count();
  TraceCursor cursor(*trace);
  cairn::Record record;
  while (cursor.Next(&record)) {
    if (record.kind != RecordKind::kFrame) continue;
    FrameBody body;
    std::memcpy(&body, record.body.data(), sizeof(body));
    original.first_frame = body.frame;
    original.hashed = body.hashed != 0;
    break;
  }
  return original;
}

// The playback counts its frames from 0; the copy counts as the program did.
class Renumber final : public RecordFilter {
 public:
  explicit Renumber(uint64_t first_frame) : first_frame_(first_frame) {}

  bool Keep(cairn::Record* record, uint64_t) override {
    FrameBody body;
    if (record->kind != RecordKind::kFrame || record->body.size() < sizeof(body)) return true;
    body_.assign(record->body.begin(), record->body.end());
    std::memcpy(&body, body_.data(), sizeof(body));
    body.frame += first_frame_;
    std::memcpy(body_.data(), &body, sizeof(body));
    record->body = body_;
    return true;
  }

 private:
  const uint64_t first_frame_;
  std::vector<std::byte> body_;
};

// "out/game.cairn" -> "out/game-100-199.cairn".
std::string DefaultTrimPath(const std::string& path, const FrameRange& range) {
  constexpr std::string_view kEnding = ".cairn";
  const std::string stem =
      path.ends_with(kEnding) ? path.substr(0, path.size() - kEnding.size()) : path;
  return fmt::format("{}-{}-{}.cairn", stem, range.first, range.end - 1);
}

// A recording that goes away with its owner, with its .part, and with those of further processes of the
// playback (NAME-PID).
class TemporaryRecording {
 public:
  // `output` is beside it; no other file's name begins like its own.
  explicit TemporaryRecording(const std::string& output)
      : stem_(fmt::format("{}.{}", output, OwnProcessId())), path_(stem_ + ".recorded") {}
  ~TemporaryRecording() {
    namespace fs = std::filesystem;
    const FilePath stem(stem_);
    const fs::path folder = stem.has_parent_path() ? stem.parent_path() : ".";
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const std::string name = TextOfPath(entry->path().filename());
      if (!name.starts_with(TextOfPath(stem.filename()))) continue;
      if (!name.ends_with(".recorded") && !name.ends_with(".recorded.part")) continue;
      (void)RemoveFile(entry->path());
    }
  }
  TemporaryRecording(const TemporaryRecording&) = delete;
  TemporaryRecording& operator=(const TemporaryRecording&) = delete;
  const std::string& path() const { return path_; }

 private:
  const std::string stem_;
  const std::string path_;
};

// Plays the frames up to the last one under a capture of the range. Returns the exit code of the playback, which has
// said itself why it ended: 0 or kExitLeftOut if the range is recorded. Errors: no recording, for another reason.
Result<int> Record(const TrimOptions& options, const Original& original, const FrameRange& range,
                   const std::string& path) {
  std::string said;
  Status lost;
  const Result<std::string> preload = PreloadedLayer();
  if (!preload.ok()) return preload.status();
  if (preload->empty()) {
    return Status(StatusCode::kUnsupported, "this build has no layer that can be preloaded");
  }
  WatchSettings settings;
  settings.policy.hang_timeout_ns = 0;  // the playback watches itself
  settings.output_path = path;
  settings.capture = true;
  settings.preloaded = *preload;
  LayerSettings told;
  told.breadcrumbs = MarkerMode::kOff;
  told.capture = CaptureSettings{.on = true,
                                 .start_frame = range.first - original.first_frame,
                                 .stop_frame = range.end - original.first_frame,
                                 .hash_frames = options.hash_frames || original.hashed};
  settings.environment = FormatLayerSettings(told);
  settings.say = [&said](const std::string& line) { said = line; };
  settings.warn = settings.say;
  settings.capture_lost = [&lost](const Status& why) { lost = why; };
  // The range ends with the end of its last frame; the capture notes that itself.
  std::vector<std::string> arguments = {OwnProgramPath(), "replay", "--mark-frames", "--frames",
                                        fmt::format("{}-{}", original.first_frame, range.end - 1)};
  if (options.quiet) arguments.push_back("--quiet");
  if (!options.library.empty()) {
    arguments.push_back("--library");
    arguments.push_back(options.library);
  }
  if (!options.adapter.empty()) arguments.insert(arguments.end(), {"--adapter", options.adapter});
  arguments.push_back(options.path);
  const Result<int> code = RunWatched(settings, arguments);
  if (!code.ok() || *code == kExitFailed || *code == kExitUsage || *code == kExitPlaybackFailed) {
    return code;
  }
  // It came before the playback listened.
  if (WasAskedToEnd({EndKind::kSignalled, *code - 128})) {
    return Status(StatusCode::kInterrupted, "interrupted; nothing is written");
  }
  if (!lost.ok()) return lost.WithContext("cannot record the frames");
  if (*code != 0 && *code != kExitLeftOut) {
    return Status(StatusCode::kInternal,
                  fmt::format("the playback did not come to frame {}: it ended with {}",
                              range.end - 1, *code));
  }
  // The watcher's last line matters only if there is no file.
  if (FactsAt(path).type != std::filesystem::file_type::regular) {
    return Status(StatusCode::kIo, said);
  }
  return code;
}

Result<CopiedTrace> CopyUsed(const TrimOptions& options, const Original& original,
                             const std::string& from, const std::string& to) {
  Result<TraceReader> trace = TraceReader::Open(from);
  if (!trace.ok()) return trace.status();
  if (trace->frame_count() == 0) {
    return Status(StatusCode::kNotFound, "the playback ended before the first of the frames");
  }
  Result<UnusedObjects> unused = UnusedObjects::Find(&*trace);
  if (!unused.ok()) return unused.status();
  Result<UnneededContents> unneeded = UnneededContents::Find(&*trace);
  if (!unneeded.ok()) return unneeded.status();
  Result<FileWriter> file = FileWriter::Create(to);
  if (!file.ok()) return file.status();
  TaskProgress progress("trim");
  CopyOptions copy;
  // Take these facts from the recorded program. Times are those of the playback's frames.
  copy.facts = trace->facts();
  copy.facts->program = original.facts.program;
  copy.facts->command_line = original.facts.command_line;
  copy.facts->process_id = original.facts.process_id;
  copy.redaction = original.redaction;
  copy.progress = [&progress](uint64_t done, uint64_t total) {
    return progress.Update(done, total);
  };
  Renumber renumber(original.first_frame);
  RecordFilters filters({&renumber});
  if (!options.keep_all) filters = RecordFilters({&*unused, &*unneeded, &renumber});
  Result<CopiedTrace> copied = CopyTrace(&*trace, &filters, copy, &*file);
  if (!copied.ok()) return copied.status();
  if (copied->interrupted)
    return Status(StatusCode::kInterrupted, "interrupted; nothing is written");
  CAIRN_RETURN_IF_ERROR(file->Finish());
  return copied;
}

int Run(const TrimOptions& options) {
  Result<FrameRange> range = ParseFramesOf("--frames", options.frames);
  if (options.frames.empty() || !range.ok()) {
    PrintError("trim",
               range.ok() ? "no frames are given; say --frames A-B" : range.status().message());
    return kExitUsage;
  }
  Original original;
  {
    std::optional<TraceReader> trace = OpenTraceToPlay("trim", options.path);
    if (!trace.has_value()) return options.path.empty() ? kExitUsage : kExitFailed;
    original = OriginalOf(&*trace);
  }
  const uint64_t frame_end = original.first_frame + original.frame_count;
  if (range->end == kNoFrame) range->end = std::max(frame_end, range->first + 1);
  if (range->first < original.first_frame || range->end > frame_end) {
    const uint64_t missing = range->first < original.first_frame ? range->first : range->end - 1;
    PrintError(
        "trim",
        original.first_frame == 0 || original.frame_count == 0
            ? fmt::format("{} has {} frames, counted from 0: there is no frame {}", options.path,
                          original.frame_count, missing)
            : fmt::format("{} holds only frames {} to {} of its program: there is no frame {}",
                          options.path, original.first_frame, frame_end - 1, missing));
    return kExitFailed;
  }
  const std::string output =
      options.output_path.empty() ? DefaultTrimPath(options.path, *range) : options.output_path;
  if (IsSameFile(output, options.path)) {
    PrintError("trim", fmt::format("{} is the trace itself, which its frames would replace; give "
                                   "another file with -o",
                                   output));
    return kExitUsage;
  }
  if (const Status writable = CheckOutputPath(output); !writable.ok()) {
    PrintError("trim", writable.message());
    return kExitFailed;
  }
  const TemporaryRecording recorded(output);
  if (!CheckOutputPath(recorded.path()).ok()) {
    PrintError("trim", fmt::format("the name of '{}' is too long: the file that is written first "
                                   "has a longer one; give a shorter name with -o FILE",
                                   output));
    return kExitFailed;
  }
  const Result<int> played = Record(options, original, *range, recorded.path());
  if (!played.ok()) {
    PrintError("trim", played.status().message());
    return kExitFailed;
  }
  if (*played != 0 && *played != kExitLeftOut) return *played;
  const Result<CopiedTrace> copied = CopyUsed(options, original, recorded.path(), output);
  if (!copied.ok()) {
    (void)RemoveFile(output + ".part");
    PrintError("trim", copied.status().message());
    return kExitFailed;
  }
  if (options.quiet) return *played;
  const std::string line =
      fmt::format("{}: frames {} to {}, play them with cairn replay {}\n", VisibleText(output),
                  range->first, range->end - 1, ShellQuoted(output));
  return PrintOutput("trim", line) ? *played : kExitFailed;
}

}  // namespace

Verb AddTrimVerb(CLI::App& root) {
  auto options = std::make_shared<TrimOptions>();
  Command command(root, "trim",
                  "Writes some frames of a trace into a file of their own, which can be replayed.",
                  "cairn trim --frames A-B [OPTIONS] FILE", kTrimExamples);
  command.TraceFile(&options->path);
  command.Frames(&options->frames, "The frames to keep");
  command.Option("-o,--output", &options->output_path, "FILE",
                 "File to write; NAME-A-B.cairn beside the trace if not given");
  command.Flag("--hash-frames", &options->hash_frames,
               "Hash each frame's image, for cairn replay --validate, also if FILE has no hashes");
  command.Flag("--keep-all", &options->keep_all, "Also keep objects that nothing refers to");
  command.Library(&options->library);
  command.Adapter(&options->adapter);
  command.Flag("--quiet", &options->quiet, "Print errors only");
  return {command.app(), [options] { return Run(*options); }};
}

}  // namespace cairn::cli
