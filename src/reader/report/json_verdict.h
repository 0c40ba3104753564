// SPDX-License-Identifier: Apache-2.0
//
// Parts of the JSON report: the answer, and the objects that a candidate used.
#ifndef CAIRN_READER_REPORT_JSON_VERDICT_H_
#define CAIRN_READER_REPORT_JSON_VERDICT_H_

#include <string_view>

#include "base/json_writer.h"
#include "reader/analysis/findings.h"
#include "reader/report/json_rows.h"

namespace cairn {

// Writes the key "verdict" into the object that is open. `file` as in JsonOptions.
void WriteFinding(const Findings& findings, std::string_view file, const JsonRows& rows);

// Writes an object.
void WriteBinding(const Snapshot& snapshot, const Binding& binding, JsonWriter* json);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_JSON_VERDICT_H_
