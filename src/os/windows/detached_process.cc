// SPDX-License-Identifier: Apache-2.0
#include "os/detached_process.h"

#include "os/windows/launch.h"
#include "os/windows/system.h"

namespace cairn {

uint64_t NumberInDetached(RawHandle inherited) {
  return static_cast<uint64_t>(inherited);
}

std::error_code StartDetached(const std::vector<std::string>& arguments, RawHandle inherited) {
  Launch launch;
  launch.file = SystemPath(Wide(arguments[0]));
  launch.words = arguments;
  launch.inherited = {reinterpret_cast<HANDLE>(inherited)};
  launch.flags = CREATE_NEW_PROCESS_GROUP | CREATE_BREAKAWAY_FROM_JOB | WithoutNewConsole();
  ProcessHandle process;
  std::error_code error = LaunchProgram(launch, &process);
  if (error == std::errc::permission_denied) {
    // The process is in a job that processes cannot leave.
    launch.flags &= ~DWORD{CREATE_BREAKAWAY_FROM_JOB};
    error = LaunchProgram(launch, &process);
  }
  return error;
}

}  // namespace cairn
