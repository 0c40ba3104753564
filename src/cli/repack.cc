// SPDX-License-Identifier: Apache-2.0
//
// cairn repack: the same trace in a smaller file, or one that can be sent.
#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/reading_limits.h"
#include "cli/trace_file.h"
#include "cli/verb.h"
#include "format/file/file_reader.h"
#include "format/trace/trace_filter.h"
#include "os/file.h"
#include "reader/redact/trace_redaction.h"
#include "watcher/output_path.h"

namespace cairn::cli {
namespace {

// The values of --redact.
constexpr char kRedactNames[] = "names";
constexpr char kRedactShaders[] = "shaders";
constexpr char kRedactContents[] = "contents";
constexpr char kRedactAll[] = "all";

constexpr char kRepackExamples[] =
    "Examples:\n"
    "  cairn repack game.cairn                  replaces the file by a smaller one\n"
    "  cairn repack -o small.cairn game.cairn   writes another file\n"
    "  cairn repack --redact -o sent.cairn game.cairn\n"
    "                                           names, paths and the command line become hashes\n"
    "  cairn repack --redact=all -o bare.cairn game.cairn\n"
    "                                           shaders and contents, too: it cannot be played\n"
    "\n"
    "Without --redact nothing is lost; it takes about a second for each 20 MiB that cairn info "
    "calls\n"
    "raw.";

// Larger chunks compress better; seeking still decodes one of them only.
constexpr size_t kRepackChunkBytes = 4u << 20;

struct RepackOptions {
  std::string path;
  std::string output;
  std::string redact;  // "": no
  bool force = false;
};

// The copies that the two kinds of repacking make.
using Copied = Result<RedactedTrace>;
using MakeCopy = std::function<Copied(TraceReader*, TaskProgress*, FileWriter*)>;

Copied CopyAll(TraceReader* trace, TaskProgress* progress, FileWriter* file) {
  CopyOptions options;
  options.trimmed = false;
  options.other_chunks = true;
  options.chunk_bytes = kRepackChunkBytes;
  options.progress = [progress](uint64_t done, uint64_t total) {
    return progress->Update(done, total);
  };
  Result<CopiedTrace> copied = CopyTrace(trace, nullptr, options, file);
  if (!copied.ok()) return copied.status();
  if (!copied->interrupted && copied->totals.records != trace->record_count()) {
    return Status(StatusCode::kInternal,
                  fmt::format("{} of {} records were copied; this is a defect of cairn",
                              copied->totals.records, trace->record_count()));
  }
  return RedactedTrace{.copied = std::move(*copied)};
}

MakeCopy CopyRedacted(const std::string& what) {
  return [what](TraceReader* trace, TaskProgress* progress, FileWriter* file) {
    RedactionOptions options;
    options.shaders = what == kRedactShaders || what == kRedactAll;
    options.contents = what == kRedactContents || what == kRedactAll;
    options.chunk_bytes = kRepackChunkBytes;
    options.progress = [progress](uint64_t done, uint64_t total) {
      return progress->Update(done, total);
    };
    return RedactTrace(trace, options, file);
  };
}

// Copies `trace`, the file `original`, and says why not. True if the copy holds everything and has its
// final name. Closes the trace before: not every system gives a file's name away while it is open.
bool Repack(std::optional<TraceReader> trace, const std::string& original, const MakeCopy& copy,
            const std::string& output, uint64_t* size_bytes, uint64_t* unread) {
  TaskProgress progress("repack");  // before there is a file that a signal would leave behind
  Result<FileWriter> file = FileWriter::Create(output, Compression::kZstdSmall);
  if (!file.ok()) {
    PrintError("repack", file.status().message());
    return false;
  }
  // The copy gets the permissions of the original: a user who cannot read one cannot read the
  // other.
  CopyPermissions(original, output + ".part");
  const auto fail = [&](const std::string& reason) {
    progress.Restart();
    PrintError("repack", reason);
    (void)RemoveFile(output + ".part");
    return false;
  };
  const Copied copied = copy(&*trace, &progress, &*file);
  if (!copied.ok()) return fail(copied.status().message());
  if (copied->copied.interrupted) return fail("interrupted; " + output + " is not written");
  if (!copied->copied.losses.empty()) {
    return fail("the trace is damaged, and a copy would lack what cannot be read: " +
                copied->copied.losses.front().reason);
  }
  *unread = copied->unread;
  trace.reset();
  const Status finished = file->Finish();
  if (!finished.ok()) {
    // If only the renaming failed, the message names the complete file.
    const Result<FileReader> part = FileReader::Open(output + ".part");
    if (!part.ok() || !part->has_index()) return fail(finished.message());
    progress.Restart();
    PrintError("repack", finished.message());
    return false;
  }
  *size_bytes = file->size_bytes();
  return true;
}

// The names of the original are lost with it: it is never replaced.
bool IsRedactedElsewhere(const RepackOptions& options) {
  if (options.redact.empty() || options.path.empty()) return true;
  if (options.output.empty()) {
    PrintError("repack", "--redact writes another file; give its name with -o FILE");
    return false;
  }
  if (!IsSameFile(options.output, options.path)) return true;
  PrintError("repack",
             fmt::format("{} is the trace itself, whose names would be lost; give another "
                         "file with -o",
                         VisibleText(options.output)));
  return false;
}

int Run(const RepackOptions& options) {
  if (!IsRedactedElsewhere(options)) return kExitUsage;
  LimitReading("repack", options.path, TimeLimit::kNone);
  std::optional<TraceReader> trace = OpenTraceFileQuietly("repack", options.path, Check::kPayloads);
  if (!trace.has_value()) return options.path.empty() ? kExitUsage : kExitFailed;
  using std::filesystem::file_type;
  std::string output = options.output.empty() ? options.path : options.output;
  if (options.output.empty() && FactsOfName(options.path).type == file_type::symlink) {
    // A link stays.
    std::error_code error;
    const std::filesystem::path target = std::filesystem::canonical(FilePath(options.path), error);
    if (!error) output = target.string();
  }
  if (!DamageInWords(options.path, *trace).empty()) {
    PrintError("repack",
               fmt::format("{} is damaged or cut, and repacking would make that look whole; "
                           "cairn verify {} says what is lost",
                           options.path, options.path));
    return kExitFailed;
  }
  if (!options.output.empty() && !options.force && IsThere(output) &&
      FactsAt(output).type != file_type::character) {
    PrintError("repack", fmt::format("cannot write '{}': it is there already; --force replaces it",
                                     VisibleText(output)));
    return kExitFailed;
  }
  const uint64_t before = trace->file().size_bytes();
  uint64_t after = 0;
  uint64_t unread = 0;
  const MakeCopy copy = options.redact.empty() ? MakeCopy(CopyAll) : CopyRedacted(options.redact);
  if (!Repack(std::move(trace), options.path, copy, output, &after, &unread)) return kExitFailed;
  if (unread != 0) {
    PrintWarning("repack", fmt::format("{} cannot be read, and may hold names: {} not in {}",
                                       Counted(unread, "record"),
                                       unread == 1 ? "it is" : "they are", VisibleText(output)));
  }
  const double part = before == 0 ? 1.0 : static_cast<double>(after) / static_cast<double>(before);
  const std::string text = fmt::format("{}: {} bytes, {:.0f} % of {}\n", VisibleText(output),
                                       GroupedDigits(after), part * 100, GroupedDigits(before));
  return PrintOutput("repack", text) ? 0 : kExitFailed;
}

}  // namespace

Verb AddRepackVerb(CLI::App& root) {
  auto options = std::make_shared<RepackOptions>();
  Command command(root, "repack", "Makes the file of a trace smaller, or a copy that can be sent.",
                  "cairn repack [OPTIONS] FILE", kRepackExamples);
  command.DumpFile(&options->path);
  command.Option("-o,--output", &options->output, "FILE",
                 "Write this file, and leave the other as it is");
  command.Flag("--force", &options->force, "With -o: replace a file that is there already");
  command
      .FlagWithWord("--redact", &options->redact, kRedactNames,
                    "Write a copy that can be sent: names become hashes. --redact=shaders also "
                    "replaces shaders by hashes, so that it cannot be played, --redact=contents "
                    "contents of resources by zeros, --redact=all both")
      .OneOf({kRedactNames, kRedactShaders, kRedactContents, kRedactAll});
  return {command.app(), [options] { return Run(*options); }};
}

}  // namespace cairn::cli
