// SPDX-License-Identifier: Apache-2.0
//
// Answers the loader: its manifest names cairnNegotiateVulkanLayer.
#include "app/vulkan/negotiate.h"

#include <algorithm>
#include <atomic>

#include "app/vulkan/device_creation.h"
#include "app/vulkan/driver_half.h"
#include "app/vulkan/exact.h"
#include "app/vulkan/fill_memory.h"
#include "app/vulkan/instance.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/keep_alive.h"
#include "app/vulkan/noted_calls.h"
#include "app/vulkan/serial_queues.h"
#include "app/vulkan/shader_experiment.h"
#include "os/environment.h"

namespace cairn {
namespace {

std::atomic<bool> is_enabled_by_name{false};

PFN_vkVoidFunction VKAPI_CALL GetInstanceProcAddr(VkInstance instance, const char* pName);

PFN_vkVoidFunction VKAPI_CALL GetDeviceProcAddr(VkDevice device, const char* pName) {
  const DeviceState* const state = DeviceOf(device);
  if (state == nullptr || pName == nullptr) return nullptr;
  const std::string_view name = pName;
  if (name == "vkGetDeviceProcAddr")
    return InterceptOf<PFN_vkGetDeviceProcAddr>(pName, GetDeviceProcAddr).function;
  if (name == "vkDestroyDevice")
    return InterceptOf<PFN_vkDestroyDevice>(pName, DestroyDevice).function;
  const PFN_vkVoidFunction next = state->next_get(device, pName);
  if (next == nullptr) return nullptr;
  PFN_vkVoidFunction ours = nullptr;
  if (state->kind == DeviceKind::kBreadcrumbs) ours = FindBreadcrumbsIntercept(name);
  if (state->kind == DeviceKind::kDriven) {
    ours = FindDrivenIntercept(name);
    if (ours == nullptr && state->driver_half != nullptr && state->driver_half->barriers().any()) {
      ours = FindDrivenWorkIntercept(name);
    }
  }
  if (state->kind == DeviceKind::kBreadcrumbs) {
    // The functions that mode exact replaces are found behind the note, in the device's functions.
    const PFN_vkVoidFunction noted = FindNotedCall(name, ours);
    if (noted != nullptr) return noted;
  }
  // In front of mode exact's, to which it leads.
  if (ours == nullptr && state->keep_alive != nullptr) ours = FindKeepAliveFunction(name);
  if (ours == nullptr && state->exact != nullptr && state->exact->counts() != nullptr) {
    ours = FindCountFunction(name);
  }
  if (ours == nullptr && state->exact != nullptr) ours = FindExactFunction(name);
  if (ours == nullptr && state->memory_filler != nullptr) ours = FindFillFunction(name);
  if (ours == nullptr && state->shader_experiment != nullptr)
    ours = FindShaderExperimentFunction(*state->shader_experiment, name);
  if (ours == nullptr && state->serial != nullptr) ours = FindSerialFunction(name);
  return ours == nullptr ? next : ours;
}

// Returns the layer's own functions, which are the same for every instance.
PFN_vkVoidFunction FindOwn(std::string_view name) {
  const Intercept own[] = {
      InterceptOf<PFN_vkGetInstanceProcAddr>("vkGetInstanceProcAddr", GetInstanceProcAddr),
      InterceptOf<PFN_vkGetDeviceProcAddr>("vkGetDeviceProcAddr", GetDeviceProcAddr),
      InterceptOf<PFN_vkCreateInstance>("vkCreateInstance", CreateInstance),
      InterceptOf<PFN_vkDestroyInstance>("vkDestroyInstance", DestroyInstance),
      InterceptOf<PFN_vkCreateDevice>("vkCreateDevice", CreateDevice),
      InterceptOf<PFN_vkDestroyDevice>("vkDestroyDevice", DestroyDevice),
  };
  for (const Intercept& intercept : own) {
    if (name == intercept.name) return intercept.function;
  }
  return nullptr;
}

// Returns no intercepts of commands of devices, except those of debug_utils.cc: called for a device
// of another kind, they would not find its state. For such commands the instance returns the next
// layer's functions.
PFN_vkVoidFunction VKAPI_CALL GetInstanceProcAddr(VkInstance instance, const char* pName) {
  if (pName == nullptr) return nullptr;
  const std::string_view name = pName;
  if (const PFN_vkVoidFunction own = FindOwn(name); own != nullptr) return own;
  const InstanceState* const state = instance == VK_NULL_HANDLE ? nullptr : InstanceOf(instance);
  if (state == nullptr) return FindDescription(name);
  const PFN_vkVoidFunction next = state->next_get(instance, pName);
  if (next == nullptr) return nullptr;
  PFN_vkVoidFunction ours = FindDescription(name);
  if (ours == nullptr && state->mode != MarkerMode::kOff) ours = FindInstanceIntercept(name);
  if (ours == nullptr && state->mode != MarkerMode::kOff) ours = FindDebugUtilsFunction(name, next);
  return ours == nullptr ? next : ours;
}

// For functions of physical devices that the loader does not know: whether there is one of that name.
PFN_vkVoidFunction VKAPI_CALL GetPhysicalDeviceProcAddr(VkInstance instance, const char* pName) {
  const InstanceState* const state = instance == VK_NULL_HANDLE ? nullptr : InstanceOf(instance);
  if (state == nullptr || state->next_get_physical_device == nullptr) return nullptr;
  return state->next_get_physical_device(instance, pName);
}

template <typename Link>
Link* LastWith(Link* link, PFN_vkGetInstanceProcAddr ours) {
  while (link->pNext != nullptr && link->pfnNextGetInstanceProcAddr == ours) link = link->pNext;
  return link;
}

}  // namespace

VkResult NegotiateLayer(VkNegotiateLayerInterface* negotiation) {
  constexpr uint32_t kVersion = 2;
  // The loader keeps layers out of such programs, but not implicit ones that a variable enables.
  if (IsPrivilegedProcess()) return VK_ERROR_INITIALIZATION_FAILED;
  if (negotiation == nullptr || negotiation->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT ||
      negotiation->loaderLayerInterfaceVersion < kVersion) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  negotiation->loaderLayerInterfaceVersion = kVersion;
  negotiation->pfnGetInstanceProcAddr = GetInstanceProcAddr;
  negotiation->pfnGetDeviceProcAddr = GetDeviceProcAddr;
  negotiation->pfnGetPhysicalDeviceProcAddr = GetPhysicalDeviceProcAddr;
  return VK_SUCCESS;
}

VkResult NegotiateNamedLayer(VkNegotiateLayerInterface* negotiation) {
  const VkResult result = NegotiateLayer(negotiation);
  if (result == VK_SUCCESS) {
    is_enabled_by_name.store(true);
    WorkAlsoWithoutWatcher();
  }
  return result;
}

bool IsEnabledByName() {
  return is_enabled_by_name.load();
}

void ForgetName() {
  is_enabled_by_name.store(false);
}

VkLayerInstanceLink* LastOfOurs(VkLayerInstanceLink* link) {
  return LastWith(link, GetInstanceProcAddr);
}

VkLayerDeviceLink* LastOfOurs(VkLayerDeviceLink* link) {
  return LastWith(link, GetInstanceProcAddr);
}

}  // namespace cairn
