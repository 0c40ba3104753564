// SPDX-License-Identifier: Apache-2.0
//
// Files, as far as std::filesystem and streams do not go: names that nobody else takes, locks, bytes that
// survive a crash of the machine. Errors are those of the system, to be compared with std::errc.
#ifndef CAIRN_OS_FILE_H_
#define CAIRN_OS_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/status.h"

namespace cairn {

enum class FileMode : uint8_t {
  kRead,          // what is there
  kWrite,         // what is there: a file, or a device
  kWriteItself,   // the same, but nothing that a symbolic link leads to
  kCreate,        // a new file, to read and to write; errc::file_exists if anything has its name
  kOpenOrCreate,  // the same, or the file that is there
};

struct FileFacts {
  std::filesystem::file_type type = std::filesystem::file_type::none;  // none: it could not be told
  uint64_t size_bytes = 0;                                             // of a regular file
};

// An open file, closed with its object, not inherited by programs that are started. One thread at a time,
// but for ReadAt.
class File {
 public:
  // New files can be read and written by their owner alone. Opening for reading, and what kWriteItself
  // opens, never waits for the other end of a pipe. Not valid() with an error.
  static File Open(const std::filesystem::path& path, FileMode mode, std::error_code& error);

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
  // Tells what a file system only knows at the end, which the destructor swallows.
  std::error_code Close();

  // Keeps out others who lock the same file, and nobody else, until it is closed or the process ends.
  // False: somebody has it, or files cannot be locked there.
  bool TryLock();
  // The same, and waits.
  std::error_code Lock();
  // Whether `path`, through symbolic links, names this very file.
  bool IsAt(const std::filesystem::path& path) const;

 private:
  static constexpr intptr_t kNoHandle = -1;

  intptr_t handle_ = kNoHandle;
};

// Makes or replaces a file when all is written: readers find what was there before or everything, never half
// a file. Writers in other processes do not disturb each other, other threads do. Not synced.
std::error_code ReplaceFile(const std::filesystem::path& path, std::span<const std::byte> bytes);

// Gives a file another name. errc::file_exists if that is taken: nothing is ever replaced.
std::error_code RenameToFree(const std::filesystem::path& path,
                             const std::filesystem::path& free_path);

// Makes new names in the folder survive a crash of the machine, as far as the system does that at all.
void SyncFolder(const std::filesystem::path& folder);

// The error that a file at `path`, which is not there, could not be made with. Sees read-only file systems
// and quotas; leaves nothing behind.
std::error_code CheckCreation(const std::filesystem::path& path);

// How long a name in this folder may be, in bytes; 0: unknown.
size_t MostBytesOfName(const std::filesystem::path& folder);

// There is no space left, or none that this user may have.
bool IsOutOfSpace(const std::error_code& error);

// "`what`: the system's words for it".
Status StatusFromError(const std::error_code& error, const std::string& what);

}  // namespace cairn

#endif  // CAIRN_OS_FILE_H_
