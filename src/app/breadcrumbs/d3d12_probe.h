// SPDX-License-Identifier: Apache-2.0
//
// Finds every Direct3D 12 device of the machine and runs the self-test on each: for `cairn selftest`,
// where no application brings a device. Includes no Direct3D header.
#ifndef CAIRN_APP_BREADCRUMBS_D3D12_PROBE_H_
#define CAIRN_APP_BREADCRUMBS_D3D12_PROBE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "app/breadcrumbs/backend.h"
#include "base/status.h"

namespace cairn {

struct D3D12Probe {
  std::string device_name;
  std::string driver_name;  // the library, the driver below it, feature level, adapter
  std::string notes;        // "" if nothing special is known
  uint32_t vendor_id = 0;
  uint32_t device_id = 0;
  Status status;  // not Ok: the device could not be tested; `findings` is what came before
  WriteMethod method = WriteMethod::kNone;  // what a context would choose
  WordMemory memory = WordMemory::kNone;
  std::vector<SourceFinding> findings;
};

// Probes each device. kNotFound, with the next step, if there is no implementation of Direct3D 12
// or no adapter. Takes some milliseconds a device, at most some seconds on one that hangs.
Result<std::vector<D3D12Probe>> ProbeD3D12Devices();

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D12_PROBE_H_
