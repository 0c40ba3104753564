// SPDX-License-Identifier: Apache-2.0
#include "format/elimination/work_key.h"

#include <cstddef>

namespace cairn {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsHexDigit(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

std::string WithoutNumbers(std::string_view label) {
  std::string text;
  for (size_t i = 0; i < label.size();) {
    if (!IsDigit(label[i])) {
      text += label[i++];
      continue;
    }
    const bool hex =
        label[i] == '0' && i + 2 < label.size() && label[i + 1] == 'x' && IsHexDigit(label[i + 2]);
    if (hex) i += 2;
    while (i < label.size() && (hex ? IsHexDigit(label[i]) : IsDigit(label[i]))) ++i;
    text += '#';
  }
  return text;
}

}  // namespace cairn
