// SPDX-License-Identifier: Apache-2.0
//
// Scopes, lists and pipelines as they stand in a line of a report. Everything is appended as visible
// text to a string that the caller keeps, so that nothing is allocated for each marker.
#ifndef CAIRN_READER_REPORT_DESCRIBE_H_
#define CAIRN_READER_REPORT_DESCRIBE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "format/snapshot/snapshot.h"
#include "reader/analysis/findings.h"
#include "reader/report/work_states.h"

namespace cairn {

// "DRAW_INDEXED", "MARKER_TYPE 200".
void AppendMarkerType(uint32_t type, std::string& out);

// `graphics pipeline "Basic pipeline" [ VS: a | PS: b ]`
void AppendPipeline(const Snapshot& snapshot, uint32_t pipeline, std::string& out);

// `graphics pipeline "Basic pipeline"`; without a name, its shaders.
void AppendPipelineName(const Snapshot& snapshot, uint32_t pipeline, std::string& out);

// `Opaque` for a pass, `DISPATCH #1 (300, 1, 1): "Blur"` for anything else.
// kShort leaves out what is odd about it: that its name is cut, that it was left open.
enum class ScopeDetail { kShort, kName, kEventId, kEventIdAndPipeline };
void AppendScope(const Snapshot& snapshot, const Scope& scope, ScopeDetail detail,
                 std::string& out);

// "call 18,233: ", the call in the trace of the same file; nothing if there is none.
void AppendCallOf(const Snapshot& snapshot, const Scope& scope, std::string& out);

// "0x1000001000002": EventIDs as every part of the report spells them.
void AppendEventId(uint64_t event_id, std::string& out);

// `resource "Shadow map"`; without a name `Texture2D 64x64 R8G8B8A8_UNORM #17`, or `fence 17`, by its serial number.
void AppendObject(const Snapshot& snapshot, const Object& object, std::string& out);

// `vertex buffer 0: resource "Mesh" + 0x40, destroyed 3.2 ms before the submission`
void AppendBinding(const Snapshot& snapshot, const Binding& binding, std::string& out);

// `semaphore "Frame timeline" to reach 7`
void AppendSync(const Snapshot& snapshot, const Sync& sync, std::string& out);

// `queue 0 (direct) waits for queue 1 (compute) (semaphore 3 to reach 7), which waits for ...`: a sentence without a
// full stop.
void AppendCycle(const Snapshot& snapshot, const WaitGraph& waits,
                 const std::vector<uint32_t>& cycle, std::string& out);

// `frame 3: "Main"` with the notes of its execution. A small f: the frame is counted, and many programs have a
// label that says Frame.
void AppendListPath(const Snapshot& snapshot, const Execution& execution, std::string& out);

// ` > Frame > DISPATCH #1: "Blur"`; of a very deep path only the innermost scopes.
void AppendScopePath(const Snapshot& snapshot, const Analysis& analysis, const Scope& scope,
                     std::string& out, ScopeDetail detail = ScopeDetail::kName);

// `NVIDIA H100, driver NVIDIA 580.159`
void AppendDevice(const Snapshot& snapshot, uint32_t device, std::string& out);

// "command list"; "command buffer" on a device of Vulkan.
std::string_view ListWord(const Snapshot& snapshot, uint32_t device);

// `queue 0 "Graphics" (direct)`, of Vulkan `queue 0 "Graphics" (graphics)`, "lists without a queue".
void AppendQueue(const Snapshot& snapshot, uint32_t queue, std::string& out);

// Adds what is out of the ordinary about an execution: which one it is, that its list is still being
// recorded, dropped markers.
void AppendExecutionNotes(const Snapshot& snapshot, const Execution& execution, std::string& out);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_DESCRIBE_H_
