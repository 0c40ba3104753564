// SPDX-License-Identifier: Apache-2.0
#include "cli/triage_index.h"
#include "cli/verb.h"
#include "cli/written_output.h"

namespace cairn::cli {

int RunTriageIndex(const TriageIndexOptions&) {
  PrintError(
      "triage",
      "--index is not built into cairn for Windows; run cairn triage without it, or on Linux");
  return kExitFailed;
}

}  // namespace cairn::cli
