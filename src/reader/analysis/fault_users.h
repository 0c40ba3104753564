// SPDX-License-Identifier: Apache-2.0
//
// Fault users: work that had finished and leads to the address of a fault. A GPU may go on behind a wrong access, and
// tell of it when the work that made it has long ended.
#ifndef CAIRN_READER_ANALYSIS_FAULT_USERS_H_
#define CAIRN_READER_ANALYSIS_FAULT_USERS_H_

#include <cstddef>

#include "reader/analysis/analysis.h"
#include "reader/analysis/bindings.h"

namespace cairn {

// More are not told of; the latest are.
inline constexpr size_t kMostFaultUsers = 16;

// Fills Analysis::fault_users where the driver, or the kernel of this process, tells of a fault and of an address:
// the finished work of all devices at rest (late_suspect.h) that has something bound which owns a part of what the
// address stands for, or is bound by such an address itself. Everything else of `analysis` is known. Time is linear
// in events, objects and descriptors for each address, and O(n log n) in the executions.
void FindFaultUsers(const Snapshot& snapshot, BindingResolver* resolver, Analysis* analysis);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_FAULT_USERS_H_
