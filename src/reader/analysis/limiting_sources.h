// SPDX-License-Identifier: Apache-2.0
//
// Data sources that a device does not have and that would have answered what the answer leaves
// open.
#ifndef CAIRN_READER_ANALYSIS_LIMITING_SOURCES_H_
#define CAIRN_READER_ANALYSIS_LIMITING_SOURCES_H_

#include <cstdint>
#include <vector>

#include "format/snapshot/snapshot.h"
#include "reader/analysis/culprit.h"

namespace cairn {

// Returns indices into Snapshot::sources, in rising order: sources that are not present, and that
// would have told where the GPU was, or why the device was lost, where `finding` does not know.
// `finding` is that of `snapshot` and `device`; of a device (not kNone) only its own sources are
// returned. Pure. Time is linear in the number of sources. Any snapshot whose indices are in range
// is safe.
std::vector<uint32_t> FindLimitingSources(const Snapshot& snapshot, const CulpritFinding& finding,
                                          uint32_t device = kNone);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_LIMITING_SOURCES_H_
