// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_OS_SPARE_SPACE_H_
#define CAIRN_OS_SPARE_SPACE_H_

#include <cstdint>
#include <system_error>

#include "os/file.h"
#include "os/handle.h"

namespace cairn {

// Space on a disk that a file will be sure of, also when others have filled the disk meanwhile. It has no name, and goes
// with this process, however that ends. One thread.
class SpareSpace {
 public:
  SpareSpace() = default;

  // For files in `folder`, "" for the working directory. Not valid() with an error: IsOutOfSpace, or that the file system
  // cannot do it; so it is on Windows.
  static SpareSpace Take(const FilePath& folder, uint64_t bytes, std::error_code& error);

  bool valid() const { return file_.valid(); }

  // Becomes a new file, empty, to which as much can be appended: as File::Open with FileMode::kCreate, and its errors.
  // Once: no longer valid() afterwards, but for errc::file_exists.
  File Become(const FilePath& path, std::error_code& error);

 private:
  SystemHandle file_;
};

}  // namespace cairn

#endif  // CAIRN_OS_SPARE_SPACE_H_
