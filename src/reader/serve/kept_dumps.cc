// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/kept_dumps.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "os/file.h"
#include "os/new_file.h"
#include "reader/serve/dump_files.h"
#include "reader/view/dump_reader.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kBetweenLooks(50);  // at ^C, while a dump is read

}  // namespace

KeptDumps::KeptDumps(std::string file, uint64_t build, DumpNames names)
    : file_(std::move(file)), build_(build), names_(names) {}

void KeptDumps::Load() {
  if (std::exchange(is_loaded_, true) || file_.empty()) return;
  const FilePath path(file_);
  // In a folder that others can write to, another user's file is no index of this user.
  if (IsOfAnother(path)) return;
  std::error_code error;
  const File file = File::Open(path, FileMode::kRead, error);
  if (error || !file.valid() || file.facts().type != fs::file_type::regular) return;
  const uint64_t size = file.facts().size_bytes;
  if (size > 2 * DumpIndex::kMostBytes) return;
  std::vector<std::byte> bytes(size);
  size_t read_bytes = 0;
  error = file.ReadAt(0, bytes, &read_bytes);
  if (!error && read_bytes == size) index_ = DumpIndex::FromBytes(bytes, build_);
}

// Where nothing can be kept the files are read again the next time.
void KeptDumps::Save() {
  if (file_.empty()) return;
  const FilePath path(file_);
  const fs::path folder = path.parent_path();
  if (MakeFolders(folder) || ReplaceFile(path, index_.Bytes(build_))) return;
  std::vector<std::pair<fs::file_time_type, fs::path>> others;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code unknown;
    if (it->is_regular_file(unknown) && !unknown) {
      others.emplace_back(it->last_write_time(unknown), it->path());
    }
  }
  std::sort(others.begin(), others.end());
  for (size_t i = 0; i + kMostFiles < others.size(); ++i) {
    static_cast<void>(RemoveFile(others[i].second));
  }
}

Status KeptDumps::Read(
    const std::vector<std::string>& files, const std::function<bool(uint64_t given)>& goes_on,
    const std::function<void(const std::string& file, const Result<DumpSummary>&)>& take) {
  Load();
  std::error_code ignored;
  const fs::path here = fs::current_path(ignored);
  const fs::file_time_type now = fs::file_time_type::clock::now();
  std::vector<FoundDump> looked;
  std::vector<std::string> paths;
  std::vector<std::string> unread;
  for (const std::string& file : files) {
    looked.push_back(LookAtDump(file, here, now));
    paths.push_back(looked.back().path);
    if (index_.Find(looked.back().path, looked.back().stamp) == nullptr) unread.push_back(file);
  }
  DumpReader dumps(unread, 0, names_);
  size_t next = 0;  // in `unread`
  for (size_t i = 0; i < files.size();) {
    if (!goes_on(i)) {
      if (next != 0) Save();
      return Status(StatusCode::kInterrupted, "stopped");
    }
    if (next == unread.size() || unread[next] != files[i]) {
      // Two names of a file that changes may have found different ones.
      const Result<DumpSummary>* const kept = index_.Find(looked[i].path, looked[i].stamp);
      Result<DumpSummary> dump = kept == nullptr ? SummariseDump(files[i], names_) : *kept;
      if (dump.ok() && names_ == DumpNames::kShown) dump->file = files[i];
      take(files[i++], dump);
      continue;
    }
    const std::optional<Result<DumpSummary>> dump = dumps.Next(kBetweenLooks);
    if (!dump.has_value()) continue;
    ++next;
    ++read_count_;
    take(files[i], *dump);
    if (!looked[i].path.empty() && !looked[i].is_new) {
      index_.Keep(looked[i].path, looked[i].stamp, *dump);
    }
    ++i;
  }
  const size_t before = index_.size();
  index_.KeepOnly(paths);
  if (next != 0 || index_.size() != before) Save();
  return {};
}

}  // namespace cairn
