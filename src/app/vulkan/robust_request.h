// SPDX-License-Identifier: Apache-2.0
//
// The arguments of vkCreateDevice in the experiment "robust": the device gets each feature of robust_features.h that it has
// and the program leaves off.
#ifndef CAIRN_APP_VULKAN_ROBUST_REQUEST_H_
#define CAIRN_APP_VULKAN_ROBUST_REQUEST_H_

#include <vulkan/vulkan_core.h>

#include <functional>
#include <string_view>
#include <vector>

#include "app/vulkan/chain_copy.h"
#include "app/vulkan/layer.h"
#include "format/experiment/robust_features.h"

namespace cairn {

// VK_EXT_robustness2 under the name that newer headers have, with the same structure.
inline constexpr char kKhrRobustness2[] = "VK_KHR_robustness2";

class RobustRequest {
 public:
  // Changes `info`, a copy of the program's, and adds to `extensions`, which replace those of `info`; `has` says which
  // extensions the device has. The structures of the program are not written to: those that have to change are copied.
  // `info` is valid as long as this. May throw std::bad_alloc.
  void Add(const InstanceState& instance, VkPhysicalDevice physical_device,
           const std::function<bool(std::string_view)>& has, VkDeviceCreateInfo* info,
           std::vector<const char*>* extensions);
  // The result of Add; all empty before.
  const RobustDevices& devices() const { return devices_; }

 private:
  struct Chained;
  bool CopyChain(const VkDeviceCreateInfo& info, const Chained& chained, RobustFeatures wanted);
  void EnableBufferAccess(const Chained& chained, VkDeviceCreateInfo* info);
  void EnableImageAccess(const Chained& chained, VkDeviceCreateInfo* info);
  void EnableRobustness2(const Chained& chained, RobustFeatures wanted, VkDeviceCreateInfo* info);

  RobustDevices devices_;
  ChainCopy copy_;
  VkPhysicalDeviceFeatures features_ = {};
  VkPhysicalDeviceImageRobustnessFeatures image_ = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES};
  VkPhysicalDeviceRobustness2FeaturesEXT robustness2_ = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT};
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_ROBUST_REQUEST_H_
