// SPDX-License-Identifier: Apache-2.0
//
// The arguments of vkCreateDevice that limited loops need: addresses of buffers, and shaders of all stages that write.
#ifndef CAIRN_APP_VULKAN_SHADER_EXPERIMENT_REQUEST_H_
#define CAIRN_APP_VULKAN_SHADER_EXPERIMENT_REQUEST_H_

#include <vulkan/vulkan_core.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/vulkan/chain_copy.h"
#include "app/vulkan/layer.h"

namespace cairn {

class ShaderExperimentRequest {
 public:
  // Changes `info`, a copy of the program's, and adds to `extensions`, which replace those of `info`; `has` says which
  // extensions the device has. The structures of the program are not written to: those that have to change are
  // copied. Returns "", or why it cannot be, and then changes nothing. `info` is valid as long as this.
  // May throw std::bad_alloc.
  std::string Add(const InstanceState& instance, VkPhysicalDevice physical_device,
                  const std::function<bool(std::string_view)>& has, VkDeviceCreateInfo* info,
                  std::vector<const char*>* extensions);
  // Add has succeeded.
  bool added() const { return added_; }

 private:
  enum class Carrier { kVulkan12, kCore, kExt };
  std::string CopyChain(const void* chain, const void* addresses, const void* features);
  void EnableAddresses(Carrier carrier, bool is_chained, VkDeviceCreateInfo* info);
  void EnableStores(VkDeviceCreateInfo* info);

  bool added_ = false;
  // Stages in which the device can write, and the program has not asked for it.
  VkBool32 vertex_stores_ = VK_FALSE;
  VkBool32 fragment_stores_ = VK_FALSE;
  ChainCopy copy_;
  VkPhysicalDeviceFeatures features_ = {};
  VkPhysicalDeviceBufferDeviceAddressFeatures addresses_ = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES};
  VkPhysicalDeviceBufferDeviceAddressFeaturesEXT addresses_ext_ = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES_EXT};
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_SHADER_EXPERIMENT_REQUEST_H_
