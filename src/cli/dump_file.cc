// SPDX-License-Identifier: Apache-2.0
#include "cli/dump_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/mistaken_word.h"
#include "cli/reading_limits.h"
#include "cli/verb.h"
#include "format/snapshot/snapshot_file.h"
#include "format/trace/trace_writer.h"

namespace cairn::cli {

namespace {

const char* NextStep(StatusCode code) {
  switch (code) {
    case StatusCode::kNotFound: return "; cairn run -- PROGRAM writes one when PROGRAM crashes";
    case StatusCode::kInvalidArgument:
    case StatusCode::kCorrupt: return "; give a file that cairn run has written";
    default: return "";
  }
}

std::string FirstLoss(const FileReader& reader) {
  const std::vector<Loss>& losses = reader.losses();
  if (losses.empty()) return "";
  const std::string others =
      losses.size() == 1 ? ""
                         : fmt::format(" (and {} more; cairn info lists them)", losses.size() - 1);
  return losses.front().reason + others;
}

// A capture of a program that ended well.
bool HoldsTrace(const FileReader& reader) {
  return std::any_of(reader.chunks().begin(), reader.chunks().end(),
                     [](const ChunkInfo& chunk) { return chunk.type == kTraceTableChunk; });
}

}  // namespace

std::optional<FileReader> OpenDumpFile(std::string_view verb, const std::string& path) {
  if (path.empty()) {
    PrintError(verb, fmt::format("no file is given; say cairn {} FILE.cairn", verb));
    return std::nullopt;
  }
  LimitReading(verb, path);
  Result<FileReader> reader = FileReader::Open(path);
  if (reader.ok()) return std::move(reader).value();
  const std::string mistaken = MistakenForFile(verb, path, NeededFile::kAny);
  PrintError(verb, mistaken.empty() ? reader.status().message() + NextStep(reader.status().code())
                                    : mistaken);
  return std::nullopt;
}

std::optional<Snapshot> ReadDump(std::string_view verb, const std::string& path,
                                 const FileReader& reader) {
  Result<Snapshot> snapshot = ReadSnapshot(reader);
  if (!snapshot.ok() && reader.losses().empty() && HoldsTrace(reader)) {
    PrintError(verb, fmt::format("{} is a trace without a report: nothing went wrong while it was "
                                 "recorded; cairn info and cairn calls show it",
                                 path));
    return std::nullopt;
  }
  if (!snapshot.ok()) {
    if (HoldsTrace(reader)) {
      PrintError(
          verb,
          fmt::format("{} is a trace without a readable report: {}; cairn calls shows what is left",
                      path, FirstLoss(reader)));
      return std::nullopt;
    }
    PrintError(verb, reader.losses().empty()
                         ? fmt::format("{}: {}", path, snapshot.status().message())
                         : fmt::format("{}: too little of the file is left for a report: {}", path,
                                       FirstLoss(reader)));
    return std::nullopt;
  }
  if (!reader.losses().empty()) {
    PrintWarning(verb, fmt::format("{} is damaged; only the readable part is shown: {}", path,
                                   FirstLoss(reader)));
  }
  return std::move(snapshot).value();
}

}  // namespace cairn::cli
