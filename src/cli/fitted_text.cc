// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "cli/terminal.h"
#include "cli/text_columns.h"
#include "os/terminal.h"

namespace cairn::cli {
namespace {

constexpr size_t kFurther = 4;

// Where the parts of a broken line begin.
size_t IndentOf(std::string_view line, size_t columns) {
  const size_t own = std::min(line.find_first_not_of(' '), line.size());
  const size_t gap = line.rfind("  ");
  if (gap == std::string_view::npos || gap < own) return std::min(own + kFurther, columns / 2);
  const size_t field = CodePointCount(line.substr(0, gap)) + 2;
  return field <= columns / 2 ? field : std::min(own + kFurther, columns / 2);
}

void AddFitted(std::string_view line, size_t columns, std::string* out) {
  if (line.size() <= columns || CodePointCount(line) <= columns) {
    *out += line;
    return;
  }
  const size_t indent = IndentOf(line, columns);
  size_t column = std::min(line.find_first_not_of(' '), line.size());
  out->append(line.substr(0, column));
  line.remove_prefix(column);
  for (bool first = true; !line.empty(); first = false) {
    const bool is_command =
        line.starts_with("cairn ") && (out->ends_with(": ") || out->ends_with("  "));
    const size_t space = std::min(line.find(is_command ? "  " : " "), line.size());
    const size_t next = std::min(line.find_first_not_of(' ', space), line.size());
    const std::string_view word = line.substr(0, space);
    const size_t width = CodePointCount(word);
    if (!first && column + width > columns) {
      while (out->ends_with(' ')) out->pop_back();
      *out += '\n';
      out->append(indent, ' ');
      column = indent;
    }
    out->append(line.substr(0, next));
    column += width + next - space;
    line.remove_prefix(next);
  }
  while (out->ends_with(' ')) out->pop_back();
}

}  // namespace

std::string FittedToColumns(std::string_view text, size_t columns) {
  if (columns == 0) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    AddFitted(text.substr(0, end), columns, &out);
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return out;
}

std::string FittedSentences(std::string_view text) {
  return FittedToColumns(text, TextColumns());
}

std::string FittedToTerminal(std::string_view text) {
  return FittedToColumns(text, OutputSize().columns);
}

}  // namespace cairn::cli
