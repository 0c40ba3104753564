// SPDX-License-Identifier: Apache-2.0
//
// Whatever a child leaves in its memory is told within bounds.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "reader/bisect/program_trial.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  alignas(cairn::TrialTelling) unsigned char memory[sizeof(cairn::TrialTelling)] = {};
  if (size != 0) std::memcpy(memory, data, size < sizeof(memory) ? size : sizeof(memory));
  const auto* const telling = std::launder(reinterpret_cast<const cairn::TrialTelling*>(memory));
  cairn::TrialRun run;
  run.end = cairn::TrialEnd::kFailed;
  run.failure = telling->failure();
  run.value = telling->signal();
  if (run.failure > cairn::FailureKind::kDied || telling->why().size() > 10 * sizeof(memory)) {
    std::abort();
  }
  if (telling->has_ended() && telling->cannot_run()) std::abort();
  const cairn::Result<cairn::ProbeAnswer> answer = cairn::AnswerOf(run);
  if (!answer.ok() || answer->outcome != cairn::ProbeOutcome::kFails) std::abort();
  return 0;
}
