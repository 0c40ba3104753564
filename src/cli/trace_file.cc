// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/mistaken_word.h"
#include "cli/reading_limits.h"
#include "cli/verb.h"
#include "format/snapshot/snapshot_file.h"
#include "format/trace/trace_tables.h"
#include "os/file.h"

namespace cairn::cli {
namespace {

const char* NextStep(StatusCode code) {
  switch (code) {
    case StatusCode::kNotFound: return "; cairn run --capture -- PROGRAM records one";
    case StatusCode::kInvalidArgument:
    case StatusCode::kCorrupt: return "; give a file that cairn run --capture has written";
    default: return "";
  }
}

std::string WhyNoTrace(std::string_view verb, const std::string& path, const Status& status) {
  const std::string mistaken = MistakenForFile(verb, path, NeededFile::kTrace);
  if (!mistaken.empty()) return mistaken;
  if (RunsPrograms(verb) && !path.ends_with(".cairn") &&
      FactsAt(path).type == std::filesystem::file_type::not_found) {
    return fmt::format("{}; for a program say cairn {} -- PROGRAM", status.message(), verb);
  }
  const std::string why = status.message() + NextStep(status.code());
  if (status.code() != StatusCode::kNotFound) return why;
  const Result<FileReader> file = FileReader::Open(path);
  if (!file.ok() || !ReadSnapshot(*file).ok()) return why;
  return fmt::format(
      "{}; cairn report {} shows what it holds{}", why, ShellQuoted(path),
      RunsPrograms(verb) ? fmt::format("; cairn {} -- PROGRAM needs no trace", verb) : "");
}

// Returns true if only the end is missing: the writer was stopped, or the copy was.
bool IsCut(const TraceReader& trace) {
  if (trace.finished() || trace.file().has_index()) return false;
  const uint64_t last_records =
      trace.spans().empty() ? 0 : trace.file().chunks()[trace.spans().back().chunk].offset;
  return std::all_of(trace.losses().begin(), trace.losses().end(),
                     [&](const Loss& loss) { return loss.offset > last_records; });
}

// Returns the first part that is lost or unreadable; "" if there is none.
std::string FirstDamage(const TraceReader& trace) {
  if (!trace.losses().empty()) return trace.losses().front().reason;
  return UnknownEncodingInWords(trace.file());
}

}  // namespace

std::string UnknownEncodingInWords(const FileReader& file) {
  for (const ChunkInfo& chunk : file.chunks()) {
    if ((chunk.flags & kChunkUnknownEncoding) == 0) continue;
    return fmt::format(
        "the {} chunk at offset {} is stored in a way that this version does not know, "
        "and a newer Cairn reads",
        VisibleText(ChunkTypeName(chunk.type)), chunk.offset);
  }
  return "";
}

std::optional<TraceReader> OpenTraceFileQuietly(std::string_view verb, const std::string& path,
                                                Check check) {
  if (path.empty()) {
    PrintError(verb, fmt::format("no file is given; say cairn {} FILE.cairn", verb));
    return std::nullopt;
  }
  Result<TraceReader> trace = TraceReader::Open(path, check);
  if (trace.ok()) return std::move(trace).value();
  PrintError(verb, WhyNoTrace(verb, path, trace.status()));
  return std::nullopt;
}

bool RefuseWithoutShaders(std::string_view verb, const std::string& path,
                          const TraceReader& trace) {
  if (!trace.table().redaction.shaders) return false;
  PrintError(verb, fmt::format("{} holds hashes instead of shaders (cairn repack "
                               "--redact=shaders), so it cannot be played; cairn calls, objects "
                               "and state read it",
                               path));
  return true;
}

std::optional<TraceReader> OpenTraceToPlay(std::string_view verb, const std::string& path) {
  std::optional<TraceReader> trace = OpenTraceFileQuietly(verb, path);
  if (!trace.has_value() || RefuseWithoutShaders(verb, path, *trace)) return std::nullopt;
  if (IsCut(*trace)) PrintWarning(verb, DamageInWords(path, *trace));
  return trace;
}

std::optional<TraceReader> OpenTraceFile(std::string_view verb, const std::string& path,
                                         Check check) {
  LimitReading(verb, path);
  std::optional<TraceReader> trace = OpenTraceFileQuietly(verb, path, check);
  if (!trace.has_value()) return std::nullopt;
  const std::string damage = DamageInWords(path, *trace);
  if (!damage.empty()) PrintWarning(verb, damage);
  const std::string left_out = trace->LimitCost();
  if (!left_out.empty()) PrintWarning(verb, path + ": " + left_out);
  return trace;
}

std::string DamageInWords(const std::string& path, const TraceReader& trace) {
  const std::string damage = FirstDamage(trace);
  if (damage.empty()) return "";
  if (IsCut(trace)) {
    return fmt::format(
        "{} was cut off; only the part before the cut is used: {} frame{}; cairn verify "
        "says more",
        path, GroupedDigits(trace.frame_count()), trace.frame_count() == 1 ? "" : "s");
  }
  return fmt::format(
      "{} is damaged; only the readable part is used: {}; cairn verify lists all that "
      "is lost",
      path, damage);
}

}  // namespace cairn::cli
