// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_TESTS_ICD_PROGRAM_SCENARIOS_H_
#define CAIRN_TESTS_ICD_PROGRAM_SCENARIOS_H_

#include <span>
#include <string_view>

#include "icd/program_device.h"

namespace cairn::icd {

// Returns the program's exit code, if it returns.
using ScenarioFunction = int (*)(ProgramDevice& device);
struct Scenario {
  std::string_view name;
  ScenarioFunction run;
};

// In which the GPU misleads whoever reads markers.
std::span<const Scenario> PitfallScenarios();
// In which it faults or is lost.
std::span<const Scenario> FaultScenarios();
// In which recordings and queues are used in every way that Vulkan allows.
std::span<const Scenario> RecordingScenarios();

// Null if there is none of this name.
ScenarioFunction FindScenario(std::string_view name);

}  // namespace cairn::icd

#endif  // CAIRN_TESTS_ICD_PROGRAM_SCENARIOS_H_
