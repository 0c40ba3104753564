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

// Scenarios in which the GPU misleads a reader of markers.
std::span<const Scenario> PitfallScenarios();
// Scenarios in which the GPU faults or is lost.
std::span<const Scenario> FaultScenarios();
// Scenarios with every use of recordings and queues that Vulkan allows.
std::span<const Scenario> RecordingScenarios();

// Null if there is none of this name.
ScenarioFunction FindScenario(std::string_view name);

}  // namespace cairn::icd

#endif  // CAIRN_TESTS_ICD_PROGRAM_SCENARIOS_H_
