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

// The facts that a sentence is made of; all of the same snapshot.
struct FindingFacts {
  const Snapshot& snapshot;
  const Analysis& analysis;
  const WaitGraph& waits;
  const CulpritFinding& finding;
};

// Appends one sentence: what happened, in which work, and how sure that is. If it names a work, a
// second sentence gives its list, submission, queue, frame, and call of the trace.
void AppendFinding(const FindingFacts& facts, bool with_pipelines, std::string& out);

// `the last work with a pipeline that the GPU reached; uses vertex buffer 0: resource "Mesh", destroyed`, the
// second half with `with_binding` only.
void AppendSuspectReason(const FindingFacts& facts, const SuspectWork& suspect, bool with_binding,
                         std::string& out);

// Returns true if a missing data source with this name would have answered what the finding leaves
// open: where the GPU was, or why the device was lost.
bool SourceLimitsFinding(std::string_view name, SourceState state, const CulpritFinding& finding);

// True where suspects are what failed; otherwise they are what was running when something else did.
bool AccusesWork(FindingKind kind);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_FINDING_TEXT_H_
