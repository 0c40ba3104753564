// SPDX-License-Identifier: Apache-2.0
//
// cairn bisect -- PROGRAM: finds the work without which a program does not fail, by running it again and again.
#ifndef CAIRN_CLI_BISECT_PROGRAM_H_
#define CAIRN_CLI_BISECT_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/bisect_parts.h"

namespace cairn::cli {

struct BisectProgramOptions {
  std::vector<std::string> program;  // and its arguments
  std::string output;                // the report of a run with the culprit alone; "": none
  std::string journal;               // "": PROGRAM.bisect
  std::string hang_timeout = "10";   // seconds
  uint64_t hang_timeout_ns = 0;      // the same; not 0
  uint64_t survive_ns = 0;           // 0: the program ends by itself
  uint64_t recovery_ns = 0;          // GpuCheck
  uint32_t repeats = 2;
  uint64_t max_probes = 100'000;
  bool restart = false;
  bool json = false;
  bool quiet = false;
  ProbeProgress progress = ProbeProgress::kNone;
};

// Returns the exit code: 0 if a culprit was found.
int BisectProgram(const BisectProgramOptions& options);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_BISECT_PROGRAM_H_
