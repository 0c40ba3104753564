// SPDX-License-Identifier: Apache-2.0
//
// cairn bisect -- PROGRAM: finds the work without which a program does not fail, by running it again and again.
#ifndef CAIRN_CLI_BISECT_PROGRAM_H_
#define CAIRN_CLI_BISECT_PROGRAM_H_

#include <cstdint>
#include <string>

#include "cli/program_runs.h"

namespace cairn::cli {

struct BisectProgramOptions {
  ProgramRunsOptions runs;
  std::string output;  // the report of a run with the culprit alone; "": none
  bool no_why = false;
  uint32_t repeats = 2;
  uint64_t max_probes = 100'000;
};

// Returns the exit code: 0 if a culprit was found.
int BisectProgram(const BisectProgramOptions& options);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_BISECT_PROGRAM_H_
