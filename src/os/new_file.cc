// SPDX-License-Identifier: Apache-2.0
#include "os/new_file.h"

#include <fmt/format.h>

#include <span>

#include "os/random.h"

namespace cairn {

NewFile NewFile::Make(const FilePath& path, std::error_code& error) {
  // More than one name is tried only if another process makes files of all names, or by a chance of
  // 1 to 4 thousand million.
  constexpr int kMostNames = 8;
  NewFile made;
  made.path_ = path;
  for (int i = 0; i < kMostNames; ++i) {
    uint32_t random = 0;
    if (!FillWithSecrets(std::as_writable_bytes(std::span(&random, 1)))) {
      error = std::make_error_code(std::errc::resource_unavailable_try_again);
      return made;
    }
    std::filesystem::path part = path;
    part += fmt::format(".{:08x}.part", random);
    made.part_ = FilePath(part);
    made.file_ = File::Open(made.part_, FileMode::kCreate, error);
    if (error != std::errc::file_exists) break;
  }
  return made;
}

NewFile::~NewFile() {
  if (!file_.valid()) return;
  file_ = File();
  (void)RemoveFile(part_);
}

std::error_code NewFile::Finish(TakenName taken, FileReaders readers) {
  std::error_code error;
  if (readers == FileReaders::kEverybody) error = file_.LetEverybodyRead();
  const std::error_code closed = file_.Close();
  if (!error) error = closed;
  if (!error) {
    error = taken == TakenName::kReplace ? Rename(part_, path_) : RenameToFree(part_, path_);
  }
  if (error) (void)RemoveFile(part_);
  return error;
}

std::error_code ReplaceFile(const FilePath& path, std::span<const std::byte> bytes,
                            FileReaders readers) {
  std::error_code error;
  NewFile file = NewFile::Make(path, error);
  if (!error) error = file.Append(bytes);
  return error ? error : file.Finish(TakenName::kReplace, readers);
}

}  // namespace cairn
