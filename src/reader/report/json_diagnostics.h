// SPDX-License-Identifier: Apache-2.0
//
// Parts of the JSON report: synchronisation, waits, faults, checkpoints, shaders, the kernel's log.
#ifndef CAIRN_READER_REPORT_JSON_DIAGNOSTICS_H_
#define CAIRN_READER_REPORT_JSON_DIAGNOSTICS_H_

#include "base/json_writer.h"
#include "format/snapshot/snapshot.h"
#include "reader/analysis/findings.h"

namespace cairn {

// Writes the keys "syncs", "waits", "faults", "checkpoints", "shaders" and "kernel_log" into the object that is open.
void WriteDiagnostics(const Snapshot& snapshot, const Findings& findings, JsonWriter* json);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_JSON_DIAGNOSTICS_H_
