// SPDX-License-Identifier: Apache-2.0
#include "cli/numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

#include "base/text.h"

namespace cairn::cli {
namespace {

constexpr double kLongestSeconds = 1'000'000;
constexpr double kShortestSeconds = 0.001;
// More would not fit where times are added.
constexpr uint64_t kForEverNs = uint64_t{1'000'000'000} * 1'000'000'000;

}  // namespace

Result<std::optional<uint64_t>> ParseNumberOf(std::string_view option, std::string_view text) {
  if (text.empty()) return std::optional<uint64_t>();
  const std::optional<uint64_t> number = ParseDigits(text);
  if (number.has_value()) return number;
  return Status(StatusCode::kInvalidArgument,
                fmt::format("{}: '{}' is not a number", option, text));
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

Result<uint64_t> ParseSecondsOf(std::string_view option, std::string_view text) {
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, seconds, std::chars_format::fixed);
  const bool in_range = seconds == 0 || (seconds >= kShortestSeconds && seconds <= kLongestSeconds);
  if (error != std::errc() || rest != end || !in_range) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{}: '{}' is not a time in seconds from 0.001 to 1000000 (0: never)",
                              option, text));
  }
  return static_cast<uint64_t>(std::llround(seconds * 1e9));
}

Result<uint64_t> ParseTimeoutOf(std::string_view option, std::string_view text) {
  Result<uint64_t> time_ns = ParseSecondsOf(option, text);
  return time_ns.ok() && *time_ns == 0 ? kForEverNs : time_ns;
}

}  // namespace cairn::cli
