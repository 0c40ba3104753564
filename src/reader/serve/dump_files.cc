// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/dump_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "os/file.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kNew(2);

}  // namespace

Status ForEachDumpFile(const std::vector<std::string>& paths,
                       const std::function<bool(std::string file)>& visit) {
  const Status stopped(StatusCode::kInterrupted, "stopped");
  for (const std::string& path : paths) {
    const FilePath start(path);
    std::error_code error;
    if (!fs::is_directory(start, error)) {
      if (!visit(path)) return stopped;
      continue;
    }
    fs::recursive_directory_iterator entry(start, fs::directory_options::skip_permission_denied,
                                           error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (entry->path().extension() != ".cairn") continue;
      std::error_code unknown;
      if (!entry->is_directory(unknown) && !visit(TextOfPath(entry->path()))) return stopped;
    }
    if (error) return StatusFromError(error, fmt::format("cannot read the folder '{}'", path));
  }
  return {};
}

Result<std::vector<std::string>> DumpFilesIn(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  CAIRN_RETURN_IF_ERROR(ForEachDumpFile(paths, [&files](std::string file) {
    files.push_back(std::move(file));
    return true;
  }));
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

FoundDump LookAtDump(const std::string& file, const fs::path& here, fs::file_time_type now) {
  const FilePath path(file);
  const fs::directory_entry entry = [&] {
    std::error_code error;
    return fs::directory_entry(path, error);
  }();
  std::error_code error;
  if (!entry.is_regular_file(error) || error) return {};
  FoundDump found;
  found.stamp.size_bytes = entry.file_size(error);
  if (error) return {};
  const fs::file_time_type written = entry.last_write_time(error);
  if (error) return {};
  found.stamp.written = written.time_since_epoch().count();
  found.is_new = written > now - kNew;
  found.path = TextOfPath((here / path).lexically_normal());
  return found;
}

}  // namespace cairn
