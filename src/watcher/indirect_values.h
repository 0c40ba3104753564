// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_WATCHER_INDIRECT_VALUES_H_
#define CAIRN_WATCHER_INDIRECT_VALUES_H_

#include "format/snapshot/snapshot.h"
#include "os/this_process.h"

namespace cairn {

// The most commands that are read: those that were recorded last.
inline constexpr uint32_t kMostIndirectReads = 1024;

// Reads the arguments of indirect commands in the memory of the program, where a recording says
// that they are in it (format/block/indirect_values.h). Omits arguments that cannot be read, as
// those of a program that has ended. The snapshot keeps no address of the program. Time: linear in
// the events, and a system call for each command.
void ReadIndirectValues(ProcessId process, Snapshot* snapshot);

}  // namespace cairn

#endif  // CAIRN_WATCHER_INDIRECT_VALUES_H_
