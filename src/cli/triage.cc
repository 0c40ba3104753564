// SPDX-License-Identifier: Apache-2.0
//
// cairn triage: many dumps, grouped by what they have in common.
#include "reader/view/triage.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/reading_limits.h"
#include "cli/served_page.h"
#include "cli/terminal.h"
#include "cli/triage_index.h"
#include "cli/triage_warnings.h"
#include "cli/verb.h"
#include "cli/witnesses.h"
#include "cli/written_output.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/memory.h"
#include "os/this_process.h"
#include "reader/page/page.h"
#include "reader/serve/dump_files.h"
#include "reader/serve/kept_dumps.h"
#include "reader/serve/triage_session.h"
#include "reader/view/dump_reader.h"
#include "reader/view/triage_page_data.h"
#include "reader/view/triage_row.h"

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
    "                                              one line for each dump, for a database; "
    "docs/reference/cairn-triage.md\n"
    "  cairn triage --tsv crashes/ > dumps.tsv     one row for each report, which PostgreSQL and "
    "ClickHouse load\n"
    "  cairn triage --index crashes.index crashes/\n"
    "                                              keeps what it read in an index; the next run "
    "reads what is\n"
    "                                              new, and counts reports whose files are gone\n"
    "  cairn triage --index all.index --merge crashes.index\n"
    "                                              adds the index of another machine\n"
    "  cairn triage --html triage.html crashes/    one page for a browser, to be sent; it needs no "
    "network\n"
    "  cairn triage --serve crashes/               the same in the browser: a click opens a "
    "report, "
    "and new\n"
    "                                              files appear when the page is loaded again\n\n"
    "--html and --serve keep what they have read in $XDG_CACHE_HOME/cairn/triage, so that the next "
    "page\n"
    "comes at once. --serve serves this user of this machine alone, as cairn view does; it ends "
    "when\n"
    "its last page is closed, or by ^C.";

constexpr size_t kPieceBytes = 64 << 10;
constexpr std::chrono::milliseconds kBetweenLooks(50);  // at ^C, while a dump is read

struct TriageOptions {
  std::vector<std::string> paths;
  bool json = false;
  bool jsonl = false;
  bool tsv = false;
  std::string index;
  std::vector<std::string> merged;
  std::string html;
  bool force = false;
  bool redact = false;
  bool serve = false;
  ServedPageOptions served;
};

// The build that reads the files: another one may read something else in them.
uint64_t OwnBuild() {
  const FilePath program(OwnProgramPath());
  std::error_code unknown;
  const std::string build =
      fmt::format("{} {} {}", CAIRN_VERSION, FactsAt(program).size_bytes,
                  fs::last_write_time(program, unknown).time_since_epoch().count());
  return XXH3_64bits(build.data(), build.size());
}

// Where what was read of these paths is kept; "" if nowhere.
std::string KeptFile(const std::vector<std::string>& paths) {
  const std::string folder = CacheFolder();
  if (folder.empty()) return "";
  std::vector<std::string> places;
  for (const std::string& path : paths) {
    std::error_code unknown;
    places.push_back(TextOfPath(fs::absolute(FilePath(path), unknown).lexically_normal()));
  }
  std::sort(places.begin(), places.end());
  const std::string all = fmt::format("{}", fmt::join(places, std::string_view("\0", 1)));
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  return TextOfPath(FilePath(folder) / "triage" /
                    fmt::format("{:016x}{:016x}", hash.high64, hash.low64));
}

std::string PlaceOf(const std::vector<std::string>& paths) {
  if (paths.size() == 1) return paths.front();
  return fmt::format("{} and {} more", paths.front(), GroupedDigits(paths.size() - 1));
}

int PrintInterrupted(uint64_t done, uint64_t total) {
  PrintError("triage", fmt::format("interrupted after {} of {} files", GroupedDigits(done),
                                   GroupedDigits(total)));
  return kExitFailed;
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
        if (!progress.Update(i, files.size())) return PrintInterrupted(i, files.size());
        const std::optional<Result<DumpSummary>> dump = dumps.Next(kBetweenLooks);
        if (!dump.has_value()) continue;
        Take(files[i++], *dump);
        if (piece_.size() >= kPieceBytes && !PrintPiece()) return kExitFailed;
      }
    }
    warnings_.Print(triage_.unreadable_count());
    if (!options_.jsonl && !options_.tsv)
      piece_ = options_.json ? triage_.Json() : FittedToTerminal(triage_.Text());
    return PrintPiece() && triage_.dump_count() != 0 ? 0 : kExitFailed;
  }

 private:
  void Take(const std::string& file, const Result<DumpSummary>& dump) {
    if (dump.ok()) {
      triage_.Add(*dump);
      if (options_.jsonl) piece_ += TriageLine(*dump);
      if (options_.tsv) piece_ += TriageRow(*dump);
      return;
    }
    const Status& status = dump.status();
    triage_.AddUnreadable(file, status);
    if (options_.jsonl) piece_ += TriageLine(file, status);
    warnings_.Add(file, status);
  }

  bool PrintPiece() {
    const bool printed = PrintOutput("triage", piece_);
    piece_.clear();
    return printed;
  }

  const TriageOptions& options_;
  Triage triage_;
  TriageWarnings warnings_;
  std::string piece_;
};

