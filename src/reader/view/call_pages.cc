// SPDX-License-Identifier: Apache-2.0
#include "reader/view/call_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace cairn::cli {

Result<CallPages> CallPages::Make(TraceReader& trace,
                                  const std::function<void(const Record&, uint64_t line)>& each) {
  CallPages pages;
  TraceCursor cursor(trace);
  cursor.ReadAhead();
  Record record;
  while (cursor.Next(&record)) {
    if (each) each(record, pages.line_count_);
    if (!HasLine(record.kind)) continue;
    if (pages.line_count_++ % kLinesPerMark == 0) pages.marks_.push_back(record.number);
  }
  CAIRN_RETURN_IF_ERROR(cursor.status());
  return pages;
}

Result<uint64_t> CallPages::LineOf(TraceReader& trace, uint64_t number) const {
  const auto behind = std::upper_bound(marks_.begin(), marks_.end(), number);
  if (behind == marks_.begin()) return 0;
  const uint64_t mark = static_cast<uint64_t>(behind - marks_.begin()) - 1;
  TraceCursor cursor(trace);
  CAIRN_RETURN_IF_ERROR(cursor.SeekNumber(marks_[mark]));
  Record record;
  uint64_t line = mark * kLinesPerMark;
  while (line < line_count_ && cursor.Next(&record) && record.number < number) {
    if (HasLine(record.kind)) ++line;
  }
  CAIRN_RETURN_IF_ERROR(cursor.status());
  return line;
}

Status CallPages::Print(TraceReader& trace, uint64_t first, uint64_t count, const GpuStates& gpu,
                        const std::function<bool(std::string_view)>& print) const {
  if (first >= line_count_) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("there is no line {}; there are {}", first, line_count_));
  }
  uint64_t skipped = first % kLinesPerMark;
  CallListingOptions options;
  options.json = true;
  options.names = false;
  options.filter.from = marks_[first / kLinesPerMark];
  options.filter.most = skipped + std::min(count, line_count_ - first);
  const Result<ListedCalls> listed =
      ListCalls(trace, options, gpu, [&skipped, &print](std::string_view text) {
        for (; skipped != 0 && !text.empty(); --skipped) text.remove_prefix(text.find('\n') + 1);
        return text.empty() || print(text);
      });
  return listed.status();
}

}  // namespace cairn::cli
