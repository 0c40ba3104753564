// SPDX-License-Identifier: Apache-2.0
#include "watcher/output_file.h"

#include <utility>

namespace cairn {
namespace {

// The number of other names to try; if all of them are taken, another user blocks the name on
// purpose.
constexpr int kOtherNames = 4;

}  // namespace

Result<OutputFile> CreateOutput(const std::string& path,
                                const std::function<std::string()>& other_name, SpareSpace* space) {
  Result<FileWriter> wanted = FileWriter::Create(path, Compression::kZstd, space);
  if (wanted.ok()) return OutputFile{std::move(wanted).value(), path, ""};
  for (int i = 0; i < kOtherNames && other_name; ++i) {
    const std::string other = other_name();
    if (other.empty()) break;
    Result<FileWriter> file = FileWriter::Create(other, Compression::kZstd, space);
    if (file.ok()) return OutputFile{std::move(file).value(), other, wanted.status().message()};
  }
  return wanted.status();
}

}  // namespace cairn
