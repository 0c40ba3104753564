// SPDX-License-Identifier: Apache-2.0
//
// Blocks of running processes, as their owners hold them open.
#ifndef CAIRN_WATCHER_RUNNING_BLOCKS_H_
#define CAIRN_WATCHER_RUNNING_BLOCKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "os/process.h"
#include "os/shared_memory.h"

namespace cairn {

struct LiveProcess {
  ProcessId pid = -1;
  std::string program;  // as the process gave it; untrusted text
};
struct LiveProcesses {
  std::vector<LiveProcess> processes;  // by process number
  uint32_t not_permitted = 0;          // that nobody may look into but their user or root
};

// The processes that have a block of their own. Those that merely hold another one's, as the watcher
// does, are not among them.
LiveProcesses FindLiveProcesses();
// Returns the live processes whose environment has this entry ("NAME=value"), as far as this
// process may read it.
std::vector<LiveProcess> FindLiveProcessesWith(const std::string& environment_entry);

// Maps the block of `pid` for reading; nothing of it is trusted. kNotFound: there is no such process, or
// it has no block. kUnsupported: it may not be looked into. kCorrupt: as SharedMemory::MapForReading.
Result<SharedMemory> OpenLiveBlock(ProcessId pid);

}  // namespace cairn

#endif  // CAIRN_WATCHER_RUNNING_BLOCKS_H_
