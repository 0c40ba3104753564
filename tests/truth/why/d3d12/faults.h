// SPDX-License-Identifier: Apache-2.0
//
// The faults of why_d3d12_program, by name, and their causes, which are known because we made them.
#ifndef CAIRN_TESTS_TRUTH_WHY_D3D12_FAULTS_H_
#define CAIRN_TESTS_TRUTH_WHY_D3D12_FAULTS_H_

#include <string>
#include <vector>

#include "truth/why/cause.h"
#include "truth/why/d3d12/machine.h"

namespace cairn::truth::why::d3d12 {

using Fault = FaultOf<Machine, Constants>;
using Group = GroupOf<Fault>;

// In groups, as they are listed.
const std::vector<Group>& Groups();

std::vector<Fault> HealthyPrograms();
std::vector<Fault> LoopFaults();
std::vector<Fault> LifetimeFaults();
std::vector<Fault> MemoryFaults();
std::vector<Fault> RaceFaults();
std::vector<Fault> OtherFaults();

// "HASH#INDEX": the shader, as reports name its DXBC, and the place of the loop among its loops, from 0 on; "-" if
// there is none.
std::string LoopOf(const Fault& fault);

}  // namespace cairn::truth::why::d3d12

#endif  // CAIRN_TESTS_TRUTH_WHY_D3D12_FAULTS_H_
