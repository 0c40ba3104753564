// SPDX-License-Identifier: Apache-2.0
//
// Finds the implementation of a Direct3D 12 device. The API does not name it; the library that
// holds the device's code does.
#ifndef CAIRN_APP_BREADCRUMBS_D3D12_MODULE_H_
#define CAIRN_APP_BREADCRUMBS_D3D12_MODULE_H_

#include <cstdint>
#include <string>

#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

struct D3D12Module {
  std::string device_name;  // never empty: "Direct3D 12 device" if nothing is known
  std::string driver_name;  // the library, and the driver below it as far as known
  uint32_t vendor_id = 0;   // PCI, 0 if unknown
  uint32_t device_id = 0;
};

D3D12Module IdentifyD3D12Module(ID3D12Device* device);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D12_MODULE_H_
