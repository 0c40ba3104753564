// SPDX-License-Identifier: Apache-2.0
//
// Files, as far as std::filesystem and streams do not go: names that nobody else takes, locks, bytes that
// survive a crash of the machine, and names of more than 260 characters, which the standard library does not take on
// Windows. Errors are those of the system, to be compared with std::errc.
#ifndef CAIRN_OS_FILE_H_
#define CAIRN_OS_FILE_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/status.h"

namespace cairn {

// The type of paths in these functions. Text is UTF-8 on every system, and bytes on Linux; the
// standard library makes something else of it on Windows.
class FilePath : public std::filesystem::path {
 public:
  FilePath(const std::filesystem::path& path) : std::filesystem::path(path) {}  // NOLINT: implicit
  FilePath(const std::string& text) : FilePath(text.data(), text.size()) {}     // NOLINT: implicit
  FilePath(const char* text) : FilePath(text, std::strlen(text)) {}             // NOLINT: implicit

 private:
  FilePath(const char* text, size_t size)
      : std::filesystem::path(std::u8string(text, text + size)) {}
};
// The other way round.
inline std::string TextOfPath(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return std::string(text.begin(), text.end());
}

enum class FileMode : uint8_t {
  kRead,         // what is there
  kWrite,        // what is there: a file, or a device
  kWriteItself,  // the same, but nothing that a symbolic link leads to
  kCreate,       // a new file, to read and to write; errc::file_exists if anything has its name
  // The same, or the file that is there, but nothing that a symbolic link leads to. In a folder that others can write to:
  // errc::operation_not_permitted unless it is this user's, and has no other name.
  kOpenOrCreate,
};

struct FileFacts {
  std::filesystem::file_type type = std::filesystem::file_type::none;  // none: it could not be told
  uint64_t size_bytes = 0;                                             // of a regular file
};
// Returns the facts of the file at `path`, through symbolic links; file_type::not_found if there is
// none.
FileFacts FactsAt(const FilePath& path);
// Returns the facts of the name itself, even if it is a link.
FileFacts FactsOfName(const FilePath& path);

// An open file, closed with its object, not inherited by programs that are started. One thread at a time,
// but for ReadAt.
class File {
 public:
  // New files can be read and written by their owner alone. Opening for reading, and what kWriteItself
  // opens, never waits for the other end of a pipe. Not valid() with an error.
  static File Open(const FilePath& path, FileMode mode, std::error_code& error);

  File() = default;
  ~File();
  File(File&& other) noexcept : handle_(std::exchange(other.handle_, kNoHandle)) {}
  File& operator=(File&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  bool valid() const { return handle_ != kNoHandle; }
  FileFacts facts() const;

  // Any thread. `*read_bytes` is less than bytes.size() where the file ends, or with an error.
  std::error_code ReadAt(uint64_t offset, std::span<std::byte> bytes, size_t* read_bytes) const;
  // All bytes, at the end of the file. With an error an unknown part of them may be there.
  std::error_code Append(std::span<const std::byte> bytes);
  // Drops what is behind the first `size_bytes` bytes.
  std::error_code Truncate(uint64_t size_bytes);
  // Returns once what was written survives a crash of the machine. errc::invalid_argument: that means
  // nothing here, as of a device.
  std::error_code Sync();
  // Makes a new file readable for every user. Does nothing on Windows: there the folder says who may read its files.
  std::error_code LetEverybodyRead();
  // Reports errors that a file system finds only at the end; the destructor drops them.
  std::error_code Close();

  // Locks the file against others that lock it, until it is closed or the process ends. Readers and
  // writers without a lock are not affected. False: another process has the lock, or files cannot
  // be locked there.
  bool TryLock();
  // The same, and waits.
  std::error_code Lock();
  // Returns true if `path`, through symbolic links, names this very file.
  bool IsAt(const FilePath& path) const;

 private:
  static constexpr intptr_t kNoHandle = -1;

  intptr_t handle_ = kNoHandle;
};

// For reading one after the other what need not be a file: fopen(path, "rb"), with its errno.
std::FILE* OpenStream(const FilePath& path);

// Returns true if `path` belongs to another user and its folder can be written by others, as its mode says. Does not
// follow a link at `path`. Such a file is neither written nor replaced: others can put files there that pass for this
// user's own. Always false on Windows, where the access list of the folder is not read.
bool IsOfAnother(const FilePath& path);

// Gives a file another name, and takes that from a file that has it. errc::device_or_resource_busy:
// that file is open, and the system keeps its name (Windows before version 10).
// errc::operation_not_permitted: IsOfAnother. Nothing has changed then.
std::error_code Rename(const FilePath& path, const FilePath& new_path);

// The same. errc::file_exists if the name is taken: nothing is ever replaced.
std::error_code RenameToFree(const FilePath& path, const FilePath& free_path);

// Gives `to` the mode of `from`, so that a user who may not read one may not read the other. On
// Windows the folder decides who may read a file. `to` stays untouched unless it is this user's own
// file, and no link.
void CopyPermissions(const FilePath& from, const FilePath& to);

// Takes a file away, or a link, never a folder. errc::no_such_file_or_directory if there is none.
std::error_code RemoveFile(const FilePath& path);

// Makes the folder, and those above it, as far as they are missing.
std::error_code MakeFolders(const FilePath& folder);

// Makes a folder that only this user may read. errc::file_exists if the name is taken.
std::error_code MakePrivateFolder(const FilePath& folder);

// Makes new names in the folder survive a crash of the machine, as far as the system does that at all.
void SyncFolder(const FilePath& folder);

// The error that a file at `path`, which is not there, could not be made with. Sees read-only file systems
// and quotas; leaves nothing behind.
std::error_code CheckCreation(const FilePath& path);

// Returns the length of the longest name in this folder, in bytes; 0: unknown.
size_t MostBytesOfName(const FilePath& folder);

// Makes a write beyond the limit of the size of files (ulimit -f) an error instead of the end of
// this process; programs that it starts keep the default. Call it once, at the start. Does nothing
// on Windows.
void TellFileLimitsAsErrors();

// Returns true if there is no space left, or none that this user may use.
bool IsOutOfSpace(const std::error_code& error);

// "`what`: the system's words for it".
Status StatusFromError(const std::error_code& error, const std::string& what);

}  // namespace cairn

#endif  // CAIRN_OS_FILE_H_
