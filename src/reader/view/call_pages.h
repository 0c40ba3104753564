// SPDX-License-Identifier: Apache-2.0
//
// The lines of `cairn calls` by their place in the list: for who shows some of millions of them.
#ifndef CAIRN_READER_VIEW_CALL_PAGES_H_
#define CAIRN_READER_VIEW_CALL_PAGES_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "format/trace/trace_reader.h"
#include "reader/view/call_listing.h"

namespace cairn::cli {

// Lines are those of ListCalls without a filter, with names of objects left out. Memory: 8 bytes for kLinesPerMark
// lines.
class CallPages {
 public:
  static constexpr uint64_t kLinesPerMark = 256;

  // Reads all of the trace. `each`: gets every record, with its line, or that of the next one that has a line. Errors:
  // those of the reader.
  static Result<CallPages> Make(
      TraceReader& trace, const std::function<void(const Record&, uint64_t line)>& each = nullptr);

  uint64_t line_count() const { return line_count_; }
  // Returns the index of the first line whose number is at least `number`; line_count() if there is
  // none.
  Result<uint64_t> LineOf(TraceReader& trace, uint64_t number) const;
  // Prints lines of JSON, at most `count` from the line `first` on. Errors: kInvalidArgument beyond
  // the last one.
  Status Print(TraceReader& trace, uint64_t first, uint64_t count, const GpuStates& gpu,
               const std::function<bool(std::string_view)>& print) const;

 private:
  std::vector<uint64_t> marks_;  // the number of each kLinesPerMark-th line, from the first on
  uint64_t line_count_ = 0;
};

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_CALL_PAGES_H_
