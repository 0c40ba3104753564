// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device_objects.h"

#include "vulkan/intercept.h"
#include "vulkan/pipelines.h"

namespace cairn {

std::unique_ptr<DeviceObjects> MakeDeviceObjects(DeviceState& device) {
  return std::make_unique<DeviceObjects>(device);
}

CairnPipeline PipelineNumberFor(DeviceState& device, VkPipeline pipeline) {
  (void)device;
  (void)pipeline;
  return 0;
}

std::span<const Intercept> ObjectIntercepts() {
  return {};
}
std::span<const Intercept> ObjectInstanceIntercepts() {
  return {};
}

}  // namespace cairn
