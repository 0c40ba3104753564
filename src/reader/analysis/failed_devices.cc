// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/failed_devices.h"

#include <algorithm>

namespace cairn {

std::vector<bool> FindFailedDevices(const Snapshot& snapshot) {
  std::vector<bool> failed(snapshot.devices.size());
  for (size_t i = 0; i < failed.size(); ++i) failed[i] = snapshot.devices[i].device_lost;
  for (const Fault& fault : snapshot.faults) {
    if (fault.device != kNone && fault.result >= 0) failed[fault.device] = true;
  }
  if (std::find(failed.begin(), failed.end(), true) == failed.end()) failed.clear();
  return failed;
}

uint32_t FindKernelFault(const Snapshot& snapshot, uint32_t device) {
  const auto& lines = snapshot.kernel_lines;
  const auto found = std::find_if(lines.begin(), lines.end(), [](const KernelLine& line) {
    return line.names_process && line.tells_fault;
  });
  if (found == lines.end()) return kNone;
  const std::vector<bool> failed = FindFailedDevices(snapshot);
  if (device != kNone && !failed.empty() && !failed[device]) return kNone;
  return static_cast<uint32_t>(found - lines.begin());
}

}  // namespace cairn
