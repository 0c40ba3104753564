// SPDX-License-Identifier: Apache-2.0
#include "cli/triage_index.h"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "cli/progress.h"
#include "cli/reading_limits.h"
#include "cli/terminal.h"
#include "cli/triage_warnings.h"
#include "cli/verb.h"
#include "cli/written_output.h"
#include "os/file.h"
#include "reader/index/report_index.h"
#include "reader/serve/dump_files.h"
#include "reader/view/dump_reader.h"
#include "reader/view/triage.h"
#include "reader/view/triage_row.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFilesAtOnce = 256;  // of a transaction
constexpr size_t kPrintedBytes = 64 << 10;
constexpr size_t kMostUnreadable = 1000;                         // as Triage
constexpr std::chrono::milliseconds kBetweenInterruptLooks(50);  // at ^C, while a dump is read

// The paths of the command line, by which files are shown: the index has absolute ones.
class GivenPaths {
 public:
  GivenPaths(const std::vector<std::string>& paths, const fs::path& here) {
    for (const std::string& path : paths) {
      std::string absolute = TextOfPath((here / FilePath(path)).lexically_normal());
      while (!absolute.empty() && absolute.back() == '/') absolute.pop_back();
      roots_.emplace_back(std::move(absolute), path);
    }
  }
  std::string Shown(std::string path) const {
    for (const auto& [absolute, given] : roots_) {
      if (path == absolute) return given;
      if (path.size() > absolute.size() && path[absolute.size()] == '/' &&
          path.compare(0, absolute.size(), absolute) == 0) {
        return TextOfPath(FilePath(given) / FilePath(path.substr(absolute.size() + 1)));
      }
    }
    return path;
  }

 private:
  std::vector<std::pair<std::string, std::string>> roots_;
};

// Holds the files of one batch, the groups, and the first files without a report.
class TriageIndexRun {
 public:
  explicit TriageIndexRun(const TriageIndexOptions& options)
      : options_(options), here_(fs::current_path()), given_(options.paths, here_) {}

  int Run() {
    LimitReading("triage", options_.index);
    Result<std::unique_ptr<ReportIndex>> index =
        ReportIndex::Open(options_.index, ReportIndex::Access::kNew);
    if (!index.ok()) return FailedFor("--index", options_.index, index.status());
    index_ = std::move(*index);
    {
      TaskProgress progress("triage");
      progress_ = &progress;
      for (const std::string& other : options_.merged) {
        if (const int failed = Merge(other); failed != 0) return failed;
      }
      if (const int failed = ReadNew(); failed != 0) return failed;
    }
    const Result<uint64_t> count = index_->ReportCount();
    if (!count.ok()) return FailedFor("--index", options_.index, count.status());
    if (*count == 0 && file_count_ == 0) {
      PrintError(
          "triage",
          "no file there ends with .cairn, and the index is empty; cairn run writes such files");
      return kExitFailed;
    }
    TriageWarnings warnings;
    for (const auto& [file, status] : unreadable_) warnings.Add(file, status);
    warnings.Print(unreadable_count_);
    const Status printed = options_.jsonl || options_.tsv ? PrintRows() : PrintGroups();
    if (!printed.ok()) return FailedFor("--index", options_.index, printed);
    return is_printed_ && *count != 0 ? 0 : kExitFailed;
  }

 private:
  static int FailedFor(std::string_view option, const std::string& file, const Status& status) {
    PrintError("triage", fmt::format("{}: {}{}", option, status.WithFile(file).message(),
                                     status.code() == StatusCode::kCorrupt
                                         ? "; with another file all reports are read anew"
                                         : ""));
    return kExitFailed;
  }
  int Interrupted() const {
    PrintError("triage", fmt::format("interrupted after {}; the index has what was read",
                                     Counted(file_count_, "file")));
    return kExitFailed;
  }

  int Merge(const std::string& file) {
    std::error_code unknown;
    if (fs::equivalent(FilePath(file), FilePath(options_.index), unknown)) {
      PrintError("triage", fmt::format("--merge: {} is the index itself", VisibleText(file)));
      return kExitUsage;
    }
    LimitReading("triage", file);
    const Result<std::unique_ptr<ReportIndex>> other =
        ReportIndex::Open(file, ReportIndex::Access::kRead);
    if (!other.ok()) return FailedFor("--merge", file, other.status());
    bool theirs = false;
    const Result<uint64_t> added = index_->Merge(
        **other, TextOfPath(FilePath(file).stem()), [this] { return progress_->Update(0, 0); },
        &theirs);
    if (added.ok()) return 0;
    if (added.status().code() == StatusCode::kInterrupted) return Interrupted();
    return theirs ? FailedFor("--merge", file, added.status())
                  : FailedFor("--index", options_.index, added.status());
  }

