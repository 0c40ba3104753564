// SPDX-License-Identifier: Apache-2.0
// Any text is an experiment that is written as it was read, or none.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "format/experiment/experiment.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::optional<cairn::Experiment> experiment = cairn::ParseExperiment(text);
  if (!experiment.has_value()) return 0;
  if (cairn::ParseExperiment(cairn::FormatExperiment(*experiment)) != experiment) std::abort();
  return 0;
}
