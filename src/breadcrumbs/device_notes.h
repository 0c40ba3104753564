// SPDX-License-Identifier: Apache-2.0
//
// What was measured about a vendor's devices, whatever the API, and a reader of a report must know.
#ifndef CAIRN_BREADCRUMBS_DEVICE_NOTES_H_
#define CAIRN_BREADCRUMBS_DEVICE_NOTES_H_

#include <cstdint>
#include <string>

#include "snapshot/device_facts.h"

namespace cairn {

// One clause without a full stop; "" if nothing is known about the vendor (a PCI number).
inline std::string DeviceNotes(uint32_t vendor_id) {
  if (FaultsSurfaceLate(vendor_id)) {
    return "on this vendor's devices a fault surfaces up to one dispatch late: the dispatch before "
           "the one in flight may be the culprit";
  }
  return "";
}

}  // namespace cairn

#endif  // CAIRN_BREADCRUMBS_DEVICE_NOTES_H_
