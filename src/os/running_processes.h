// SPDX-License-Identifier: Apache-2.0
//
// The processes of this machine, as far as this one sees them, and the memory that they hold open.
// The facts of a process may be outdated a moment later.
#ifndef CAIRN_OS_RUNNING_PROCESSES_H_
#define CAIRN_OS_RUNNING_PROCESSES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "base/status.h"
#include "os/handle.h"
#include "os/process.h"
#include "os/shared_memory.h"

namespace cairn {

// Returns the processes in no order.
std::vector<ProcessId> RunningProcesses();

// The process that started it; -1 if that is not known.
ProcessId ParentOf(ProcessId id);

// The number by which it knows itself: another one in a container. `id` if that is not known.
ProcessId OwnNumberOf(ProcessId id);

// Returns true if the process was started with this entry ("NAME=value") in its environment; false
// if that cannot be read.
bool WasStartedWith(ProcessId id, const std::string& environment_entry);

// Memory of another process, made by SharedMemory::Create there.
class HeldMemory {
 public:
  explicit HeldMemory(SystemHandle handle) : handle_(std::move(handle)) {}

  // False if it does not have all of these bytes.
  bool ReadAt(uint64_t offset, std::span<std::byte> bytes) const;
  // Maps the whole memory, like SharedMemory::MapForReading. Call it once. kIo: its size is
  // unknown.
  Result<SharedMemory> MapForReading();

 private:
  SystemHandle handle_;
};

// Shows to `look` what the process holds of memory that was created under this name, until it returns true. The
// name is no proof of what it is. Returns why something could not be looked at, if nothing ended it before:
// no_such_file_or_directory or no_such_process if the process is gone, permission_denied or
// operation_not_permitted.
std::error_code LookAtHeldMemory(ProcessId id, const char* name,
                                 const std::function<bool(HeldMemory& memory)>& look);

}  // namespace cairn

#endif  // CAIRN_OS_RUNNING_PROCESSES_H_
