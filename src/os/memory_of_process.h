// SPDX-License-Identifier: Apache-2.0
//
// The memory of a process that lives.
#ifndef CAIRN_OS_MEMORY_OF_PROCESS_H_
#define CAIRN_OS_MEMORY_OF_PROCESS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "os/this_process.h"

namespace cairn {

// Copies what lies at `address` in the process. False if not all of it can be read: nothing lies there, the process has
// ended, or the system does not let this one read it. Nothing can go wrong in either process. One call of the system's.
bool ReadMemoryOfProcess(ProcessId process, uint64_t address, std::span<std::byte> out);

}  // namespace cairn

#endif  // CAIRN_OS_MEMORY_OF_PROCESS_H_