int WriteHtml(const TriageOptions& options, const std::vector<std::string>& files) {
  if (!HasPage()) {
    PrintError("triage", WriteTriagePage("", false, nullptr).message());
    return kExitFailed;
  }
  const DumpNames names = options.redact ? DumpNames::kRedacted : DumpNames::kShown;
  TriagePageData data(
      options.redact ? Counted(files.size(), "redacted file") : PlaceOf(options.paths),
      RealtimeNs(), false);
  TriageWarnings warnings;
  uint64_t done = 0;
  Status status;
  {
    TaskProgress progress("triage");
    // Nothing with names is kept among what has none.
    KeptDumps dumps(options.redact ? "" : KeptFile(options.paths), OwnBuild(), names);
    status = dumps.Read(
        files, [&](uint64_t given) { return progress.Update(done = given, files.size()); },
        [&](const std::string& file, const Result<DumpSummary>& dump) {
          if (dump.ok()) return data.Add(*dump, 0);
          // A reason may quote the file.
          options.redact ? data.AddUnreadable(RedactedFileName(file),
                                              Status(dump.status().code(), "no report can be read"))
                         : data.AddUnreadable(file, dump.status());
          warnings.Add(file, dump.status());
        });
  }
  if (!status.ok()) return PrintInterrupted(done, files.size());
  warnings.Print(data.triage().unreadable_count());
  if (data.triage().dump_count() == 0) {
    PrintError("triage", "--html: no file has a report; nothing is written");
    return kExitFailed;
  }
  return WriteHtmlFile("triage", options.html, options.force, [&data](const auto& print) {
    return WriteTriagePage(data.Json(), false, print);
  });
}

int Serve(const TriageOptions& options) {
  ShareHeaps();
  Result<std::unique_ptr<TriageSession>> session =
      TriageSession::Open({.paths = options.paths,
                           .place = PlaceOf(options.paths),
                           .kept = KeptFile(options.paths),
                           .build = OwnBuild()});
  if (!session.ok()) {
    PrintError("triage", session.status().message());
    return kExitFailed;
  }
  uint64_t done = 0;
  uint64_t total = 0;
  Status looked;
  {
    TaskProgress progress("triage");
    looked = (*session)->Look(
        [&](uint64_t given, uint64_t of) { return progress.Update(done = given, total = of); });
  }
  if (looked.code() == StatusCode::kInterrupted) return PrintInterrupted(done, total);
  if (!looked.ok()) {
    PrintError("triage", looked.message());
    return kExitFailed;
  }
  return ServePage(
      "triage", options.served, "",
      [&session](const PageQuestion& question) { return (*session)->Answer(question); },
      [&session] { (*session)->Stop(); });
}

int Run(const TriageOptions& options) {
  if (!options.index.empty()) {
    return RunTriageIndex({.index = options.index,
                           .merged = options.merged,
                           .paths = options.paths,
                           .json = options.json,
                           .jsonl = options.jsonl,
                           .tsv = options.tsv});
  }
  if (options.paths.empty()) {
    PrintError("triage", "no file is given; say cairn triage FOLDER, or name the files");
    return kExitUsage;
  }
  if (options.serve) return Serve(options);
  const Result<std::vector<std::string>> files = DumpFilesIn(options.paths);
  if (!files.ok()) {
    PrintError("triage", files.status().message());
    return kExitFailed;
  }
  if (files->empty()) {
    PrintError("triage", "no file there ends with .cairn; cairn run writes such files");
    return kExitFailed;
  }
  for (const std::string& file : *files) LimitReading("triage", file);
  return options.html.empty() ? TriageRun(options).Run(*files) : WriteHtml(options, *files);
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
  const CommandOption jsonl =
      command.Flag("--jsonl", &options->jsonl, "Print JSON, one line for each file").Without(json);
  const CommandOption tsv =
      command
          .Flag("--tsv", &options->tsv,
                "Print one row for each report, with tabs between the columns, for a database")
          .Without(json)
          .Without(jsonl);
  const CommandOption html = command
                                 .Option("--html", &options->html, "FILE",
                                         "Write the groups as one page for a browser, which needs "
                                         "no network")
                                 .Without(json)
                                 .Without(jsonl)
                                 .Without(tsv);
  command.Flag("--force", &options->force, "Let --html replace a file").OnlyWith(html);
  command.Flag("--redact", &options->redact, "Replace names by hashes in the page of --html")
      .OnlyWith(html);
  const CommandOption serve =
      command.Flag("--serve", &options->serve, "Serve the page to the browser of this user")
          .Without(json)
          .Without(jsonl)
          .Without(tsv)
          .Without(html);
  const CommandOption index =
      command
          .Option("--index", &options->index, "FILE",
                  "Keep what is read in this SQLite database, and read only what is new")
          .Without(html)
          .Without(serve);
  command
      .Option("--merge", &options->merged, "FILE",
              "Add the reports of another index, such as another machine's; may be repeated")
      .OnlyWith(index);
  for (CommandOption option : AddServedPageOptions(&command, &options->served)) {
    option.OnlyWith(serve);
  }
  return {.app = command.app(),
          .run = [options] { return Run(*options); },
          .pages = true,
          .without_pager = [options] { return options->serve; }};
}

}  // namespace cairn::cli
