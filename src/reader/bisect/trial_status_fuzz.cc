// SPDX-License-Identifier: Apache-2.0
//
// Whatever a child leaves in the memory of its status is read within bounds.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "reader/bisect/program_trial.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using Program = cairn::TrialStatus::Program;
  cairn::TrialStatus status;
  if (size != 0) std::memcpy(static_cast<void*>(&status), data, std::min(size, sizeof(status)));
  cairn::TrialRun run;
  run.end = cairn::TrialEnd::kFailed;
  run.failure = status.failure.Get();
  run.value = status.signal;
  if (run.failure > cairn::FailureKind::kDied || status.program.Get() > Program::kNotRun ||
      status.why.Get().size() > 4 * cairn::StatusText<>::kMaxBytes) {
    std::abort();
  }
  const cairn::Result<cairn::ProbeAnswer> answer = cairn::AnswerOf(run);
  if (!answer.ok() || answer->outcome != cairn::ProbeOutcome::kFails) std::abort();
  return 0;
}
