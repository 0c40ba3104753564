// SPDX-License-Identifier: Apache-2.0
#include "base/ascii_marks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "base/text.h"

namespace cairn {
namespace {

struct Mark {
  std::string_view mark;
  std::string_view ascii;
};
constexpr std::string_view kCut = "…";
constexpr size_t kShortestCut = 40;  // columns; no text is cut to fewer
// No quotation marks: a word that is quoted for a shell may hold them, and they would end it.
constexpr Mark kMarks[] = {
    {kCut, "..."}, {"─", "-"},  {"│", "|"}, {"├", "|"},  {"└", "`"},  {"›", ">"},  {"·", "-"},
    {"µ", "u"},    {"μ", "u"},  {"×", "x"}, {"→", "->"}, {"←", "<-"}, {"–", "-"},  {"—", "-"},
    {"≤", "<="},   {"≥", ">="}, {"≈", "~"}, {"•", "*"},  {"▸", ">"},  {"✓", "ok"}, {"✗", "x"},
};

// Takes a code point from the end.
void Shorten(std::string* out) {
  while (!out->empty() && (static_cast<uint8_t>(out->back()) & 0xC0) == 0x80) out->pop_back();
  if (!out->empty()) out->pop_back();
}

bool IsCut(std::string_view line) {
  return line.size() + 1 >= kShortestCut && CodePointCount(line) + 1 >= kShortestCut;
}

}  // namespace

std::string AsciiMarks(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  size_t line_start = 0;
  while (!text.empty()) {
    const auto mark =
        static_cast<uint8_t>(text.front()) < 0x80
            ? std::end(kMarks)
            : std::find_if(std::begin(kMarks), std::end(kMarks),
                           [text](const Mark& known) { return text.starts_with(known.mark); });
    if (mark == std::end(kMarks)) {
      out += text.front();
      if (text.front() == '\n') line_start = out.size();
      text.remove_prefix(1);
      continue;
    }
    text.remove_prefix(mark->mark.size());
    const bool ends_line = text.empty() || text.front() == '\n';
    if (mark->mark == kCut && ends_line && IsCut(std::string_view(out).substr(line_start))) {
      for (size_t i = 1; i < mark->ascii.size(); ++i) Shorten(&out);
    }
    out += mark->ascii;
  }
  return out;
}

}  // namespace cairn
