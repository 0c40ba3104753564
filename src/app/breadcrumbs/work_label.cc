// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/work_label.h"

#include <charconv>
#include <cstring>

namespace cairn {
namespace {

std::optional<uint32_t> ReadNumber(std::string_view digits) {
  uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<WorkLabel> WorkLabel::Read(const char* text) {
  // Most labels are the program's own: their first characters say so.
  if (text == nullptr || std::strncmp(text, kPrefix.data(), kPrefix.size()) != 0) return {};
  const std::string_view rest(text + kPrefix.size(),
                              strnlen(text + kPrefix.size(), kLength - kPrefix.size() + 1));
  if (rest.size() != kLength - kPrefix.size() || rest[kTypeDigits] != ':') return {};
  const auto type = ReadNumber(rest.substr(0, kTypeDigits));
  const auto pipeline = ReadNumber(rest.substr(kTypeDigits + 1));
  if (!type || !pipeline || *type >= CAIRN_MARKER_TYPE_LIMIT || *type == CAIRN_MARKER_PASS) {
    return {};
  }
  return WorkLabel{static_cast<CairnMarkerType>(*type), *pipeline};
}

}  // namespace cairn
