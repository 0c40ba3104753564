// SPDX-License-Identifier: Apache-2.0
//
// Numbers, frames and times as people type them, the same in all verbs (docs/reference/command-line.md). CLI11 is not asked: it takes -1 as a number of 20 digits, and 010 as 8.
#ifndef CAIRN_CLI_NUMBERS_H_
#define CAIRN_CLI_NUMBERS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "format/trace/frame_range.h"

namespace cairn::cli {

// The value of an option; nothing for "", which is an option that was not given. kInvalidArgument, for people.
Result<std::optional<uint64_t>> ParseNumberOf(std::string_view option, std::string_view text);

// "7", "7-9" with 9 included, "7-"; all frames for "". kInvalidArgument, for people.
Result<FrameRange> ParseFramesOf(std::string_view option, std::string_view text);

// "2", "0.25": seconds from 0.001 to 1,000,000, or 0 for "never". In nanoseconds. kInvalidArgument, for people.
Result<uint64_t> ParseSecondsOf(std::string_view option, std::string_view text);
// The same for what may take so long; for 0 the longest time there is.
Result<uint64_t> ParseTimeoutOf(std::string_view option, std::string_view text);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_NUMBERS_H_
