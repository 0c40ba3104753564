// SPDX-License-Identifier: Apache-2.0
//
// cairn export: what a file tells, for other programs.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>

#include "base/text.h"
#include "cli/bisect_parts.h"
#include "cli/command.h"
#include "cli/dump_file.h"
#include "cli/progress.h"
#include "cli/trace_file.h"
#include "cli/verb.h"
#include "format/snapshot/snapshot_file.h"
#include "os/file.h"
#include "os/new_file.h"
#include "reader/view/perfetto_export.h"
#include "watcher/output_path.h"

namespace cairn::cli {
namespace {

constexpr char kExportExamples[] =
    "Examples:\n"
    "  cairn export --perfetto game.cairn           game.pftrace, for ui.perfetto.dev: queues, "
    "submissions, waits\n"
    "  cairn export --perfetto --force game.cairn   the same, in the place of an earlier one\n"
    "  cairn export --perfetto --calls -o calls.pftrace game.cairn\n"
    "                                               the recorded calls of each thread";

struct ExportOptions {
  std::string path;
  std::string output;
  bool force = false;
  bool perfetto = false;
  bool calls = false;
};

Status IsThereAlready(const std::string& path) {
  return Status(StatusCode::kIo,
                fmt::format("cannot write '{}': it is there already; --force replaces it", path));
}

// A file, and its first error.
class ExportFile {
 public:
  explicit ExportFile(const std::string& path) : path_(path), file_(NewFile::Make(path, error_)) {}

  bool Append(std::string_view bytes) {
    if (!error_) error_ = file_.Append(std::as_bytes(std::span(bytes)));
    return !error_;
  }
  Status Finish(bool force) {
    if (!error_) error_ = file_.Finish(force ? TakenName::kReplace : TakenName::kRefuse);
    if (!force && error_ == std::errc::file_exists) return IsThereAlready(path_);
    return error_ ? StatusFromError(error_, fmt::format("cannot write '{}'", path_)) : Status();
  }

 private:
  std::string path_;
  std::error_code error_;
  NewFile file_;
};

int ExportCallsTo(const ExportOptions& options, ExportFile* output) {
  std::optional<TraceReader> trace = OpenTraceFile("export", options.path);
  if (!trace.has_value()) return kExitFailed;
  const Result<ExportedCalls> exported = [&] {
    TaskProgress progress("export");
    return ExportCalls(
        *trace, [&](std::string_view piece) { return output->Append(piece); },
        [&](uint64_t done, uint64_t total) { return progress.Update(done, total); });
  }();
  if (exported.ok() && exported->interrupted) {
    PrintError("export", "interrupted; nothing is written");
    return kExitFailed;
  }
  if (!exported.ok() && exported.status().code() != StatusCode::kIo) {
    PrintError("export", options.path + ": " + exported.status().message());
    return kExitFailed;
  }
  if (exported.ok() && exported->damaged != 0) {
    PrintWarning("export", fmt::format("{} records could not be read; cairn verify lists them",
                                       GroupedDigits(exported->damaged)));
  }
  return 0;
}

int ExportDumpTo(const ExportOptions& options, const FileReader& file, ExportFile* output) {
  const std::optional<Snapshot> snapshot = ReadDump("export", options.path, file);
  if (!snapshot.has_value()) return kExitFailed;
  ExportDump(*snapshot, [&](std::string_view piece) { return output->Append(piece); });
  return 0;
}

int Run(ExportOptions& options) {
  if (!options.perfetto) {
    PrintError("export", "no format is given; say cairn export --perfetto FILE.cairn");
    return kExitUsage;
  }
  const std::optional<FileReader> file = OpenDumpFile("export", options.path);
  if (!file.has_value()) return options.path.empty() ? kExitUsage : kExitFailed;
  if (options.output.empty()) options.output = WithEnding(options.path, ".pftrace");
  if (IsSameFile(options.path, options.output)) {
    PrintError("export", fmt::format("'{}' is the file itself; give another name", options.output));
    return kExitUsage;
  }
  if (!options.force && IsThere(options.output)) {
    PrintError("export", IsThereAlready(options.output).message());
    return kExitFailed;
  }
  ExportFile output(options.output);
  // A capture of a program that ended well has calls alone.
  const bool calls = options.calls || ReadSnapshot(*file).status().code() == StatusCode::kNotFound;
  const int exit_code =
      calls ? ExportCallsTo(options, &output) : ExportDumpTo(options, *file, &output);
  if (exit_code != 0) return exit_code;
  if (const Status written = output.Finish(options.force); !written.ok()) {
    PrintError("export", written.message());
    return kExitFailed;
  }
  return PrintOutput("export", fmt::format("{}: open it at https://ui.perfetto.dev\n",
                                           VisibleText(options.output)))
             ? 0
             : kExitFailed;
}

}  // namespace

Verb AddExportVerb(CLI::App& root) {
  auto options = std::make_shared<ExportOptions>();
  Command command(root, "export", "Converts a .cairn file for other programs.",
                  "cairn export --perfetto [OPTIONS] FILE", kExportExamples);
  command.DumpFile(&options->path);
  command.Flag("--perfetto", &options->perfetto, "Write a trace for the Perfetto UI");
  command.Flag("--calls", &options->calls,
               "Export the recorded calls, even if the file has a report, too");
  command.Option("-o,--output", &options->output, "FILE",
                 "The file to write; NAME.pftrace if not given");
  command.Flag("--force", &options->force, "Replace a file that is there already");
  return {.app = command.app(), .run = [options] { return Run(*options); }};
}

}  // namespace cairn::cli
