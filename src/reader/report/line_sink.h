// SPDX-License-Identifier: Apache-2.0
//
// Lines of a text report: cut or wrapped to the terminal's width, coloured if wanted, appended to one
// string. A sink without a string only counts, so that the report's memory is allocated at once: it
// is printed while a program crashes.
#ifndef CAIRN_READER_REPORT_LINE_SINK_H_
#define CAIRN_READER_REPORT_LINE_SINK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "reader/analysis/analysis.h"

namespace cairn {

// The limit of a report: longer ones are not read, and a hostile snapshot must not fill memory.
inline constexpr size_t kMostReportBytes = size_t{192} << 20;

class LineSink {
 public:
  // `width` in columns, 0 for no limit. `out` may be null: then only size_bytes() counts. `whole_rows`: sentences are
  // wrapped, and no line is cut.
  LineSink(uint32_t width, bool colour, std::string* out, bool whole_rows = false);

  // The line being built; empty after each EndLine. Everything in it must be visible text.
  std::string& line() { return line_; }
  // Emits the line, cut to the width unless rows are whole.
  void EndLine();
  // The same, with `mark_bytes` bytes from `mark_offset` in the colour of a state.
  void EndLine(WorkState state, size_t mark_offset, size_t mark_bytes);

  void Blank();
  void Heading(std::string_view text);
  // A sentence that may hold untrusted text, after `prefix`, wrapped at spaces; further lines are
  // indented as far as the prefix reaches.
  void Prose(std::string_view prefix, std::string_view text);

  // A line to be copied: neither wrapped nor cut.
  void Whole(std::string_view prefix, std::string_view text);

  size_t width() const { return width_; }
  size_t size_bytes() const { return size_bytes_; }
  // kMostReportBytes were put into it, before lines were cut to the width: no more lines are taken,
  // and loops that print should stop.
  bool full() const { return full_; }
  // A line that says so, and room for what has to stand at the end nevertheless.
  void EndFull();

 private:
  void Emit(std::string_view text);
  void CutToWidth();

  uint32_t width_;
  bool colour_;
  bool whole_rows_;
  std::string* out_;
  std::string line_;
  std::string prose_;
  size_t size_bytes_ = 0;
  size_t put_bytes_ = 0;  // before they were cut
  bool full_ = false;
};

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_LINE_SINK_H_
