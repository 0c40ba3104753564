// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_READER_WHY_CULPRIT_SHADERS_H_
#define CAIRN_READER_WHY_CULPRIT_SHADERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "format/snapshot/snapshot.h"
#include "reader/analysis/findings.h"

namespace cairn {

// Returns the hashes of the shaders of all suspects' pipelines, each once, sorted: of SPIR-V, or of DXBC and DXIL with a 0
// in front of them (Experiment::shaders). Empty if not all of them are known, as those of Direct3D 11; or if they are more
// than an experiment takes: any shader may be the one.
std::vector<uint64_t> CulpritShaders(const Snapshot& snapshot, const Findings& findings);

// Returns the names of pipelines by the hashes of their shaders. Of several pipelines with one shader the first suspect's
// is named.
std::map<uint64_t, std::string> PipelinesOfShaders(const Snapshot& snapshot,
                                                   const Findings& findings);

}  // namespace cairn

#endif  // CAIRN_READER_WHY_CULPRIT_SHADERS_H_
