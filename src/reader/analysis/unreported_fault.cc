// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/unreported_fault.h"

#include <algorithm>

#include "reader/analysis/fault_address.h"
#include "reader/analysis/work_class.h"

namespace cairn {
namespace {

// A driver logs where we read, and names no fault. Silence says nothing: in a virtual machine or a sandbox the log can be
// read, and is not the one that the driver writes to.
bool KernelTellsOfOtherThings(const Snapshot& snapshot) {
  return !snapshot.kernel_lines.empty() &&
         std::none_of(snapshot.kernel_lines.begin(), snapshot.kernel_lines.end(),
                      [](const KernelLine& line) { return line.tells_fault; });
}

}  // namespace

bool MayBeUnreportedFault(const Snapshot& snapshot, const Analysis& analysis,
                          const CulpritFinding& finding) {
  if (finding.kind != FindingKind::kGpuHang || KernelTellsOfOtherThings(snapshot)) return false;
  if (finding.suspects.empty()) {
    return std::any_of(snapshot.devices.begin(), snapshot.devices.end(),
                       [&snapshot](const Device& device) {
                         return device.vendor_id != 0 && !IsOfCpu(snapshot, device);
                       });
  }
  const SuspectWork& first = finding.suspects.front();
  const uint32_t device = analysis.verdicts[first.verdict].device;
  if (device == kNone || snapshot.devices[device].vendor_id == 0 ||
      IsOfCpu(snapshot, snapshot.devices[device])) {
    return false;
  }
  return first.scope == kNone ||
         ClassOfScope(snapshot, analysis.scopes[first.scope]) != WorkClass::kNoWork;
}

}  // namespace cairn
