// SPDX-License-Identifier: Apache-2.0
//
// Fault users: work that had finished and leads to the address of a fault. A GPU may go on behind a wrong access, and
// tell of it when the work that made it has long ended.
#ifndef CAIRN_READER_ANALYSIS_FAULT_USERS_H_
#define CAIRN_READER_ANALYSIS_FAULT_USERS_H_

#include <cstddef>

#include "reader/analysis/analysis.h"
#include "reader/analysis/fault_address.h"

namespace cairn {

// The most users that are reported; the latest are.
inline constexpr size_t kMostFaultUsers = 16;

// Fills Analysis::fault_users, and adds their bindings, if the driver, or the kernel for this
// process, reports a fault with an address: the finished work of all devices at rest
// (late_suspect.h) with a bound object that owns a part of the address's range, or a binding of
// such an address itself. `addresses` and `analysis` are those of `snapshot`. Time is linear in
// events, objects and descriptors for each address, and O(n log n) in the executions.
void FindFaultUsers(const Snapshot& snapshot, const FaultAddresses& addresses, Analysis* analysis);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_FAULT_USERS_H_
