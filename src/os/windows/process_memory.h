// SPDX-License-Identifier: Apache-2.0
//
// Reads how another process was started from its memory.
#ifndef CAIRN_OS_WINDOWS_PROCESS_MEMORY_H_
#define CAIRN_OS_WINDOWS_PROCESS_MEMORY_H_

#include <string>

#include "os/this_process.h"

namespace cairn {

// Returns the command line given to CreateProcessW. "" if it cannot be read, or for a program of 32
// bits.
std::wstring CommandLineIn(ProcessId id);
// Returns the variables, a zero behind each, at most `most_units` of UTF-16. "" if they cannot be
// read, or for a program of 32 bits.
std::wstring EnvironmentIn(ProcessId id, size_t most_units);
// The process that started it, by number; -1 if it is gone.
ProcessId StarterOf(ProcessId id);

}  // namespace cairn

#endif  // CAIRN_OS_WINDOWS_PROCESS_MEMORY_H_
