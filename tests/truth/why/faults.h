// SPDX-License-Identifier: Apache-2.0
//
// The faults of why_program, by name, and their causes, which are known because we made them.
#ifndef CAIRN_TESTS_TRUTH_WHY_FAULTS_H_
#define CAIRN_TESTS_TRUTH_WHY_FAULTS_H_

#include <string>
#include <vector>

#include "truth/why/cause.h"
#include "truth/why/machine.h"

namespace cairn::truth::why {

using Fault = FaultOf<Machine, Constants>;
using Group = GroupOf<Fault>;

const std::vector<Group>& Groups();

std::vector<Fault> LoopFaults();
std::vector<Fault> LifetimeFaults();
std::vector<Fault> MemoryFaults();
std::vector<Fault> RaceFaults();
std::vector<Fault> OtherFaults();
std::vector<Fault> HealthyPrograms();

// "file:line" of the line that ends with "// culprit" in the source that the SPIR-V holds, and "-" if there is none.
std::string CulpritLine(Shader shader);

}  // namespace cairn::truth::why

#endif  // CAIRN_TESTS_TRUTH_WHY_FAULTS_H_
