// SPDX-License-Identifier: Apache-2.0
#include "cli/left_out.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/verb.h"

namespace cairn::cli {

void PrintNotes(std::string_view verb, const std::string& about, const PlayerResult& result) {
  constexpr size_t kMostLines = 20;
  for (size_t i = 0; i < std::min(result.left_out.size(), kMostLines); ++i) {
    const LeftOut& kind = result.left_out[i];
    const std::string times =
        kind.count == 1 ? fmt::format("call {}", GroupedDigits(kind.first))
                        : fmt::format("{} times, first in call {}", GroupedDigits(kind.count),
                                      GroupedDigits(kind.first));
    PrintWarning(verb, fmt::format("{}skipped ({}): {}", about, times, kind.what));
  }
  if (result.left_out.size() > kMostLines) {
    uint64_t calls = 0;
    for (size_t i = kMostLines; i < result.left_out.size(); ++i) calls += result.left_out[i].count;
    PrintWarning(verb, fmt::format("{}skipped: {} more, of {} further kinds", about,
                                   GroupedDigits(calls), result.left_out.size() - kMostLines));
  }
  for (size_t i = 0; i < std::min(result.notes.size(), kMostLines); ++i) {
    PrintWarning(verb, about + result.notes[i]);
  }
  if (result.notes.size() > kMostLines) {
    PrintWarning(verb, fmt::format("{}{} more notes", about, result.notes.size() - kMostLines));
  }
}

}  // namespace cairn::cli
