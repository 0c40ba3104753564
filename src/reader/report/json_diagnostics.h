// SPDX-License-Identifier: Apache-2.0
//
// Parts of the JSON report: synchronisation, waits, faults, checkpoints, shaders, the kernel's log.
#ifndef CAIRN_READER_REPORT_JSON_DIAGNOSTICS_H_
#define CAIRN_READER_REPORT_JSON_DIAGNOSTICS_H_

#include "reader/analysis/findings.h"
#include "reader/report/json_rows.h"

namespace cairn {

// Writes the keys "syncs", "waits", "faults", "checkpoints", "shaders" and "kernel_log" into the object that is open.
void WriteDiagnostics(const Findings& findings, const JsonRows& rows);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_JSON_DIAGNOSTICS_H_
