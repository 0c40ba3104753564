// SPDX-License-Identifier: Apache-2.0
//
// Of the JSON report: synchronisation, waits, faults, checkpoints, shaders.
#ifndef CAIRN_REPORT_JSON_DIAGNOSTICS_H_
#define CAIRN_REPORT_JSON_DIAGNOSTICS_H_

#include "analysis/analysis.h"
#include "report/json_writer.h"
#include "snapshot/snapshot.h"

namespace cairn {

// Writes the keys "syncs", "waits", "faults", "checkpoints" and "shaders" into the object that is open.
void WriteDiagnostics(const Snapshot& snapshot, const Analysis& analysis, JsonWriter* json);

}  // namespace cairn

#endif  // CAIRN_REPORT_JSON_DIAGNOSTICS_H_
