// SPDX-License-Identifier: Apache-2.0
//
// A program that a program of others starts: it is no child of that, and outlives it.
#ifndef CAIRN_OS_DETACHED_PROCESS_H_
#define CAIRN_OS_DETACHED_PROCESS_H_

#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include "os/handle.h"

namespace cairn {

// The number that a handle of this process has in a program that StartDetached starts.
uint64_t NumberInDetached(RawHandle inherited);

// Starts arguments[0], a path, with one handle of this process; the error if that fails. Any thread; what the program
// is in the middle of is left alone. On Windows it has this process's console, if there is one, and ^C does not reach
// it; it outlives a job that lets processes leave.
std::error_code StartDetached(const std::vector<std::string>& arguments, RawHandle inherited);

}  // namespace cairn

#endif  // CAIRN_OS_DETACHED_PROCESS_H_
