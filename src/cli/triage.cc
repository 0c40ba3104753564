// SPDX-License-Identifier: Apache-2.0
//
// cairn triage: many dumps, grouped by what they have in common.
#include "reader/view/triage.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/mistaken_word.h"
#include "cli/progress.h"
#include "cli/reading_limits.h"
#include "cli/verb.h"
#include "os/file.h"
#include "reader/view/dump_reader.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kTriageExamples[] =
    "Examples:\n"
    "  cairn triage crashes/                       groups of dumps with one cause, the largest "
    "first\n"
    "  cairn triage monday.cairn tuesday.cairn     of these files\n"
    "  cairn triage --json crashes/                for programs; the schema is "
    "docs/formats/triage.schema.json\n"
    "  cairn triage --jsonl crashes/ > dumps.jsonl\n"
    "                                              a line a dump, for a database; "
    "docs/reference/cairn-triage.md";

constexpr size_t kPieceBytes = 64 << 10;
constexpr uint64_t kMostWarnings = 20;
constexpr std::chrono::milliseconds kBetweenLooks(50);  // at ^C, while a dump is read

struct TriageOptions {
  std::vector<std::string> paths;
  bool json = false;
  bool jsonl = false;
};

// Returns the named files and the .cairn files in the named folders; does not follow links to
// folders. Sorted, each once.
Result<std::vector<std::string>> FilesIn(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    const FilePath start(path);
    std::error_code error;
    if (!fs::is_directory(start, error)) {
      files.push_back(path);
      continue;
    }
    fs::recursive_directory_iterator entry(start, fs::directory_options::skip_permission_denied,
                                           error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (entry->path().extension() != ".cairn") continue;
      std::error_code unknown;
      if (!entry->is_directory(unknown)) files.push_back(TextOfPath(entry->path()));
    }
    if (error) return StatusFromError(error, fmt::format("cannot read the folder '{}'", path));
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

// Lines are printed as they come: a folder may hold a million dumps.
class TriageRun {
 public:
  explicit TriageRun(const TriageOptions& options) : options_(options) {}

  int Run(const std::vector<std::string>& files) {
    {
      TaskProgress progress("triage");
      DumpReader dumps(files);
      for (size_t i = 0; i < files.size();) {
        if (!progress.Update(i, files.size())) {
          PrintError("triage", fmt::format("interrupted after {} of {} files", GroupedDigits(i),
                                           GroupedDigits(files.size())));
          return kExitFailed;
        }
        const std::optional<Result<DumpSummary>> dump = dumps.Next(kBetweenLooks);
        if (!dump.has_value()) continue;
        Take(files[i++], *dump);
        if (piece_.size() >= kPieceBytes && !PrintPiece()) return kExitFailed;
      }
    }
    for (const std::string& warning : warnings_) PrintWarning("triage", warning);
    if (triage_.unreadable_count() > kMostWarnings) {
      PrintWarning("triage",
                   fmt::format("{} more files without a report; --json lists them",
                               GroupedDigits(triage_.unreadable_count() - kMostWarnings)));
    }
    if (!options_.jsonl) piece_ = options_.json ? triage_.Json() : triage_.Text();
    return PrintPiece() && triage_.dump_count() != 0 ? 0 : kExitFailed;
  }

 private:
  void Take(const std::string& file, const Result<DumpSummary>& dump) {
    if (dump.ok()) {
      triage_.Add(*dump);
      if (options_.jsonl) piece_ += TriageLine(*dump);
      return;
    }
    const Status& status = dump.status();
    triage_.AddUnreadable(file, status);
    if (options_.jsonl) piece_ += TriageLine(file, status);
    if (warnings_.size() == kMostWarnings) return;
    const std::string mistaken = MistakenForFile("triage", file, NeededFile::kAny);
    warnings_.push_back(mistaken.empty() ? status.WithFile(file).message() : mistaken);
  }

  bool PrintPiece() {
    const bool printed = PrintOutput("triage", piece_);
    piece_.clear();
    return printed;
  }

  const TriageOptions& options_;
  Triage triage_;
  std::vector<std::string> warnings_;
  std::string piece_;
};

int Run(const TriageOptions& options) {
  if (options.paths.empty()) {
    PrintError("triage", "no file is given; say cairn triage FOLDER, or name the files");
    return kExitUsage;
  }
  const Result<std::vector<std::string>> files = FilesIn(options.paths);
  if (!files.ok()) {
    PrintError("triage", files.status().message());
    return kExitFailed;
  }
  if (files->empty()) {
    PrintError("triage", "no file there ends with .cairn; cairn run writes such files");
    return kExitFailed;
  }
  for (const std::string& file : *files) LimitReading("triage", file);
  return TriageRun(options).Run(*files);
}

}  // namespace

Verb AddTriageVerb(CLI::App& root) {
  auto options = std::make_shared<TriageOptions>();
  Command command(root, "triage", "Groups many .cairn files by what went wrong in them.",
                  "cairn triage [OPTIONS] FILE|FOLDER...", kTriageExamples);
  command.Option("path", &options->paths, "FILE|FOLDER",
                 "Files, and folders whose .cairn files are read, also those below");
  command.OffersDumps();
  const CommandOption json = command.Json(&options->json);
  command.Flag("--jsonl", &options->jsonl, "Print JSON, one line for each file").Without(json);
  return {.app = command.app(), .run = [options] { return Run(*options); }, .pages = true};
}

}  // namespace cairn::cli
