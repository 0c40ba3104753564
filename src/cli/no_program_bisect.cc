// SPDX-License-Identifier: Apache-2.0
#include "cli/bisect_program.h"
#include "cli/verb.h"

namespace cairn::cli {

int BisectProgram(const BisectProgramOptions&) {
  PrintError("bisect",
             "on this system only traces are searched yet, no programs; say cairn bisect FILE");
  return kExitFailed;
}

}  // namespace cairn::cli
