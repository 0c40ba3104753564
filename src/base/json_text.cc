// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.h"

#include <algorithm>
#include <cstdint>

#include "base/code_point.h"

namespace cairn {
namespace {

// Most text is printable ASCII: its length, so that it can be copied at once.
size_t PlainPrefixSize(std::string_view text) {
  const auto plain = [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; };
  return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), plain) - text.begin());
}

void AddEscape(uint32_t value, Escapes* escapes) {
  if (value >= 0x10000) {
    escapes->Add("\\u", 0xD800 + ((value - 0x10000) >> 10), 4);
    value = 0xDC00 + (value & 0x3FF);
  }
  escapes->Add("\\u", value, 4);
}

}  // namespace

void AppendJsonText(std::string_view text, std::string& out) {
  Escapes escapes(out);
  while (!text.empty()) {
    const CodePoint point = DecodeFirst(text);
    size_t size = point.size_bytes;
    if (point.valid && IsHidden(point.value)) {
      AddEscape(point.value, &escapes);
    } else {
      escapes.Flush();
      if (!point.valid) {
        out += "\xEF\xBF\xBD";
      } else if (point.value == '"' || point.value == '\\') {
        out += '\\';
        out += static_cast<char>(point.value);
      } else {
        size = std::max(size, PlainPrefixSize(text));
        out.append(text.substr(0, size));
      }
    }
    text.remove_prefix(size);
  }
  escapes.Flush();
}

}  // namespace cairn
