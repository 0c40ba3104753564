// SPDX-License-Identifier: Apache-2.0
//
// Scopes, lists and pipelines as they stand in a line of a report. Everything is appended as visible
// text to a string that the caller keeps, so that nothing is allocated for each marker.
#ifndef CAIRN_REPORT_DESCRIBE_H_
#define CAIRN_REPORT_DESCRIBE_H_

#include <cstdint>
#include <string>

#include "analysis/analysis.h"
#include "snapshot/snapshot.h"

namespace cairn {

// "[X]", "[>]" or "[ ]".
std::string_view StateMark(WorkState state);

// "DRAW_INDEXED", "MARKER_TYPE 200".
void AppendMarkerType(uint32_t type, std::string& out);

// `graphics pipeline "Basic pipeline" [ VS: a | PS: b ]`
void AppendPipeline(const Snapshot& snapshot, uint32_t pipeline, std::string& out);

// `Opaque` for a pass, `DISPATCH 1: "Blur"` for anything else; with its pipeline if wanted.
void AppendScope(const Snapshot& snapshot, const Scope& scope, bool with_pipeline,
                 std::string& out);

// `queue 0 "Graphics" (direct)`, "lists without a queue".
void AppendQueue(const Snapshot& snapshot, uint32_t queue, std::string& out);

// Adds what is out of the ordinary about an execution: which one it is, that its list is still being
// recorded, dropped markers.
void AppendExecutionNotes(const Snapshot& snapshot, const Execution& execution, std::string& out);

}  // namespace cairn

#endif  // CAIRN_REPORT_DESCRIBE_H_
