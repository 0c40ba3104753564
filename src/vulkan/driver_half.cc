// SPDX-License-Identifier: Apache-2.0
#include "vulkan/driver_half.h"

#include "vulkan/intercept.h"

namespace cairn {

bool CreatingDrivenDevice() {
  return false;
}

std::unique_ptr<DriverHalfDevice> MakeDriverHalf(DeviceState& device) {
  return std::make_unique<DriverHalfDevice>(device);
}

std::span<const Intercept> DrivenIntercepts() {
  return {};
}

}  // namespace cairn
