// SPDX-License-Identifier: Apache-2.0
//
// The adapters of this machine in the order in which implementations of Direct3D 12 enumerate them: that of DXGI on
// Windows; on Linux, where there is no DXGI, that of Vulkan's physical devices, which libvkd3d and vkd3d-proton count
// from 0 as well.
#ifndef CAIRN_D3D12ABI_ADAPTERS_H_
#define CAIRN_D3D12ABI_ADAPTERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace cairn {

struct Adapter {
  std::string name;        // UTF-8, as the driver gives it
  uint64_t luid = 0;       // high part first; 0: unknown, as always on Linux
  uint32_t vendor_id = 0;  // of PCI; 0: unknown, as always under Wine, which makes some up
  uint32_t device_id = 0;
  bool of_vulkan = false;  // Vulkan says all of this, and not DXGI

  bool operator==(const Adapter&) const = default;
};

// Lists all of them. On Linux it loads the drivers of Vulkan, for the life of the process. One thread. Errors: kNotFound: no library to ask; kUnsupported: the
// library does not answer.
Result<std::vector<Adapter>> ListAdapters();

// Returns the place of the adapter that a device was made on, from 0. `device`: an ID3D12Device of the implementation,
// and no wrapper; `luid`: the result of its GetAdapterLuid. Missing where the device does not tell it.
std::optional<uint32_t> AdapterPlaceOf(void* device, uint64_t luid);

// Selects the adapter of the devices that are made from now on, and returns what D3D12CreateDevice takes for it: an
// IUnknown with a reference for the caller on Windows. Null on Linux, where the variable VKD3D_VULKAN_DEVICE selects;
// to set it while other threads ask for variables is the caller's risk. Errors: kNotFound: there is no such adapter.
Result<void*> SelectAdapter(uint32_t place);

// Ends the selection, once the device is made: the environment is the user's again.
void EndAdapterSelection();

// True if the user's environment selects the adapter. Not between the two above.
bool EnvironmentSelectsAdapter();

}  // namespace cairn

#endif  // CAIRN_D3D12ABI_ADAPTERS_H_
