// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_READER_WHY_CULPRIT_SHADERS_H_
#define CAIRN_READER_WHY_CULPRIT_SHADERS_H_

#include <cstdint>
#include <vector>

#include "format/snapshot/snapshot.h"
#include "reader/analysis/findings.h"

namespace cairn {

// Returns the hashes of the SPIR-V of all suspects' pipelines, each once, sorted. Empty if not all of them are known, as
// of programs of Direct3D, whose shaders are translated below the layer that reports; or if they are more than an
// experiment takes: any shader may be the one.
std::vector<uint64_t> CulpritShaders(const Snapshot& snapshot, const Findings& findings);

}  // namespace cairn

#endif  // CAIRN_READER_WHY_CULPRIT_SHADERS_H_
