// SPDX-License-Identifier: Apache-2.0
//
// Mode exact: the canary, a dispatch of the layer's own behind each piece of work. It cannot fail, so where
// it does not come to its end the work before it did harm: on some devices a faulting command ends as if
// nothing were, and what comes next hangs.
#ifndef CAIRN_APP_VULKAN_EXACT_CANARY_H_
#define CAIRN_APP_VULKAN_EXACT_CANARY_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "app/breadcrumbs/vulkan_compute.h"
#include "app/vulkan/device.h"
#include "base/status.h"
#include "vulkangen/device_functions.h"

namespace cairn {

// The canary of one device. Threads: any.
class ExactCanary {
 public:
  // `next`, of the next layer, must outlive it. Errors: kUnsupported, with what the driver refused. May throw
  // std::bad_alloc.
  static Result<std::unique_ptr<ExactCanary>> Make(const DeviceState& device,
                                                   const DeviceFunctions& next);
  // The GPU has finished with it.
  ~ExactCanary();
  ExactCanary(const ExactCanary&) = delete;
  ExactCanary& operator=(const ExactCanary&) = delete;

  // Records one run. Outside of render passes, on queues that compute; the compute bindings are
  // ours afterwards.
  void Record(VkCommandBuffer commands) const;

  // Runs that came to their end, modulo 2^32.
  uint32_t runs() const { return *runs_; }

 private:
  ExactCanary(VkDevice device, const DeviceFunctions& next) : device_(device), next_(next) {}
  Status MakeMemory(const DeviceState& device);
  void Later(std::function<void()> destroy) { later_.push_back(std::move(destroy)); }

  const VkDevice device_;
  const DeviceFunctions& next_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VulkanCompute compute_;
  const volatile uint32_t* runs_ = nullptr;
  std::vector<std::function<void()>> later_;  // when it is destroyed, the last first
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_EXACT_CANARY_H_
