// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_file.h"

#include <fmt/format.h>

#include <utility>

#include "cli/verb.h"

namespace cairn::cli {
namespace {

const char* NextStep(StatusCode code) {
  switch (code) {
    case StatusCode::kNotFound: return "; cairn run --capture -- PROGRAM records one";
    case StatusCode::kCorrupt: return "; give a file that cairn run --capture has written";
    default: return "";
  }
}

}  // namespace

std::optional<TraceReader> OpenTraceFile(std::string_view verb, const std::string& path) {
  if (path.empty()) {
    PrintError(verb, fmt::format("no file is given; say cairn {} FILE.cairn", verb));
    return std::nullopt;
  }
  Result<TraceReader> trace = TraceReader::Open(path);
  if (!trace.ok()) {
    const Status& status = trace.status();
    const bool named = status.message().find(path) != std::string::npos;
    PrintError(verb, (named ? "" : path + ": ") + status.message() + NextStep(status.code()));
    return std::nullopt;
  }
  const std::vector<Loss>& losses = trace->losses();
  if (!losses.empty()) {
    PrintWarning(verb, fmt::format("{} is damaged, and what is left of it is used: {}{}", path,
                                   losses.front().reason,
                                   losses.size() == 1 ? "" : "; cairn verify lists all"));
  }
  return std::move(trace).value();
}

}  // namespace cairn::cli
