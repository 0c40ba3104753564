// SPDX-License-Identifier: Apache-2.0
//
// The commands that tell more of a failure than its report does.
#ifndef CAIRN_READER_REPORT_NEXT_STEPS_H_
#define CAIRN_READER_REPORT_NEXT_STEPS_H_

#include <string>
#include <string_view>
#include <vector>

#include "reader/analysis/findings.h"

namespace cairn {

struct NextStep {
  std::string command;  // for a shell, or the path of a file; visible text
  std::string effect;   // "also marks where work ends: fewer suspects"
};

// Returns the steps for this failure, the first to try first; where nothing failed, or nothing else tells more, the page
// of the file. `file` is the path of the report, as its reader named it. Options of `cairn run` that the failure depends on
// are kept. The program and its arguments are those in the file: whoever made the file chose them. They are
// quoted, so that a shell runs nothing else.
std::vector<NextStep> NextSteps(const Snapshot& snapshot, const Findings& findings,
                                std::string_view file);

// Returns what to send to others, who have not seen the failure: the command that prints the answer for a bug report, and
// the file itself, with what it holds. None where nothing failed.
std::vector<NextStep> StepsToSend(const Snapshot& snapshot, const Findings& findings,
                                  std::string_view file);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_NEXT_STEPS_H_
