// SPDX-License-Identifier: Apache-2.0
//
// Writes a dump as one row of a table, as the loaders of PostgreSQL (COPY) and ClickHouse (TabSeparated) read it:
// docs/reference/cairn-triage.md has the columns.
#ifndef CAIRN_READER_VIEW_TRIAGE_ROW_H_
#define CAIRN_READER_VIEW_TRIAGE_ROW_H_

#include <string>
#include <string_view>

#include "reader/view/triage.h"

namespace cairn {

// Returns a line of values with tabs between them. Texts are visible text, whose backslashes are doubled; a time that
// is not known is \N. `machine`: "" for this one.
std::string TriageRow(const DumpSummary& dump, std::string_view machine = "");

}  // namespace cairn

#endif  // CAIRN_READER_VIEW_TRIAGE_ROW_H_
