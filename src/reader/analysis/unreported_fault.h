// SPDX-License-Identifier: Apache-2.0
//
// Recognises a hang that may be a fault of memory that nobody reported. Part of culprit.h.
#ifndef CAIRN_READER_ANALYSIS_UNREPORTED_FAULT_H_
#define CAIRN_READER_ANALYSIS_UNREPORTED_FAULT_H_

#include "reader/analysis/culprit.h"

namespace cairn {

// True for a hang on a GPU: a wild access stops it as an endless loop does, and drivers report it
// late or never (NVIDIA's driver 580 gives neither a lost device nor an answer to
// VK_EXT_device_fault). False where the "GPU" is the CPU, whose faults are signals; where lines of
// a GPU's driver in the kernel's log report no fault; and where the first suspect runs nothing.
// `finding` has its kind and suspects. Pure, linear in the kernel's lines.
bool MayBeUnreportedFault(const Snapshot& snapshot, const Analysis& analysis,
                          const CulpritFinding& finding);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_UNREPORTED_FAULT_H_
