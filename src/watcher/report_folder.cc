// SPDX-License-Identifier: Apache-2.0
#include "watcher/report_folder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <system_error>

#include "base/text.h"
#include "watcher/output_path.h"

namespace cairn {

namespace fs = std::filesystem;
namespace {

std::vector<StoredReport> FilesIn(const FilePath& folder) {
  std::vector<StoredReport> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    if (entry->symlink_status(gone).type() != fs::file_type::regular) continue;
    StoredReport file{TextOfPath(entry->path()), entry->file_size(gone),
                      entry->last_write_time(gone)};
    if (!gone) files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(), [](const StoredReport& a, const StoredReport& b) {
    return a.written != b.written ? a.written > b.written : a.path > b.path;
  });
  return files;
}

// Returns true for what a watcher that was killed left of a report; others are being written.
bool IsLeftover(const std::string& path) {
  if (!path.ends_with(".cairn.part") && !path.ends_with(".cairn.part.old")) return false;
  std::error_code error;
  File file = File::Open(path, FileMode::kWriteItself, error);
  return !error && file.TryLock();
}

}  // namespace

Status OpenReportFolder(const FilePath& folder) {
  std::error_code error = MakeFolders(FilePath(folder.parent_path()));
  if (!error) {
    error = MakePrivateFolder(folder);
    if (error == std::errc::file_exists) error.clear();
  }
  const std::string name = VisibleText(TextOfPath(folder));
  if (error) return StatusFromError(error, "the folder of reports '" + name + "' cannot be made");
  const fs::file_status status = fs::symlink_status(folder, error);
  if (error || status.type() != fs::file_type::directory) {
    return Status(StatusCode::kInvalidArgument, "'" + name + "' is no folder");
  }
  if ((status.permissions() & (fs::perms::group_write | fs::perms::others_write)) !=
      fs::perms::none) {
    return Status(StatusCode::kInvalidArgument,
                  "others may write to '" + name + "'; say chmod 700 for it");
  }
  return Status();
}

std::string NewReportPath(const FilePath& folder, const std::string& program, int64_t process_id,
                          uint64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  const std::string when = fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(seconds));
  std::string name = DefaultOutputPath(program);
  name.resize(name.size() - std::string_view(".cairn").size());
  return TextOfPath(folder / FilePath(fmt::format("{}-{}-{}.cairn", name, when, process_id)));
}

std::vector<StoredReport> StoredReports(const FilePath& folder) {
  std::vector<StoredReport> reports = FilesIn(folder);
  std::erase_if(reports, [](const StoredReport& file) { return !file.path.ends_with(".cairn"); });
  return reports;
}

void PruneReports(const FilePath& folder, const ReportLimits& limits) {
  const fs::file_time_type oldest =
      fs::file_time_type::clock::now() -
      std::chrono::seconds(std::min<uint64_t>(limits.most_age_seconds, uint64_t{1} << 31));
  uint64_t total_bytes = 0;
  bool newest = true;
  for (const StoredReport& file : FilesIn(folder)) {
    const bool is_report = file.path.ends_with(".cairn");
    if (!is_report && !IsLeftover(file.path)) continue;
    total_bytes += file.size_bytes;
    if (!newest && (file.written < oldest || total_bytes > limits.most_bytes)) {
      (void)RemoveFile(file.path);
    }
    newest = false;
  }
}

}  // namespace cairn
