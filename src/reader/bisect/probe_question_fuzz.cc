// SPDX-License-Identifier: Apache-2.0
// Any bytes are a question or none; a question comes back as it was when it is written again.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "reader/bisect/probe_question.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto question = cairn::ReadProbeQuestion(std::as_bytes(std::span(data, size)));
  if (!question.ok()) return 0;
  const auto again = cairn::ReadProbeQuestion(cairn::WriteProbeQuestion(*question));
  if (!again.ok() || again->path != question->path || again->device != question->device ||
      again->leave.left_out != question->leave.left_out ||
      again->leave.parts != question->leave.parts || again->read != question->read) {
    std::abort();
  }
  return 0;
}
