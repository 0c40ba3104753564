// SPDX-License-Identifier: Apache-2.0
//
// The measured barriers of this device that `cairn run` passes on: CAIRN_WITNESSES
// (format/witness/witnesses.h). Nothing is measured here.
#ifndef CAIRN_APP_VULKAN_WITNESSES_H_
#define CAIRN_APP_VULKAN_WITNESSES_H_

#include <string>
#include <vector>

#include "app/breadcrumbs/backend.h"
#include "app/vulkan/device.h"
#include "format/witness/witnesses.h"

namespace cairn {

inline constexpr char kWitnessSource[] = "barrier-based proof";

// The measured barriers of one device.
class DeviceBarriers {
 public:
  DeviceBarriers() = default;
  DeviceBarriers(const InstanceState& instance, VkPhysicalDevice physical_device);

  // Returns true if a barrier was measured to hold for words that are written by `method`.
  bool ServeFor(WriteMethod method) const;
  // The same for reports.
  SourceFinding Describe(WriteMethod method) const;
  bool any() const { return !families_.empty(); }
  // Returns the witnesses for command buffers of this queue family; null if none hold. Valid as
  // long as this object.
  const WitnessFlags* Of(uint32_t family) const;

 private:
  DeviceWitnesses device_;
  std::string why_not_;  // a clause; "" if there is something
  std::vector<WitnessFlags> families_;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_WITNESSES_H_
