// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/unreported_fault.h"

#include <algorithm>
#include <string_view>

#include "reader/analysis/work_class.h"

namespace cairn {
namespace {

// Implementations that run everything on the CPU: llvmpipe and lavapipe (VK_VENDOR_ID_MESA), SwiftShader, and WARP.
// Wine and other layers may give the number of a vendor of GPUs beside the name of one of these.
bool RunsOnCpu(const Snapshot& snapshot, const Device& device) {
  const std::string_view name = snapshot.Text(device.name);
  for (const std::string_view known : {"llvmpipe", "SwiftShader", "Microsoft Basic Render"}) {
    if (name.find(known) != std::string_view::npos) return true;
  }
  constexpr uint32_t kMesa = 0x10005;
  constexpr uint32_t kSwiftShader = 0x1AE0;
  constexpr uint32_t kMicrosoft = 0x1414;
  constexpr uint32_t kWarp = 0x8C;
  return device.vendor_id == kMesa || device.vendor_id == kSwiftShader ||
         (device.vendor_id == kMicrosoft && device.device_id == kWarp);
}

// The log was read, and would have named the fault.
bool KernelKnowsOfNone(const Snapshot& snapshot) {
  const bool read = std::any_of(snapshot.kernel_logs.begin(), snapshot.kernel_logs.end(),
                                [](const KernelLog& log) { return log.why_not.empty(); });
  return read && std::none_of(snapshot.kernel_lines.begin(), snapshot.kernel_lines.end(),
                              [](const KernelLine& line) { return line.tells_fault; });
}

}  // namespace

bool MayBeUnreportedFault(const Snapshot& snapshot, const Analysis& analysis,
                          const CulpritFinding& finding) {
  if (finding.kind != FindingKind::kGpuHang || KernelKnowsOfNone(snapshot)) return false;
  if (finding.suspects.empty()) {
    return std::any_of(snapshot.devices.begin(), snapshot.devices.end(),
                       [&snapshot](const Device& device) {
                         return device.vendor_id != 0 && !RunsOnCpu(snapshot, device);
                       });
  }
  const SuspectWork& first = finding.suspects.front();
  const uint32_t device = analysis.verdicts[first.verdict].device;
  if (device == kNone || snapshot.devices[device].vendor_id == 0 ||
      RunsOnCpu(snapshot, snapshot.devices[device])) {
    return false;
  }
  return first.scope == kNone ||
         ClassOfScope(snapshot, analysis.scopes[first.scope]) != WorkClass::kNoWork;
}

}  // namespace cairn
