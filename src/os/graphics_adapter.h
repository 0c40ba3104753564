// SPDX-License-Identifier: Apache-2.0
//
// The GPUs of this machine as the system itself knows them. On Windows; Linux leaves that to each graphics API.
#ifndef CAIRN_OS_GRAPHICS_ADAPTER_H_
#define CAIRN_OS_GRAPHICS_ADAPTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace cairn {

struct GraphicsAdapter {
  std::string name;
  uint32_t vendor = 0;  // of PCI
  uint32_t device = 0;
  std::string driver_version;  // "31.0.15.4633"; "" if the system does not tell
  uint64_t luid = 0;           // high part first
};

// Lists all adapters, in the order of DXGI. Errors: kUnsupported where the system knows none.
Result<std::vector<GraphicsAdapter>> ListGraphicsAdapters();

// Finds an adapter by its LUID, which is valid until the machine starts again. Errors: kNotFound if
// there is none of that number; kUnsupported where the system knows none.
Result<GraphicsAdapter> FindGraphicsAdapter(uint64_t luid);

// Returns the place of an adapter in that order by its LUID. Asks no driver, unlike the two above. Errors as above.
Result<uint32_t> PlaceOfGraphicsAdapter(uint64_t luid);

// Returns the IUnknown of an adapter, by its place in that order, with a reference for the caller. Errors as above.
Result<void*> OpenGraphicsAdapter(uint32_t place);

}  // namespace cairn

#endif  // CAIRN_OS_GRAPHICS_ADAPTER_H_
