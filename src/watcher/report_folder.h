// SPDX-License-Identifier: Apache-2.0
//
// The folder that reports of `cairn watchd` go to: the oldest make room for new ones.
#ifndef CAIRN_WATCHER_REPORT_FOLDER_H_
#define CAIRN_WATCHER_REPORT_FOLDER_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"
#include "os/file.h"

namespace cairn {

struct ReportLimits {
  uint64_t most_bytes = uint64_t{1} << 30;
  uint64_t most_age_seconds = uint64_t{30} * 24 * 60 * 60;
};

// Makes the folder, for this user alone, if it is missing. Errors: kInvalidArgument if it is a link or no folder, or if
// others may write to it; kIo.
Status OpenReportFolder(const FilePath& folder);

// A name in it, made of program, second and process: "game-20261128T074500Z-4711.cairn".
std::string NewReportPath(const FilePath& folder, const std::string& program, int64_t process_id,
                          uint64_t realtime_ns);

struct StoredReport {
  std::string path;
  uint64_t size_bytes = 0;
  std::filesystem::file_time_type written;
};
// The reports in the folder, the newest first; of those above it and below it none. Empty if there is no such folder.
std::vector<StoredReport> StoredReports(const FilePath& folder);

// Removes the reports that are too old, and the oldest ones beyond the limit of size; unfinished files of watchers that
// were killed count as reports. The newest stays, whatever its size. Links, folders and other files are left alone.
void PruneReports(const FilePath& folder, const ReportLimits& limits);

}  // namespace cairn

#endif  // CAIRN_WATCHER_REPORT_FOLDER_H_
