// SPDX-License-Identifier: Apache-2.0
//
// Measures the barriers of every Vulkan device of the machine (vulkan_barriers.h), for `cairn run`: in a process of
// its own, for some device may hang in it. Loads the Vulkan loader itself; includes no Vulkan header.
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_WITNESS_PROBE_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_WITNESS_PROBE_H_

#include <cstdint>

#include "base/status.h"
#include "format/witness/witnesses.h"

namespace cairn {

class WitnessListener {
 public:
  virtual ~WitnessListener() = default;
  // Returns true if this device should be measured.
  virtual bool Wants(const WitnessKey& key) = 0;
  virtual void OnBegin(const WitnessKey& key) = 0;
  virtual void OnProgress() = 0;  // another family of its queues
  virtual void OnEnd(const DeviceWitnesses& device) = 0;
};

// Measures all devices. Skips devices without a UUID, whose entry could not be found. `now_s` is
// stored as the time. A device that is lost may keep this process from ever ending by itself.
// kNotFound if there is no loader or no device.
Status MeasureAllWitnesses(uint64_t now_s, WitnessListener* listener);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_WITNESS_PROBE_H_
