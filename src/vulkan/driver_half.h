// SPDX-License-Identifier: Apache-2.0
//
// The driver half: what the layer does for the Direct3D 12 layer on a device that an implementation of
// Direct3D made.
#ifndef CAIRN_VULKAN_DRIVER_HALF_H_
#define CAIRN_VULKAN_DRIVER_HALF_H_

#include <memory>

#include "vulkan/device.h"

namespace cairn {

class DriverHalfDevice {
 public:
  explicit DriverHalfDevice(DeviceState& device) : device_(device) {}
  DeviceState& device() const { return device_; }

 private:
  DeviceState& device_;
};

// Whether a device that this thread creates now is an implementation of Direct3D's.
bool CreatingDrivenDevice();

// After the device was created, before its creator has it. May throw std::bad_alloc: the device is then
// off.
std::unique_ptr<DriverHalfDevice> MakeDriverHalf(DeviceState& device);

}  // namespace cairn

#endif  // CAIRN_VULKAN_DRIVER_HALF_H_
