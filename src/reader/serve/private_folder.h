// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_READER_SERVE_PRIVATE_FOLDER_H_
#define CAIRN_READER_SERVE_PRIVATE_FOLDER_H_

#include <filesystem>
#include <utility>

#include "base/status.h"

namespace cairn {

// A folder for this user alone, in that for temporary files (TMPDIR, on Windows TMP), and gone with its object.
class PrivateFolder {
 public:
  // Errors: kIo; what the system says of the folder for temporary files.
  static Result<PrivateFolder> Make();

  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit PrivateFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace cairn

#endif  // CAIRN_READER_SERVE_PRIVATE_FOLDER_H_
