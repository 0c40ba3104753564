// SPDX-License-Identifier: Apache-2.0
//
// Any snapshot file, reported: whatever its tables say, the text ends, fits its limit and cannot act on a
// terminal, and the JSON is JSON. The input is a list of chunks, as that of snapshot_file_fuzz.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/testing/fuzzed_file.h"
#include "reader/analysis/findings.h"
#include "reader/report/json.h"
#include "reader/report/line_sink.h"
#include "reader/report/redact.h"
#include "reader/report/text.h"

namespace cairn {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckLines(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    Require(end != std::string_view::npos && IsVisibleText(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
}

void Report(const Snapshot& snapshot) {
  const Findings findings = AnalyseDump(snapshot);
  for (const uint32_t width : {0u, 60u}) {
    TextOptions options;
    options.width = width;
    options.print_flags = width == 0 ? CAIRN_PRINT_EXTENDED_DEVICE_INFO |
                                           CAIRN_PRINT_FINISHED_LISTS | CAIRN_PRINT_FINISHED_NODES
                                     : 0;
    const std::string text = TextReport(snapshot, findings, options);
    Require(text.size() <= kMostReportBytes + 1024);
    CheckLines(text);
  }
  const std::string json = JsonReport(snapshot, findings);
  Require(nlohmann::json::accept(json));
  CheckLines(json);
  std::string pieces;
  Require(WriteJsonReport(snapshot, findings, [&pieces](std::string_view piece) {
    pieces += piece;
    return true;
  }));
  Require(pieces == json);
}

}  // namespace
}  // namespace cairn

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cairn;
  const std::vector<std::byte> bytes = FuzzedFile(data, size);
  const Result<FileReader> file = FileReader::FromBytes(bytes);
  if (!file.ok()) return 0;
  const Result<Snapshot> snapshot = ReadSnapshot(*file);
  if (!snapshot.ok()) return 0;
  Report(*snapshot);
  Report(Redact(*snapshot));
  return 0;
}
