// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "format/file/byte_source.h"
#include "os/file.h"

namespace cairn {
namespace {

class FileSource : public ByteSource {
 public:
  FileSource(File file, uint64_t size_bytes) : file_(std::move(file)), size_bytes_(size_bytes) {}

  uint64_t size_bytes() const override { return size_bytes_; }

  Status ReadAt(uint64_t offset, std::span<std::byte> bytes) const override {
    size_t read = 0;
    const std::error_code error = file_.ReadAt(offset, bytes, &read);
    if (!error && read == bytes.size()) return Status();
    const uint64_t end = offset + read;
    const size_t missing = bytes.size() - read;
    if (error) {
      return StatusFromError(error, fmt::format("cannot read {} bytes at offset {}", missing, end));
    }
    return Status(StatusCode::kIo, fmt::format("the file ends at offset {}, {} bytes early: "
                                               "it became shorter while it was read",
                                               end, missing));
  }

 private:
  File file_;
  uint64_t size_bytes_;
};

Status OpenError(const std::string& path, const std::error_code& error) {
  const Status status = StatusFromError(error, "cannot open " + VisibleText(path));
  const std::string part_path = path + ".part";
  using std::filesystem::file_type;
  const file_type part = FactsAt(part_path).type;
  if (error != std::errc::no_such_file_or_directory || part == file_type::not_found ||
      part == file_type::none) {
    return status;
  }
  return Status(status.code(),
                fmt::format("{}; its writer was interrupted or is still writing: open {}",
                            status.message(), VisibleText(part_path)));
}

}  // namespace

Result<std::unique_ptr<ByteSource>> OpenFileSource(const std::string& path) {
  std::error_code error;
  File file = File::Open(path, FileMode::kRead, error);
  if (error) return OpenError(path, error);
  const FileFacts facts = file.facts();
  if (facts.type == std::filesystem::file_type::regular) {
    return std::unique_ptr<ByteSource>(
        std::make_unique<FileSource>(std::move(file), facts.size_bytes));
  }
  const bool folder = facts.type == std::filesystem::file_type::directory;
  return Status(StatusCode::kInvalidArgument,
                fmt::format("cannot open {}: it is {}, not a .cairn file", VisibleText(path),
                            folder ? "a directory" : "a device or a pipe"));
}

}  // namespace cairn
