// SPDX-License-Identifier: Apache-2.0
//
// Finds the devices that failed, and attributes faults in the kernel log to one of them.
#ifndef CAIRN_READER_ANALYSIS_FAILED_DEVICES_H_
#define CAIRN_READER_ANALYSIS_FAILED_DEVICES_H_

#include <cstdint>
#include <vector>

#include "format/snapshot/snapshot.h"

namespace cairn {

// Returns, for each device, if it was lost or its driver tells of a fault. Empty if no device was.
// Pure; time linear in devices and faults. Any snapshot whose indices are in range is safe.
std::vector<bool> FindFailedDevices(const Snapshot& snapshot);

// Returns the first line of the kernel's log that names this process and a fault, into
// Snapshot::kernel_lines; kNone if there is none. Lines name no device: where others failed and
// `device` did not, the lines are theirs, and kNone is returned. `device` kNone: any. As above, and
// linear in the lines.
uint32_t FindKernelFault(const Snapshot& snapshot, uint32_t device);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_FAILED_DEVICES_H_
