// SPDX-License-Identifier: Apache-2.0
//
// The GPUs of this machine as the system itself knows them. On Windows; Linux leaves that to each graphics API.
#ifndef CAIRN_OS_GRAPHICS_ADAPTER_H_
#define CAIRN_OS_GRAPHICS_ADAPTER_H_

#include <cstdint>
#include <string>

#include "base/status.h"

namespace cairn {

struct GraphicsAdapter {
  std::string name;
  uint32_t vendor = 0;  // of PCI
  uint32_t device = 0;
  std::string driver_version;  // "31.0.15.4633"; "" if the system does not tell
};

// Finds an adapter by its LUID, which is valid until the machine starts again. Errors: kNotFound if
// there is none of that number; kUnsupported where the system knows none.
Result<GraphicsAdapter> FindGraphicsAdapter(uint64_t luid);

}  // namespace cairn

#endif  // CAIRN_OS_GRAPHICS_ADAPTER_H_
