// SPDX-License-Identifier: Apache-2.0
//
// The answer of the analysis (Findings::culprit) in words, for every form of the report. Everything
// is visible text.
#ifndef CAIRN_READER_REPORT_FINDING_TEXT_H_
#define CAIRN_READER_REPORT_FINDING_TEXT_H_

#include <cstdint>
#include <string>

#include "reader/analysis/findings.h"

namespace cairn {

// Appends one sentence: what happened, in which work, and how sure that is. If it names a work, a
// second sentence gives its list, submission, queue, frame, and call of the trace.
void AppendFinding(const Snapshot& snapshot, const Findings& findings, bool with_pipelines,
                   std::string& out);

// `the last work with a pipeline that the GPU reached; uses vertex buffer 0: resource "Mesh", destroyed`, the
// second half with `with_binding` only. `suspect` is one of `findings`.
void AppendSuspectReason(const Snapshot& snapshot, const Findings& findings,
                         const SuspectWork& suspect, bool with_binding, std::string& out);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_FINDING_TEXT_H_
