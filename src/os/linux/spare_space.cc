// SPDX-License-Identifier: Apache-2.0
#include "os/spare_space.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "os/linux/file_descriptor.h"

namespace cairn {

SpareSpace SpareSpace::Take(const FilePath& folder, uint64_t bytes, std::error_code& error) {
  SpareSpace space;
  error.clear();
  FileDescriptor file(open(folder.empty() ? "." : folder.c_str(),
                           O_TMPFILE | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
  if (!file.valid() ||
      fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) != 0) {
    error = {errno, std::generic_category()};
    return space;
  }
  space.file_ = std::move(file);
  return space;
}

File SpareSpace::Become(const FilePath& path, std::error_code& error) {
  error.clear();
  // open(2), of O_TMPFILE: the way that needs no privilege.
  const std::string own = fmt::format("/proc/self/fd/{}", DescriptorOf(file_));
  if (linkat(AT_FDCWD, own.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    error = {errno, std::generic_category()};
    if (errno != EEXIST) file_.Close();
    return {};
  }
  File file = File::Open(path, FileMode::kWriteItself, error);
  file_.Close();
  return file;
}

}  // namespace cairn
