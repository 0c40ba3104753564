// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_VULKAN_TESTING_OWN_FUNCTIONS_H_
#define CAIRN_APP_VULKAN_TESTING_OWN_FUNCTIONS_H_

#include <span>
#include <string_view>

#include "app/vulkan/intercept.h"
#include "vulkangen/device_functions.h"

namespace cairn {

// Returns the layer's function of this name in these tables (ObjectIntercepts, ...); null if there is none.
template <auto... kTables>
PFN_vkVoidFunction VKAPI_CALL FindFunction(VkDevice, const char* name) {
  for (const std::span<const Intercept> table : {kTables()...}) {
    for (const Intercept& intercept : table) {
      if (std::string_view(name) == intercept.name) return intercept.function;
    }
  }
  return nullptr;
}

// The same for all names.
template <auto... kTables>
const DeviceFunctions& FunctionsOf() {
  static const DeviceFunctions functions = [] {
    DeviceFunctions found;
    LoadDeviceFunctions(VK_NULL_HANDLE, FindFunction<kTables...>, &found);
    return found;
  }();
  return functions;
}

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_TESTING_OWN_FUNCTIONS_H_
