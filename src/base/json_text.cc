// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/text.h"

namespace cairn {
namespace {

bool NeedsNoEscape(char c) {
  return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

// Returns the size of the code point at the beginning of `text`; 0 if that is no valid UTF-8.
size_t CodePointBytes(std::string_view text) {
  for (size_t size = 1; size <= std::min<size_t>(4, text.size()); ++size) {
    if (IsValidUtf8(text.substr(0, size))) return size;
  }
  return 0;
}

void AppendEscape(std::string_view code_point, std::string& out) {
  constexpr uint8_t kLeadBits[] = {0x7F, 0x1F, 0x0F, 0x07};
  uint32_t value = static_cast<uint8_t>(code_point[0]) & uint32_t{kLeadBits[code_point.size() - 1]};
  for (const char c : code_point.substr(1)) value = value << 6 | (static_cast<uint8_t>(c) & 0x3Fu);
  if (value >= 0x10000) {
    value -= 0x10000;
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", 0xD800 + (value >> 10));
    value = 0xDC00 + (value & 0x3FF);
  }
  fmt::format_to(std::back_inserter(out), "\\u{:04x}", value);
}

}  // namespace

void AppendJsonText(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const auto kept = static_cast<size_t>(
        std::find_if_not(text.begin(), text.end(), NeedsNoEscape) - text.begin());
    out.append(text.substr(0, kept));
    text.remove_prefix(kept);
    if (text.empty()) return;
    const size_t size = CodePointBytes(text);
    const std::string_view code_point = text.substr(0, std::max<size_t>(size, 1));
    if (size == 0) {
      out += "\xEF\xBF\xBD";
    } else if (code_point == "\"" || code_point == "\\") {
      out += '\\';
      out.append(code_point);
    } else if (IsVisibleText(code_point)) {
      out.append(code_point);
    } else {
      AppendEscape(code_point, out);
    }
    text.remove_prefix(code_point.size());
  }
}

}  // namespace cairn
