// SPDX-License-Identifier: Apache-2.0
#include "cli/dump_file.h"

#include <fmt/format.h>

#include <utility>

#include "cli/verb.h"
#include "snapshot/snapshot_file.h"

namespace cairn::cli {

std::optional<FileReader> OpenDumpFile(std::string_view verb, const std::string& path) {
  if (path.empty()) {
    PrintError(verb, fmt::format("no file is given; say cairn {} FILE.cairn", verb));
    return std::nullopt;
  }
  Result<FileReader> reader = FileReader::Open(path);
  if (!reader.ok()) {
    PrintError(verb, reader.status().message());
    return std::nullopt;
  }
  const std::vector<Loss>& losses = reader->losses();
  if (!losses.empty()) {
    PrintWarning(
        verb, fmt::format("'{}' is damaged, and what is left of it is shown: {}{}", path,
                          losses.front().reason,
                          losses.size() == 1 ? ""
                                             : fmt::format(" (and {} more; cairn info lists them)",
                                                           losses.size() - 1)));
  }
  return std::move(reader).value();
}

std::optional<Snapshot> ReadDump(std::string_view verb, const std::string& path,
                                 const FileReader& reader) {
  Result<Snapshot> snapshot = ReadSnapshot(reader);
  if (snapshot.ok()) return std::move(snapshot).value();
  PrintError(verb, fmt::format("'{}': {}", path, snapshot.status().message()));
  return std::nullopt;
}

}  // namespace cairn::cli
