// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "format/file/byte_source.h"

namespace cairn {
namespace {

class FileSource : public ByteSource {
 public:
  FileSource(int fd, uint64_t size_bytes) : fd_(fd), size_bytes_(size_bytes) {}
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override { close(fd_); }

  uint64_t size_bytes() const override { return size_bytes_; }

  Status ReadAt(uint64_t offset, std::span<std::byte> bytes) const override {
    while (!bytes.empty()) {
      const ssize_t read = pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (read < 0 && errno == EINTR) continue;
      if (read < 0) {
        return StatusFromErrno(
            errno, fmt::format("cannot read {} bytes at offset {}", bytes.size(), offset));
      }
      if (read == 0) {
        return Status(StatusCode::kIo, fmt::format("the file ends at offset {}, {} bytes early: "
                                                   "it became shorter while it was read",
                                                   offset, bytes.size()));
      }
      offset += static_cast<uint64_t>(read);
      bytes = bytes.subspan(static_cast<size_t>(read));
    }
    return Status();
  }

 private:
  int fd_;
  uint64_t size_bytes_;
};

Status OpenError(const std::string& path, int error_number) {
  const Status status = StatusFromErrno(error_number, "cannot open " + VisibleText(path));
  const std::string part_path = path + ".part";
  struct stat part {};
  if (error_number != ENOENT || stat(part_path.c_str(), &part) != 0) return status;
  return Status(status.code(),
                fmt::format("{}; its writer was interrupted or is still writing: open {}",
                            status.message(), VisibleText(part_path)));
}

}  // namespace

Result<std::unique_ptr<ByteSource>> OpenFileSource(const std::string& path) {
  // Non-blocking, so that opening a pipe by mistake returns.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return OpenError(path, errno);
  struct stat info {};
  const bool known = fstat(fd, &info) == 0;
  if (known && S_ISREG(info.st_mode)) {
    return std::unique_ptr<ByteSource>(
        std::make_unique<FileSource>(fd, static_cast<uint64_t>(info.st_size)));
  }
  close(fd);
  const bool folder = known && S_ISDIR(info.st_mode);
  return Status(StatusCode::kInvalidArgument,
                fmt::format("cannot open {}: it is {}, not a .cairn file", VisibleText(path),
                            folder ? "a directory" : "a device or a pipe"));
}

}  // namespace cairn
