// SPDX-License-Identifier: Apache-2.0
//
// Calls of the program in words: what a thread called last, and in which call it crashed.
#ifndef CAIRN_READER_REPORT_CALL_TEXT_H_
#define CAIRN_READER_REPORT_CALL_TEXT_H_

#include <string>

#include "base/json_writer.h"
#include "format/snapshot/snapshot.h"
#include "reader/analysis/findings.h"

namespace cairn {

// `ThreadGroupCountX = 64`, as numbers, floats or addresses.
void AppendArgument(const Snapshot& snapshot, const CallArgument& argument, std::string& out);

// `ID3D12GraphicsCommandList::Dispatch(ThreadGroupCountX = 64, …)`, without the object; no parentheses where no
// argument is kept. `call` is one of the thread's.
void AppendCallWithArguments(const Snapshot& snapshot, const Thread& thread, const Call& call,
                             std::string& out);

// ` in vkCmdDispatch(…) of command buffer "Main", which did not return, on thread 7 "render"`; nothing where the
// thread was in no call.
void AppendUnreturnedCall(const Snapshot& snapshot, const UnreturnedCall& unreturned,
                          std::string& out);

// Appends a sentence, with a blank before it, for each descriptor table that lies in no heap; none
// where no heap is known.
void AppendStrayTables(const Snapshot& snapshot, const BoundTables& bound, std::string& out);

// Writes the argument as an element of an array.
void WriteArgument(const Snapshot& snapshot, const CallArgument& argument, JsonWriter* json);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_CALL_TEXT_H_
