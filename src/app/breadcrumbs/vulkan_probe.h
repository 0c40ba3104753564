// SPDX-License-Identifier: Apache-2.0
//
// Finds every Vulkan device of the machine and runs the self-test on each: for `cairn selftest`, where
// no application brings a device. Loads the Vulkan loader itself; includes no Vulkan header.
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_PROBE_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_PROBE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "app/breadcrumbs/backend.h"
#include "base/status.h"

namespace cairn {

struct VulkanProbe {
  std::string device_name;
  std::string driver_name;  // with its version, in the driver's words
  std::string api_version;  // "1.3.230"
  std::string notes;        // "" if nothing special is known
  uint32_t vendor_id = 0;
  uint32_t device_id = 0;
  Status status;  // not Ok: the device could not be tested; `findings` is what came before
  WriteMethod method = WriteMethod::kNone;  // what a context would choose, every extension enabled
  WordMemory memory = WordMemory::kNone;
  std::vector<SourceFinding> findings;
};

// Probes each device, in the loader's order. kNotFound, with the next step, if there is no Vulkan
// loader or no device. Takes some milliseconds a device, at most some seconds on one that hangs.
Result<std::vector<VulkanProbe>> ProbeVulkanDevices();

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_PROBE_H_
