// SPDX-License-Identifier: Apache-2.0
// Whatever a child leaves in the memory of its status: texts are bounded and visible, an end is one that a child
// may say, and clean is only what finished.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/text.h"
#include "reader/bisect/probe_answer.h"
#include "reader/bisect/probe_process.h"

namespace {

void CheckText(const std::string& text) {
  // Each byte is shown as four at most.
  if (text.size() > 4 * cairn::StatusText<>::kMaxBytes) std::abort();
  if (cairn::VisibleText(text) != text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::ProbeStatus status;
  std::memcpy(static_cast<void*>(&status), data, std::min(size, sizeof(status)));
  const cairn::ProbeRun run = cairn::RunOf(status);
  for (const std::string& text : {run.message, run.left_out, run.device.name, run.device.driver,
                                  run.device.library, run.device.library_paths}) {
    CheckText(text);
  }
  if (run.end == cairn::ProbeEnd::kNone || run.end > cairn::ProbeEnd::kDied) std::abort();
  const auto answer = cairn::AnswerOf(run, {});
  const bool clean = answer.ok() && answer->outcome == cairn::ProbeOutcome::kClean;
  if (clean != (run.end == cairn::ProbeEnd::kFinished)) std::abort();
  return 0;
}
