// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/raw_marker_text.h"

#include <fmt/format.h>

#include <charconv>

namespace cairn {
namespace {

constexpr std::string_view kStart = "cairn raw marker ";
constexpr size_t kValueDigits = 16;

// All of `text`, and nothing but digits.
template <typename Number>
bool Read(std::string_view text, int base, Number* number) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, *number, base);
  return !text.empty() && error == std::errc() && stopped == end;
}

}  // namespace

std::array<char, kRawMarkerTextBytes> RawMarkerText(const RawMarker& marker) {
  static_assert(kStart.size() + sizeof("T 4294967295 ") - 1 + kValueDigits < kRawMarkerTextBytes);
  std::array<char, kRawMarkerTextBytes> text{};
  fmt::format_to_n(text.data(), text.size() - 1, "{}{} {} {:016x}", kStart,
                   marker.where == PipeLocation::kTop ? 'T' : 'B', marker.index, marker.value);
  return text;
}

std::optional<RawMarker> ParseRawMarkerText(std::string_view text) {
  if (!text.starts_with(kStart)) return std::nullopt;
  text.remove_prefix(kStart.size());
  if (!text.starts_with("T ") && !text.starts_with("B ")) return std::nullopt;
  RawMarker marker;
  marker.where = text[0] == 'T' ? PipeLocation::kTop : PipeLocation::kBottom;
  text.remove_prefix(2);
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view value = text.substr(space + 1);
  if (value.size() != kValueDigits || !Read(text.substr(0, space), 10, &marker.index) ||
      !Read(value, 16, &marker.value)) {
    return std::nullopt;
  }
  return marker;
}

}  // namespace cairn
