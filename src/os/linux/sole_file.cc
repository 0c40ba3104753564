// SPDX-License-Identifier: Apache-2.0
#include "os/sole_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace cairn {
namespace {

int DescriptorOf(intptr_t handle) {
  return static_cast<int>(handle);
}

// Whether the path still names this file.
bool IsAt(int file, const std::string& path) {
  struct stat opened = {};
  struct stat named = {};
  return fstat(file, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

Result<std::optional<SoleFile>> SoleFile::Open(const std::string& path, Existing existing) {
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC | (existing == Existing::kRefused ? O_EXCL : 0);
  // Who had it before may have removed it, or given it another name, between the opening and the lock.
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    const int opened = open(path.c_str(), flags, 0600);
    if (opened < 0) return StatusFromErrno(errno, path);
    SoleFile file(path, opened);
    if (flock(opened, LOCK_EX | LOCK_NB) != 0) break;
    if (IsAt(opened, path)) return std::optional(std::move(file));
  }
  return std::optional<SoleFile>();
}

Result<std::string> SoleFile::Read(size_t most_bytes) const {
  constexpr size_t kPieceBytes = 65536;
  std::string bytes;
  while (bytes.size() < most_bytes) {
    const size_t before = bytes.size();
    bytes.resize(std::min(before + kPieceBytes, most_bytes));
    const ssize_t got = pread(DescriptorOf(handle_), bytes.data() + before, bytes.size() - before,
                              static_cast<off_t>(before));
    if (got < 0 && errno != EINTR) return StatusFromErrno(errno, path_);
    bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) break;
  }
  return bytes;
}

Status SoleFile::CutAt(uint64_t offset) const {
  const int file = DescriptorOf(handle_);
  if (ftruncate(file, static_cast<off_t>(offset)) != 0 ||
      lseek(file, static_cast<off_t>(offset), SEEK_SET) < 0) {
    return StatusFromErrno(errno, path_);
  }
  return {};
}

Status SoleFile::Write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = write(DescriptorOf(handle_), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return StatusFromErrno(errno, path_);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status SoleFile::Sync() const {
  // EINVAL: what is no file on a disk.
  if (fdatasync(DescriptorOf(handle_)) == 0 || errno == EINVAL) return {};
  return StatusFromErrno(errno, path_);
}

Status SoleFile::Remove() {
  // As long as it is locked: nobody else has begun to use it.
  const int error = unlink(path_.c_str()) == 0 ? 0 : errno;
  Close();
  return error == 0 || error == ENOENT ? Status() : StatusFromErrno(error, path_);
}

void SoleFile::Close() {
  if (handle_ != kNone) close(DescriptorOf(std::exchange(handle_, kNone)));
}

Status RenameToFreeName(const std::string& path, const std::string& free_path) {
  if (renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, free_path.c_str(), RENAME_NOREPLACE) == 0) {
    return {};
  }
  // Not every file system can do that at once.
  if (errno != EINVAL && errno != ENOSYS) return StatusFromErrno(errno, free_path);
  if (link(path.c_str(), free_path.c_str()) != 0) return StatusFromErrno(errno, free_path);
  if (unlink(path.c_str()) != 0) return StatusFromErrno(errno, path);
  return {};
}

}  // namespace cairn
