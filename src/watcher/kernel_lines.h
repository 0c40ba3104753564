// SPDX-License-Identifier: Apache-2.0
//
// Finds the lines of the kernel's log about a GPU, and those about this process.
#ifndef CAIRN_WATCHER_KERNEL_LINES_H_
#define CAIRN_WATCHER_KERNEL_LINES_H_

#include <cstdint>
#include <string_view>

#include "format/snapshot/snapshot.h"

namespace cairn {

enum class KernelLineAbout {
  kNothing,  // no GPU, or another process
  kGpu,      // a GPU; no process is named
  kThisProcess,
};
// Drivers say it as "pid=71", "pid='71'", "pid 71", "in game [71]". Pure.
KernelLineAbout WhatKernelLineIsAbout(std::string_view line, int64_t process_id);
// Returns true if a line about a GPU reports a wrong access or instruction: "MMU Fault", "Graphics
// Exception".
bool KernelLineTellsFault(std::string_view line);

// Puts into the snapshot what the kernel logged about GPUs since the process was started, the last
// kMostKernelLines lines; or why it cannot be read. Needs the time of its start. `process_id`: as the kernel
// numbers it.
inline constexpr size_t kMostKernelLines = 64;
void AddKernelLog(int64_t process_id, Snapshot* snapshot);

}  // namespace cairn

#endif  // CAIRN_WATCHER_KERNEL_LINES_H_
