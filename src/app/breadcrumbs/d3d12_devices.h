// SPDX-License-Identifier: Apache-2.0
//
// Direct3D 12 devices of our own, where no application brings one: for the probe, tests and
// benchmarks. Loads the implementation itself; nothing is linked.
#ifndef CAIRN_APP_BREADCRUMBS_D3D12_DEVICES_H_
#define CAIRN_APP_BREADCRUMBS_D3D12_DEVICES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace cairn {

struct D3D12CreatedDevice {
  std::string name;  // of the adapter
  void* device =
      nullptr;  // ID3D12Device*, one reference for the caller; null if `status` is not Ok
  Status status;
};

// Makes a device for each adapter, in the implementation's order. kNotFound, with the next step, if
// there is no implementation of Direct3D 12 or no adapter.
Result<std::vector<D3D12CreatedDevice>> CreateD3D12Devices();

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D12_DEVICES_H_
