// SPDX-License-Identifier: Apache-2.0
#include "watcher/output_path.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/program_name.h"
#include "base/text.h"
#include "format/file/byte_sink.h"
#include "os/file.h"

namespace cairn {

namespace fs = std::filesystem;
namespace {

std::string DirectoryOf(const std::string& path) {
  const std::string directory = TextOfPath(FilePath(path).parent_path());
  return directory.empty() ? "." : directory;
}

// A program calls itself what it likes: of longer names a file's name has the beginning.
constexpr size_t kMostBytesOfDefault = 200;

// Counts behind the last slash; on Windows also behind the last backslash, or "C:".
size_t BytesOfName(const std::string& path) {
  return TextOfPath(FilePath(path).filename()).size();
}

// Returns the bytes by which the name is too long for the files that are written beside it:
// "-PID-NUMBER" and ".part.old", which is more than the ".untested.part" of cairn bisect.
size_t BytesTooMany(const std::string& path, const std::string& directory) {
  constexpr size_t kRoomBytes = std::string_view("-4194304-16.part.old").size();
  const size_t most_bytes = MostBytesOfName(directory);
  const size_t name_bytes = BytesOfName(path) + kRoomBytes;
  return most_bytes != 0 && name_bytes > most_bytes ? name_bytes - most_bytes : 0;
}

}  // namespace

bool IsThere(const std::string& path) {
  const fs::file_type type = FactsOfName(path).type;
  return type != fs::file_type::none && type != fs::file_type::not_found;
}

std::string DefaultOutputPath(const std::string& program) {
  std::string_view name = NameOfProgram(program);
  if (name.size() > kMostBytesOfDefault) {
    size_t end = kMostBytesOfDefault;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;  // UTF-8
    name = name.substr(0, end);
  }
  return std::string(name.empty() ? "program" : name) + ".cairn";
}

std::string OutputPathOfProcess(const std::string& output_path, int64_t process_id,
                                uint32_t number) {
  const size_t name_start = output_path.size() - BytesOfName(output_path);
  const size_t dot = output_path.rfind('.');
  const bool has_extension = dot != std::string::npos && dot > name_start;
  const size_t stem_end = has_extension ? dot : output_path.size();
  return fmt::format("{}-{}{}{}", output_path.substr(0, stem_end), process_id,
                     number == 1 ? "" : fmt::format("-{}", number), output_path.substr(stem_end));
}

Status CheckOutputPath(const std::string& output_path) {
  if (output_path.empty() || BytesOfName(output_path) == 0) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("'{}' names no file; give a file with -o FILE", output_path));
  }
  using std::filesystem::file_type;
  const file_type type = FactsAt(output_path).type;
  if (type != file_type::none && type != file_type::not_found && type != file_type::regular) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("'{}' is {}; give a file with -o FILE", output_path,
                              type == file_type::directory ? "a directory" : "not a regular file"));
  }
  const std::string directory = DirectoryOf(output_path);
  if (const size_t too_many = BytesTooMany(output_path, directory); too_many != 0) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("the name of '{}' is {} byte{} too long: the file that is written first "
                    "has a longer one; give a shorter name with -o FILE",
                    output_path, too_many, too_many == 1 ? "" : "s"));
  }
  const std::error_code error = CheckCreation(output_path + ".part");
  if (error) {
    return Status(
        StatusCode::kIo,
        fmt::format("no file can be written in directory '{}' ({}); give another with -o FILE",
                    directory, error.default_error_condition().message()));
  }
  // Checks now what would prevent the report from being written, perhaps hours from now.
  const Status part = CheckFileSink(output_path);
  if (part.ok()) return part;
  return Status(StatusCode::kInvalidArgument, part.message());
}

bool IsSameFile(const std::string& one, const std::string& other) {
  std::error_code error;
  if (fs::equivalent(FilePath(one), FilePath(other), error)) return true;
  const auto canonical = [](const FilePath& path) {
    std::error_code unknown;
    const fs::path absolute = fs::absolute(path, unknown);
    fs::path found = fs::weakly_canonical(absolute, unknown);
    return unknown ? absolute.lexically_normal() : found;
  };
  return canonical(one) == canonical(other);
}

}  // namespace cairn
