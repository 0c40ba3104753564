// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "watch/output_path.h"

namespace cairn {
namespace {

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

std::string DefaultOutputPath(const std::string& program) {
  const std::string name = program.substr(program.rfind('/') + 1);
  return (name.empty() ? "program" : name) + ".cairn";
}

std::string OutputPathOfProcess(const std::string& output_path, int64_t process_id) {
  const size_t name_start = output_path.rfind('/') + 1;
  const size_t dot = output_path.rfind('.');
  const bool has_extension = dot != std::string::npos && dot > name_start;
  const size_t stem_end = has_extension ? dot : output_path.size();
  return fmt::format("{}-{}{}", output_path.substr(0, stem_end), process_id,
                     output_path.substr(stem_end));
}

std::string ShellQuoted(const std::string& word) {
  constexpr char kHarmless[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:@%,";
  if (!word.empty() && word.find_first_not_of(kHarmless) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

Status CheckOutputPath(const std::string& output_path) {
  struct stat info {};
  if (output_path.empty() || output_path.back() == '/') {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("'{}' names no file; give a file with -o FILE", output_path));
  }
  if (stat(output_path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("'{}' is {}; give a file with -o FILE", output_path,
                              S_ISDIR(info.st_mode) ? "a directory" : "not a regular file"));
  }
  const std::string directory = DirectoryOf(output_path);
  // A file without a name shows what access() cannot: read-only mounts, quotas, root's powers.
  int fd = open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    const std::string probe = fmt::format("{}.part", output_path);
    fd = open(probe.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0) unlink(probe.c_str());
  }
  if (fd < 0) {
    return Status(
        StatusCode::kIo,
        fmt::format("no file can be written in directory '{}' ({}); give another with -o FILE",
                    directory, strerror(errno)));
  }
  close(fd);
  return Status();
}

}  // namespace cairn
