// SPDX-License-Identifier: Apache-2.0
#include "app/annotations/stderr_line.h"

#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/text.h"
#include "os/standard_error.h"

namespace cairn {

void WriteStderrLine(const char* prefix, const char* text) {
  char line[512];
  size_t length = 0;
  // Code point by code point; what could act on a terminal becomes a question mark.
  const auto append = [&](std::string_view from) {
    while (!from.empty()) {
      size_t size = 1;
      while (size < 4 && size < from.size() && !IsValidUtf8(from.substr(0, size))) ++size;
      if (!IsValidUtf8(from.substr(0, size))) size = 1;
      const std::string_view shown =
          IsVisibleText(from.substr(0, size)) ? from.substr(0, size) : "?";
      if (shown.size() >= sizeof(line) - length) return;
      std::memcpy(line + length, shown.data(), shown.size());
      length += shown.size();
      from.remove_prefix(size);
    }
  };
  append("cairn: ");
  append(prefix);
  append(": ");
  append(text);
  line[length++] = '\n';
  WriteStandardError({line, length});
}

}  // namespace cairn
