// SPDX-License-Identifier: Apache-2.0
//
// The arguments of an ExecuteIndirect that its buffers hold: where they lie, and their text.
#ifndef CAIRN_READER_BISECT_INDIRECT_CALL_H_
#define CAIRN_READER_BISECT_INDIRECT_CALL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "format/trace/trace_reader.h"
#include "reader/bisect/call_parts.h"
#include "reader/replay/buffer_addresses.h"

namespace cairn {

struct IndirectCall {
  uint64_t max_count = 0;
  uint64_t signature = 0;  // object
  IndirectLayout layout;
  uint64_t arguments = 0;  // buffer
  uint64_t offset_bytes = 0;
  uint64_t count_buffer = 0;  // 0: there is none
  uint64_t count_offset_bytes = 0;
};

// Errors: kNotFound: the call is no ExecuteIndirect, or its signature is not in the trace; those of reading it.
Result<IndirectCall> ReadIndirectCall(TraceReader* trace, uint64_t call);

// Returns the parts of the call, as many as MaxCommandCount says.
CallParts PartsOf(const IndirectCall& indirect, uint64_t call);

// Returns where the arguments of a command lie, as far as BytesToRead takes them, and where the count does.
// size_bytes 0: nowhere.
BytesToRead ArgumentsOf(const IndirectCall& indirect, uint64_t command, uint64_t submission);
BytesToRead CountOf(const IndirectCall& indirect, uint64_t submission);

// "Dispatch: 1 × 1 × 1 groups; root constants of parameter 0: 0x7, 0xff". `bytes`: as many as were read.
std::string CommandInWords(const IndirectLayout& layout, std::span<const std::byte> bytes);

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_INDIRECT_CALL_H_
