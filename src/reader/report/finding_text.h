// SPDX-License-Identifier: Apache-2.0
//
// The answer of the analysis (analysis/culprit.h) in words, for every form of the report. Everything is visible
// text.
#ifndef CAIRN_READER_REPORT_FINDING_TEXT_H_
#define CAIRN_READER_REPORT_FINDING_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "reader/analysis/culprit.h"

namespace cairn {

// What a sentence speaks of; all of the same snapshot.
struct FindingFacts {
  const Snapshot& snapshot;
  const Analysis& analysis;
  const WaitGraph& waits;
  const CulpritFinding& finding;
};

// What happened, in which work, and how sure that is: one sentence. Where a work is named, a second one says
// where it stands: list, submission, queue, frame, call of the trace.
void AppendFinding(const FindingFacts& facts, bool with_pipelines, std::string& out);

// `the last work with a pipeline that the GPU reached; uses vertex buffer 0: resource "Mesh", destroyed`, the
// second half with `with_binding` only.
void AppendSuspectReason(const FindingFacts& facts, const SuspectWork& suspect, bool with_binding,
                         std::string& out);

// Whether a data source with this name, which is not present, would have told more of what the finding leaves
// open: of where the GPU was, or of why the device was lost.
bool SourceLimitsFinding(std::string_view name, SourceState state, const CulpritFinding& finding);

// True where suspects are what failed; otherwise they are what was running when something else did.
bool AccusesWork(FindingKind kind);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_FINDING_TEXT_H_
