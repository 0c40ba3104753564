// SPDX-License-Identifier: Apache-2.0
//
// Prints calls that differ, for `cairn diff`. JSON: docs/formats/diff.schema.json.
#ifndef CAIRN_READER_VIEW_DIFF_TEXT_H_
#define CAIRN_READER_VIEW_DIFF_TEXT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "reader/view/trace_diff.h"

namespace cairn::cli {

// Calls that differ, one after the other: a heading for each frame and thread, a line for each call.
class CallDifferenceText {
 public:
  explicit CallDifferenceText(bool colour) : colour_(colour) {}
  std::string Next(const CallDifference& difference);

 private:
  // The frame, that of the other side, and the thread of each.
  using Place = std::tuple<uint64_t, std::optional<uint64_t>, std::optional<uint32_t>,
                           std::optional<uint32_t>>;

  const bool colour_;
  std::optional<Place> place_;
};

// One line behind them. `cut`: there are more than were shown.
std::string DiffSummary(const TraceDiffResult& result, bool cut);
// Returns a warning about calls of which only the functions were compared; there must be some.
std::string UndecodedWarning(const TraceDiffResult& result);
std::string CallDifferencesJson(const std::string (&names)[2], const TraceDiffResult& result,
                                std::span<const CallDifference> differences, bool cut);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_DIFF_TEXT_H_
