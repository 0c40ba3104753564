// SPDX-License-Identifier: Apache-2.0
//
// The texts of `cairn bisect -- PROGRAM`, apart from the program for its test.
#ifndef CAIRN_READER_VIEW_PROGRAM_BISECT_TEXT_H_
#define CAIRN_READER_VIEW_PROGRAM_BISECT_TEXT_H_

#include <cstdint>
#include <string>

#include "reader/bisect/program_search.h"

namespace cairn::cli {

struct ProgramTold {
  std::string program;  // as a shell takes it
  ProgramFound found;
  double hang_timeout_seconds = 0;
  double survive_seconds = 0;  // 0: runs end by themselves
  std::string report_path;     // "" if none was written
  uint64_t duration_ns = 0;
  std::string
      why_json;  // the cause (docs/formats/why.schema.json); "" if it was not looked for, or not found out
};

// "hangs", "dies of SIGSEGV".
std::string FailsInWords(FailureKind kind, int signal);

// Ends with a line break.
std::string ProgramAnswerAsText(const ProgramTold& told);
// docs/formats/bisect-program.schema.json.
std::string ProgramAnswerAsJson(const ProgramTold& told);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_PROGRAM_BISECT_TEXT_H_
