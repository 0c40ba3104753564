// SPDX-License-Identifier: Apache-2.0
//
// What the layer keeps of a device's objects: submissions, synchronisation, pipelines, names, addresses.
#ifndef CAIRN_VULKAN_DEVICE_OBJECTS_H_
#define CAIRN_VULKAN_DEVICE_OBJECTS_H_

#include <memory>

#include "vulkan/device.h"

namespace cairn {

class DeviceObjects {
 public:
  explicit DeviceObjects(DeviceState& device) : device_(device) {}
  DeviceState& device() const { return device_; }

 private:
  DeviceState& device_;
};

// After the device was created and its Context started, before the application has it. May throw
// std::bad_alloc: the device is then off.
std::unique_ptr<DeviceObjects> MakeDeviceObjects(DeviceState& device);

}  // namespace cairn

#endif  // CAIRN_VULKAN_DEVICE_OBJECTS_H_