  int ReadNew() {
    Status failed;
    std::vector<std::string> batch;
    const auto take = [&] {
      failed = TakeBatch(batch);
      if (failed.ok()) file_count_ += batch.size();
      batch.clear();
      return failed.ok();
    };
    const Status found = ForEachDumpFile(options_.paths, [&](std::string file) {
      batch.push_back(std::move(file));
      return batch.size() < kFilesAtOnce || take();
    });
    if (found.ok() && !batch.empty()) take();
    if (failed.code() == StatusCode::kInterrupted) return Interrupted();
    if (!failed.ok()) return FailedFor("--index", options_.index, failed);
    if (found.ok()) return 0;
    PrintError("triage", found.message());
    return kExitFailed;
  }

  Status TakeBatch(const std::vector<std::string>& files) {
    const fs::file_time_type now = fs::file_time_type::clock::now();
    std::vector<ReportIndex::Found> found;
    for (const std::string& file : files) {
      FoundDump dump = LookAtDump(file, here_, now);
      found.push_back({std::move(dump.path), dump.stamp, dump.is_new});
    }
    const Result<std::vector<bool>> known = index_->Knows(found);
    if (!known.ok()) return known.status();
    std::vector<std::string> unread;
    std::vector<ReportIndex::Found> unread_found;
    for (size_t i = 0; i < files.size(); ++i) {
      if ((*known)[i]) continue;
      LimitReading("triage", files[i]);
      unread.push_back(files[i]);
      unread_found.push_back(std::move(found[i]));
    }
    std::vector<std::pair<ReportIndex::Found, Result<DumpSummary>>> reads;
    DumpReader dumps(unread);
    for (size_t i = 0; i < unread.size();) {
      if (!progress_->Update(file_count_ + i, 0)) {
        return Status(StatusCode::kInterrupted, "stopped");
      }
      std::optional<Result<DumpSummary>> dump = dumps.Next(kBetweenInterruptLooks);
      if (!dump.has_value()) continue;
      if (dump->ok() && !ReportIndex::Fits(**dump)) {
        *dump = Status(StatusCode::kUnsupported, "its names take more than 512 KiB");
      }
      if (dump->ok() && unread_found[i].path.empty()) {
        *dump = Status(StatusCode::kUnsupported, "its size and its time cannot be read");
      }
      if (!dump->ok()) AddUnreadable(unread[i], dump->status());
      // A file that is gone is kept as it was.
      if (!unread_found[i].path.empty()) {
        reads.emplace_back(std::move(unread_found[i]), std::move(*dump));
      }
      ++i;
    }
    return index_->Keep(reads);
  }

  // The first ones by their names, in whatever order they come.
  void AddUnreadable(const std::string& file, const Status& status) {
    if (options_.jsonl) Print(TriageLine(file, status));
    const bool is_new = unreadable_.emplace(file, status).second;
    unreadable_count_ += is_new ? 1 : 0;
    if (unreadable_.size() > kMostUnreadable) unreadable_.erase(std::prev(unreadable_.end()));
  }

  Status PrintGroups() {
    Triage triage;
    CAIRN_RETURN_IF_ERROR(index_->AddGroupsTo(
        &triage, [this](std::string path) { return given_.Shown(std::move(path)); }));
    for (const auto& [file, status] : unreadable_) triage.AddUnreadable(file, status);
    triage.CountUnreadable(unreadable_count_ - unreadable_.size());
    Print(options_.json ? triage.Json() : FittedToTerminal(triage.Text()));
    Flush();
    return {};
  }

  Status PrintRows() {
    DumpSummary shown;
    const Status status = index_->ForEach([&](const DumpSummary& dump, std::string_view machine) {
      shown = dump;
      if (machine.empty()) shown.file = given_.Shown(std::move(shown.file));
      Print(options_.tsv ? TriageRow(shown, machine) : TriageLine(shown));
      return is_printed_;
    });
    Flush();
    return is_printed_ ? status : Status();
  }

  void Print(const std::string& text) {
    piece_ += text;
    if (piece_.size() >= kPrintedBytes) Flush();
  }
  void Flush() {
    is_printed_ = is_printed_ && PrintOutput("triage", piece_);
    piece_.clear();
  }

  const TriageIndexOptions& options_;
  const fs::path here_;
  const GivenPaths given_;
  std::unique_ptr<ReportIndex> index_;
  TaskProgress* progress_ = nullptr;
  uint64_t file_count_ = 0;
  std::map<std::string, Status> unreadable_;
  uint64_t unreadable_count_ = 0;
  std::string piece_;
  bool is_printed_ = true;
};

}  // namespace

int RunTriageIndex(const TriageIndexOptions& options) {
  return TriageIndexRun(options).Run();
}

}  // namespace cairn::cli
