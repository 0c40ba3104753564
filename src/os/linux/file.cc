// SPDX-License-Identifier: Apache-2.0
#include "os/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace cairn {
namespace {

constexpr mode_t kOwnerOnly = 0600;

std::error_code ErrorOf(int number) {
  return {number, std::generic_category()};
}

std::error_code ErrorUnless(bool done) {
  return done ? std::error_code() : ErrorOf(errno);
}

int FlagsOf(FileMode mode) {
  switch (mode) {
    case FileMode::kRead: return O_RDONLY | O_NONBLOCK | O_NOCTTY;
    case FileMode::kWrite: return O_WRONLY | O_APPEND | O_NOCTTY;
    case FileMode::kWriteItself: return O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    case FileMode::kCreate: return O_RDWR | O_APPEND | O_CREAT | O_EXCL;
    case FileMode::kOpenOrCreate:
      return O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  }
  return O_RDONLY;
}

std::filesystem::file_type TypeOf(mode_t mode) {
  using std::filesystem::file_type;
  switch (mode & S_IFMT) {
    case S_IFREG: return file_type::regular;
    case S_IFDIR: return file_type::directory;
    case S_IFCHR: return file_type::character;
    case S_IFBLK: return file_type::block;
    case S_IFIFO: return file_type::fifo;
    case S_IFSOCK: return file_type::socket;
    case S_IFLNK: return file_type::symlink;
    default: return file_type::unknown;
  }
}

FileFacts FactsOf(const struct stat& info) {
  return {TypeOf(info.st_mode), static_cast<uint64_t>(info.st_size)};
}

// Returns the facts after stat or lstat failed.
FileFacts FactsOfNothing() {
  const bool nothing = errno == ENOENT || errno == ENOTDIR;
  return {nothing ? std::filesystem::file_type::not_found : std::filesystem::file_type::none, 0};
}

int Number(intptr_t handle) {
  return static_cast<int>(handle);
}

// Returns true if others than the owner can write to the folder. The owner is trusted with it, like
// root in the folders of others.
bool OthersCanWriteTo(const std::filesystem::path& folder) {
  struct stat info {};
  return stat(folder.empty() ? "." : folder.c_str(), &info) == 0 &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

// A file of this user may have another name elsewhere, which another user has given it.
bool MayBePlanted(int fd, const FilePath& path) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return true;
  return (info.st_uid != geteuid() || info.st_nlink != 1) && OthersCanWriteTo(path.parent_path());
}

std::error_code WriteAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrorOf(errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace

FileFacts FactsAt(const FilePath& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? FactsOf(info) : FactsOfNothing();
}

FileFacts FactsOfName(const FilePath& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 ? FactsOf(info) : FactsOfNothing();
}

File File::Open(const FilePath& path, FileMode mode, std::error_code& error) {
  File file;
  file.handle_ = open(path.c_str(), FlagsOf(mode) | O_CLOEXEC, kOwnerOnly);
  error = ErrorUnless(file.valid());
  if (file.valid() && mode == FileMode::kOpenOrCreate && MayBePlanted(Number(file.handle_), path)) {
    file = File();
    error = std::make_error_code(std::errc::operation_not_permitted);
  }
  return file;
}

File::~File() {
  if (valid()) close(Number(handle_));
}

FileFacts File::facts() const {
  struct stat info {};
  return fstat(Number(handle_), &info) == 0 ? FactsOf(info) : FileFacts();
}

std::error_code File::ReadAt(uint64_t offset, std::span<std::byte> bytes,
                             size_t* read_bytes) const {
  *read_bytes = 0;
  while (*read_bytes < bytes.size()) {
    const ssize_t count =
        pread(Number(handle_), bytes.data() + *read_bytes, bytes.size() - *read_bytes,
              static_cast<off_t>(offset + *read_bytes));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrorOf(errno);
    if (count == 0) break;
    *read_bytes += static_cast<size_t>(count);
  }
  return {};
}

std::error_code File::Append(std::span<const std::byte> bytes) {
  return WriteAll(Number(handle_), bytes);
}

std::error_code File::Truncate(uint64_t size_bytes) {
  return ErrorUnless(ftruncate(Number(handle_), static_cast<off_t>(size_bytes)) == 0);
}

std::error_code File::Sync() {
  return ErrorUnless(fdatasync(Number(handle_)) == 0);
}

std::error_code File::LetEverybodyRead() {
  return ErrorUnless(fchmod(Number(handle_), 0644) == 0);
}

std::error_code File::Close() {
  return ErrorUnless(close(Number(std::exchange(handle_, kNoHandle))) == 0);
}

bool File::TryLock() {
  return flock(Number(handle_), LOCK_EX | LOCK_NB) == 0;
}

std::error_code File::Lock() {
  while (flock(Number(handle_), LOCK_EX) != 0) {
    if (errno != EINTR) return ErrorOf(errno);
  }
  return {};
}

bool File::IsAt(const FilePath& path) const {
  struct stat opened {};
  struct stat named {};
  return fstat(Number(handle_), &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

std::FILE* OpenStream(const FilePath& path) {
  return std::fopen(path.c_str(), "rb");
}

bool IsOfAnother(const FilePath& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 && info.st_uid != geteuid() &&
         OthersCanWriteTo(path.parent_path());
}

std::error_code Rename(const FilePath& path, const FilePath& new_path) {
  // Root could, and everybody in a folder without the sticky bit.
  if (IsOfAnother(new_path)) return std::make_error_code(std::errc::operation_not_permitted);
  return ErrorUnless(rename(path.c_str(), new_path.c_str()) == 0);
}

std::error_code RenameToFree(const FilePath& path, const FilePath& free_path) {
  if (renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, free_path.c_str(), RENAME_NOREPLACE) == 0) {
    return {};
  }
  // Not every file system can rename without replacing.
  if (errno != EINVAL && errno != ENOSYS) return ErrorOf(errno);
  if (link(path.c_str(), free_path.c_str()) != 0) return ErrorOf(errno);
  return ErrorUnless(unlink(path.c_str()) == 0);
}

void CopyPermissions(const FilePath& from, const FilePath& to) {
  struct stat wanted {};
  struct stat opened {};
  const int file = open(to.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return;
  if (stat(from.c_str(), &wanted) == 0 && fstat(file, &opened) == 0 && opened.st_uid == geteuid() &&
      opened.st_nlink == 1 && S_ISREG(opened.st_mode)) {
    (void)fchmod(file, wanted.st_mode & 0777);
  }
  close(file);
}

std::error_code RemoveFile(const FilePath& path) {
  return ErrorUnless(unlink(path.c_str()) == 0);
}

std::error_code MakeFolders(const FilePath& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  return error;
}

std::error_code MakePrivateFolder(const FilePath& folder) {
  if (mkdir(folder.c_str(), S_IRWXU) == 0) return {};
  return std::error_code(errno, std::generic_category());
}

void SyncFolder(const FilePath& folder) {
  const int opened =
      open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  fsync(opened);
  close(opened);
}

std::error_code CheckCreation(const FilePath& path) {
  const std::filesystem::path folder = path.parent_path();
  // A file without a name shows what access() cannot: read-only mounts, quotas, root's powers.
  int opened =
      open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kOwnerOnly);
  if (opened < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    opened = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kOwnerOnly);
    if (opened >= 0) unlink(path.c_str());
  }
  if (opened < 0) return ErrorOf(errno);
  close(opened);
  return {};
}

size_t MostBytesOfName(const FilePath& folder) {
  const long most = pathconf(folder.empty() ? "." : folder.c_str(), _PC_NAME_MAX);
  return most <= 0 ? 0 : static_cast<size_t>(most);
}

void TellFileLimitsAsErrors() {
  struct sigaction before {};
  if (sigaction(SIGXFSZ, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return;
  // exec takes a handler away, but would pass on that it is ignored.
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  (void)sigaction(SIGXFSZ, &action, nullptr);
}

bool IsOutOfSpace(const std::error_code& error) {
  return error == std::errc::no_space_on_device || error == ErrorOf(EDQUOT);
}

Status StatusFromError(const std::error_code& error, const std::string& what) {
  return StatusFromErrno(error.value(), what);
}

}  // namespace cairn
