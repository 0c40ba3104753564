// SPDX-License-Identifier: Apache-2.0
#include "reader/report/line_sink.h"

#include <algorithm>

#include "base/text.h"

namespace cairn {
namespace {

constexpr size_t kLineReserveBytes = 16384;  // a scope with names of 1,024 bytes everywhere fits
constexpr uint32_t kNarrowestProse = 20;

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kReset = "\x1b[0m";

std::string_view ColourOf(WorkState state) {
  switch (state) {
    case WorkState::kNotStarted: return "\x1b[2m";
    case WorkState::kInFlight: return "\x1b[1;33m";
    case WorkState::kCompleted: return "\x1b[32m";
    case WorkState::kUnknown: break;
  }
  return "";
}

// Bytes of the first `columns` code points of visible text.
size_t PrefixBytes(std::string_view text, size_t columns) {
  size_t at = 0;
  for (; at < text.size() && columns != 0; --columns) {
    ++at;
    while (at < text.size() && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) ++at;
  }
  return at;
}

}  // namespace

LineSink::LineSink(uint32_t width, bool colour, std::string* out, bool whole_rows)
    : width_(width), colour_(colour), whole_rows_(whole_rows), out_(out) {
  line_.reserve(kLineReserveBytes);
  prose_.reserve(kLineReserveBytes);
}

void LineSink::Emit(std::string_view text) {
  put_bytes_ += text.size();
  full_ = full_ || put_bytes_ > kMostReportBytes;
  if (full_) return;
  size_bytes_ += text.size();
  if (out_ != nullptr) out_->append(text);
}

void LineSink::CutToWidth() {
  // Bytes are at least as many as columns.
  if (whole_rows_ || width_ == 0 || line_.size() <= width_ || CodePointCount(line_) <= width_)
    return;
  const size_t kept = PrefixBytes(line_, width_ - 1);
  put_bytes_ += line_.size() - kept;
  line_.resize(kept);
  line_ += "…";
}

void LineSink::EndLine() {
  CutToWidth();
  Emit(line_);
  Emit("\n");
  line_.clear();
}

void LineSink::EndLine(WorkState state, size_t mark_offset, size_t mark_bytes) {
  CutToWidth();
  if (!colour_ || mark_offset + mark_bytes > line_.size()) return EndLine();
  const std::string_view line = line_;
  Emit(line.substr(0, mark_offset));
  Emit(ColourOf(state));
  Emit(line.substr(mark_offset, mark_bytes));
  Emit(kReset);
  Emit(line.substr(mark_offset + mark_bytes));
  Emit("\n");
  line_.clear();
}

void LineSink::EndFull() {
  constexpr size_t kRoomForTheEnd = 1 << 20;
  full_ = false;
  put_bytes_ = kMostReportBytes - kRoomForTheEnd;
  Blank();  // a line may have been cut
  Prose("",
        "… the rest is not printed: a report has no more than 192 MiB. cairn report --json has all "
        "of it, with long names cut.");
}

void LineSink::Blank() {
  Emit("\n");
}

void LineSink::Heading(std::string_view text) {
  if (colour_) Emit(kBold);
  line_ = text;
  CutToWidth();
  Emit(line_);
  if (colour_) Emit(kReset);
  Emit("\n");
  line_.clear();
}

void LineSink::Whole(std::string_view prefix, std::string_view text) {
  Emit(prefix);
  Emit(text);
  Emit("\n");
}

void LineSink::Prose(std::string_view prefix, std::string_view text) {
  prose_.clear();
  AppendVisibleText(text, prose_);
  const size_t indent = CodePointCount(prefix);
  const size_t columns =
      width_ == 0 ? SIZE_MAX : std::max<size_t>(width_, indent + kNarrowestProse) - indent;
  std::string_view rest = prose_;
  bool first = true;
  do {
    size_t end = PrefixBytes(rest, columns);
    if (end < rest.size()) {
      const size_t space = rest.rfind(' ', end);
      if (space != std::string_view::npos && space != 0) end = space;
    }
    if (first) {
      Emit(prefix);
    } else {
      line_.assign(indent, ' ');
      Emit(line_);
    }
    Emit(rest.substr(0, end));
    Emit("\n");
    rest.remove_prefix(end);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    first = false;
  } while (!rest.empty());
  line_.clear();
}

}  // namespace cairn
