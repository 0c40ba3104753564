// SPDX-License-Identifier: Apache-2.0
#include "cli/numbers.h"

#include <fmt/format.h>

#include <optional>

#include "base/text.h"

namespace cairn::cli {

Result<std::optional<uint64_t>> ParseNumberOf(std::string_view option, std::string_view text) {
  if (text.empty()) return std::optional<uint64_t>();
  const std::optional<uint64_t> number = ParseDigits(text);
  if (number.has_value()) return number;
  return Status(StatusCode::kInvalidArgument, fmt::format("{}: '{}' is no number", option, text));
}

Result<FrameRange> ParseFramesOf(std::string_view option, std::string_view text) {
  if (text.empty()) return FrameRange();
  const size_t dash = text.find('-');
  const bool is_open = dash + 1 == text.size();
  const std::optional<uint64_t> first = ParseDigits(text.substr(0, dash));
  const std::optional<uint64_t> last = is_open ? kNoFrame - 1
                                       : dash == std::string_view::npos
                                           ? first
                                           : ParseDigits(text.substr(dash + 1));
  if (first.has_value() && last.has_value() && *first <= *last && *last < kNoFrame) {
    return FrameRange{.first = *first, .end = *last + 1};
  }
  return Status(StatusCode::kInvalidArgument,
                fmt::format("{}: '{}' is neither a frame (7) nor a range (7-9, 7-)", option, text));
}

}  // namespace cairn::cli
