// SPDX-License-Identifier: Apache-2.0
//
// The bytes that the program has written into ranges of buffers when a submission executes a call.
#ifndef CAIRN_READER_VIEW_WRITTEN_BYTES_H_
#define CAIRN_READER_VIEW_WRITTEN_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/trace/trace_reader.h"
#include "format/trace/trace_state.h"
#include "reader/replay/kept_parts.h"

namespace cairn::cli {

struct WrittenBytes {
  uint64_t executed_by =
      0;  // call of ExecuteCommandLists, the first that executes the call; 0: there is none
  struct Range {
    std::vector<std::byte> bytes;
    std::string unknown;  // the reason why they are not known, visible; "": they are
  };
  std::vector<Range> ranges;
  std::unique_ptr<TraceState> state;  // when it is executed; at the end of the trace if it never is
};

// Only of memory that the GPU does not write, upload heaps, and of buffers that the trace has a write into: what it does
// not write there begins as zeros, as recordings assume. `wanted`: a size of 0 is no range. Reads the trace up to the
// submission. Errors: those of reading it.
Result<WrittenBytes> ReadWrittenBytes(TraceReader* trace, uint64_t call,
                                      std::span<const BytesToRead> wanted);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_WRITTEN_BYTES_H_
