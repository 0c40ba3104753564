// SPDX-License-Identifier: Apache-2.0
//
// Drivers of Vulkan as the registry names them to Vulkan's loader. Windows alone: on Linux they are files in folders.
#ifndef CAIRN_OS_REGISTERED_DRIVERS_H_
#define CAIRN_OS_REGISTERED_DRIVERS_H_

#include <string>
#include <vector>

namespace cairn {

struct VulkanDriver {
  std::string manifest;
  std::string device;   // what the system calls it; "" of a driver for no device in particular
  std::string version;  // "31.0.15.4633", likewise
};

// Returns the registered drivers, including those of devices that the machine no longer has. Loads
// none.
std::vector<VulkanDriver> RegisteredVulkanDrivers();

}  // namespace cairn

#endif  // CAIRN_OS_REGISTERED_DRIVERS_H_
