// SPDX-License-Identifier: Apache-2.0
//
// What was measured about a vendor's devices, whatever the API, and changes what follows from a report.
#ifndef CAIRN_SNAPSHOT_DEVICE_FACTS_H_
#define CAIRN_SNAPSHOT_DEVICE_FACTS_H_

#include <cstdint>

namespace cairn {

inline constexpr uint32_t kVendorNvidia = 0x10de;  // a PCI number

// Work that faults there may finish, its write at the bottom of the pipe and its fence included; the next
// one then never does. docs/analysis.md.
constexpr bool FaultsSurfaceLate(uint32_t vendor_id) {
  return vendor_id == kVendorNvidia;
}

}  // namespace cairn

#endif  // CAIRN_SNAPSHOT_DEVICE_FACTS_H_
