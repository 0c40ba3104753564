// SPDX-License-Identifier: Apache-2.0
//
// The states of work, as people and programs read them: in text, JSON, Perfetto's traces and the page.
// viewer/states.mjs reads this table as text: a row a line.
#ifndef CAIRN_READER_REPORT_WORK_STATES_H_
#define CAIRN_READER_REPORT_WORK_STATES_H_

#include <iterator>
#include <string_view>

#include "reader/analysis/analysis.h"

namespace cairn {

// `word` stands behind "is", "are", "was" or "were" in sentences.
struct WorkStateText {
  WorkState state;
  std::string_view word;
  std::string_view mark;
};
// The last one stands for values of newer versions, too.
inline constexpr WorkStateText kWorkStates[] = {
    {WorkState::kNotStarted, "not started", "[ ]"},
    {WorkState::kInFlight, "in flight", "[>]"},
    {WorkState::kCompleted, "completed", "[X]"},
    {WorkState::kUnknown, "unknown", "[?]"},
};

constexpr const WorkStateText& TextOfState(WorkState state) {
  for (const WorkStateText& text : kWorkStates) {
    if (text.state == state) return text;
  }
  return kWorkStates[std::size(kWorkStates) - 1];
}
constexpr std::string_view WorkStateWord(WorkState state) {
  return TextOfState(state).word;
}
constexpr std::string_view StateMark(WorkState state) {
  return TextOfState(state).mark;
}

// For sentences and expectations.
inline constexpr std::string_view kNotStartedWord = WorkStateWord(WorkState::kNotStarted);
inline constexpr std::string_view kInFlightWord = WorkStateWord(WorkState::kInFlight);
inline constexpr std::string_view kCompletedWord = WorkStateWord(WorkState::kCompleted);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_WORK_STATES_H_
