// SPDX-License-Identifier: Apache-2.0
//
// Functions of a test that stand between the layer and the driver, and see what the layer passes on.
#ifndef CAIRN_APP_VULKAN_TESTING_DRIVER_FUNCTIONS_H_
#define CAIRN_APP_VULKAN_TESTING_DRIVER_FUNCTIONS_H_

#include <vulkan/vulkan_core.h>

#include <map>
#include <string_view>

#include "app/breadcrumbs/vulkan_loader.h"
#include "base/status.h"

namespace cairn {

// One set a process, for one device at a time.
class DriverFunctions {
 public:
  using Table = std::map<std::string_view, PFN_vkVoidFunction>;

  template <typename Function>
  static PFN_vkVoidFunction Of(Function function) {
    return reinterpret_cast<PFN_vkVoidFunction>(function);
  }
  // Finds the system's loader. `table` outlives the devices.
  static Status Load(const Table& table) {
    const auto found = LoadVulkanLoader();
    if (!found.ok()) return found.status();
    table_ = &table;
    loader_ = reinterpret_cast<PFN_vkGetInstanceProcAddr>(*found);
    return {};
  }
  // vkGetInstanceProcAddr, for TestDeviceRequest::next.
  static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetOfInstance(VkInstance instance,
                                                                const char* name) {
    const PFN_vkVoidFunction next = loader_(instance, name);
    if (std::string_view(name) != "vkGetDeviceProcAddr") return next;
    get_of_device_ = reinterpret_cast<PFN_vkGetDeviceProcAddr>(next);
    return Of(GetOfDevice);
  }
  // Calls the driver's own.
  template <typename Function, typename... Arguments>
  static auto Next(const char* name, Arguments... arguments) {
    return reinterpret_cast<Function>(get_of_device_(device_, name))(arguments...);
  }

 private:
  static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetOfDevice(VkDevice device, const char* name) {
    device_ = device;
    const auto found = table_->find(name);
    return found != table_->end() ? found->second : get_of_device_(device, name);
  }

  static inline const Table* table_ = nullptr;
  static inline PFN_vkGetInstanceProcAddr loader_ = nullptr;
  static inline PFN_vkGetDeviceProcAddr get_of_device_ = nullptr;
  static inline VkDevice device_ = VK_NULL_HANDLE;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_TESTING_DRIVER_FUNCTIONS_H_
