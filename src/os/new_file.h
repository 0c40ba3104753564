// SPDX-License-Identifier: Apache-2.0
//
// Makes files by one rule for all that Cairn writes, except for .cairn files, whose sink
// (format/file/byte_sink.h) keeps the same rule and allows unfinished files to be read.
//
// - A file is written under a name that nobody can guess, "PATH.1f2e3d4c.part", which is made for it: nothing that has
//   that name is opened, and no link is followed. It gets its own name once it is whole. One that could not be written
//   whole is taken away.
// - It is for its owner alone, unless whoever calls says that it is for everybody.
// - In a folder that others can write to, no file of another user gives up its name (Rename in os/file.h).
#ifndef CAIRN_OS_NEW_FILE_H_
#define CAIRN_OS_NEW_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>
#include <utility>

#include "os/file.h"

namespace cairn {

enum class FileReaders : uint8_t {
  kOwner,
  kEverybody,  // manual pages
};

enum class TakenName : uint8_t {
  kReplace,  // takes the name from a file, or from a link, which leads on to what it led to
  kRefuse,   // errc::file_exists
};

// One thread. Threads and processes that make the same file at once do not disturb each other: the last one to finish
// has it.
class NewFile {
 public:
  // Makes the file. On an error the result is not valid(): the folder's error, or errc::file_exists
  // if no name is free.
  static NewFile Make(const FilePath& path, std::error_code& error);

  NewFile() = default;
  // Deletes an unfinished file.
  ~NewFile();
  NewFile(NewFile&& other) noexcept
      : path_(std::move(other.path_)),
        part_(std::move(other.part_)),
        file_(std::move(other.file_)) {}
  NewFile& operator=(NewFile&& other) = delete;

  bool valid() const { return file_.valid(); }

  // All bytes, behind those before, or an error: then Finish must not be called.
  std::error_code Append(std::span<const std::byte> bytes) { return file_.Append(bytes); }
  // Gives the file its name. Not synced: after a crash of the machine it may be empty. With an error nothing of it is
  // left, and what had the name has it still. Once.
  std::error_code Finish(TakenName taken, FileReaders readers = FileReaders::kOwner);

 private:
  FilePath path_{""};
  FilePath part_{""};
  File file_;
};

// Writes a file at once: readers find the earlier contents or all new ones, never a part.
std::error_code ReplaceFile(const FilePath& path, std::span<const std::byte> bytes,
                            FileReaders readers = FileReaders::kOwner);

}  // namespace cairn

#endif  // CAIRN_OS_NEW_FILE_H_
