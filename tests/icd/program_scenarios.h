// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_TESTS_ICD_PROGRAM_SCENARIOS_H_
#define CAIRN_TESTS_ICD_PROGRAM_SCENARIOS_H_

#include <initializer_list>
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

// Returns a list of the queue for graphics with these steps (ProgramList::Add), ready to be submitted.
ProgramList Recorded(ProgramDevice& device, std::initializer_list<const char*> steps,
                     const char* name = "Main",
                     VkCommandBufferUsageFlags flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
// Run, RunAndDie and RunUntilLost submit the list, to the queue for graphics if none is given, and return the program's
// exit code.
// Says that it is ready and waits for ever, or until the device is lost.
int Run(ProgramDevice& device, const ProgramList& list, const SubmitSync& sync = {});
// Dies once the device stands still.
int RunAndDie(ProgramDevice& device, const ProgramList& list, const ProgramQueue* queue = nullptr);
// Waits; returns 1 when the device is lost.
int RunUntilLost(ProgramDevice& device, const ProgramList& list);

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
