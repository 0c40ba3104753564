// SPDX-License-Identifier: Apache-2.0
//
// The report as JSON: everything that the text says, for programs. docs/formats/report.schema.json is its
// schema, docs/reference/report.md its description.
#ifndef CAIRN_READER_REPORT_JSON_H_
#define CAIRN_READER_REPORT_JSON_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "format/snapshot/snapshot.h"
#include "reader/analysis/findings.h"

namespace cairn {

// The bytes that are printed of a dump, at most, unless the caller says otherwise. Values of arrays beyond are left
// out, and the last of `losses` says how many.
inline constexpr uint64_t kMostJsonReportBytes = uint64_t{192} << 20;

struct JsonOptions {
  std::string_view
      file;  // the report's path, for the commands of the next steps; without it there are none
  uint64_t most_bytes = kMostJsonReportBytes;  // about
};

// One JSON object in UTF-8 with a line feed at the end; the same input gives the same bytes.
// `findings` are those of `snapshot`. Cost: bench JsonReport.
std::string JsonReport(const Snapshot& snapshot, const Findings& findings,
                       const JsonOptions& options = {});

// The same to `print`, piece by piece, without ever holding all of it; false once that said false.
bool WriteJsonReport(const Snapshot& snapshot, const Findings& findings,
                     const std::function<bool(std::string_view)>& print,
                     const JsonOptions& options = {});

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_JSON_H_
