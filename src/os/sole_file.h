// SPDX-License-Identifier: Apache-2.0
//
// A file that one process has at a time: for what a program keeps from one run to the next. For one thread.
#ifndef CAIRN_OS_SOLE_FILE_H_
#define CAIRN_OS_SOLE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace cairn {

class SoleFile {
 public:
  enum class Existing : uint8_t { kOpened, kRefused };
  // Opens the file, or makes one that nobody but this user may read. Nothing: another process has it. Errors, of
  // this and all others: what the system says, with the path.
  static Result<std::optional<SoleFile>> Open(const std::string& path,
                                              Existing existing = Existing::kOpened);
  SoleFile(SoleFile&& other) noexcept
      : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, kNone)) {}
  SoleFile& operator=(SoleFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~SoleFile() { Close(); }

  // From its beginning, at most so many bytes.
  Result<std::string> Read(size_t most_bytes) const;
  // What stands from `offset` on goes; Write goes on there.
  Status CutAt(uint64_t offset) const;
  Status Write(std::string_view bytes) const;
  // What was written is on the disk when it returns, if the file is on one.
  Status Sync() const;
  // Nobody else had it between its opening and this. It is closed then.
  Status Remove();

 private:
  static constexpr intptr_t kNone = -1;
  SoleFile(std::string path, intptr_t handle) : path_(std::move(path)), handle_(handle) {}
  void Close();

  std::string path_;
  intptr_t handle_ = kNone;
};

// Gives a file another name. Fails if there is something of that name.
Status RenameToFreeName(const std::string& path, const std::string& free_path);

}  // namespace cairn

#endif  // CAIRN_OS_SOLE_FILE_H_
