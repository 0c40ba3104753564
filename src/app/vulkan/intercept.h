// SPDX-License-Identifier: Apache-2.0
//
// The functions of Vulkan that the layer intercepts: tables, one for each source file that has
// some. intercepts.cc joins them. Functions of a device that are in no table of its kind go to the
// next layer, with a note of the call (noted_calls.h); and where the next layer has none of that
// name (the extension is not enabled) ours is not handed out either, so an intercept may rely on
// the function behind it.
#ifndef CAIRN_APP_VULKAN_INTERCEPT_H_
#define CAIRN_APP_VULKAN_INTERCEPT_H_

#include <vulkan/vulkan_core.h>

#include <span>
#include <string_view>

namespace cairn {

struct Intercept {
  const char* name;  // "vkCmdDraw"
  PFN_vkVoidFunction function;
};

// One line of a table: InterceptOf<PFN_vkCmdDraw>("vkCmdDraw", CmdDraw), which checks the type.
template <typename Function>
Intercept InterceptOf(const char* name, Function function) {
  return {name, reinterpret_cast<PFN_vkVoidFunction>(function)};
}

// Notes something about a call: nothing that this throws, for want of memory, leaves the call.
template <typename Function>
void Quietly(Function&& note) noexcept {
  try {
    note();
  } catch (...) {
    // The report misses it.
  }
}

// Intercepts of devices with breadcrumbs of their own.
std::span<const Intercept> CommandPoolIntercepts();
std::span<const Intercept> CommandBufferIntercepts();
std::span<const Intercept> WorkIntercepts();  // generated
std::span<const Intercept> SecondaryIntercepts();
std::span<const Intercept> RenderPassIntercepts();
std::span<const Intercept> LabelIntercepts();
std::span<const Intercept> ObjectIntercepts();  // device_objects.h; everything of its owner's files
// Intercepts of devices that an implementation of Direct3D made: driver_half.h.
std::span<const Intercept> DrivenIntercepts();
// Besides, where barriers testify.
std::span<const Intercept> DrivenWorkIntercepts();  // generated
// Functions of instances and physical devices that are not off; the next function is that which
// InstanceState::next_get answers.
std::span<const Intercept> ObjectInstanceIntercepts();

struct DeviceFunctions;
struct InstanceState;

// Returns the function of VK_EXT_debug_utils, for every device of an instance that is not off, with
// `next` behind it; null for other names. debug_utils.cc.
PFN_vkVoidFunction FindDebugUtilsFunction(std::string_view name, PFN_vkVoidFunction next);
// Takes the functions that the device's driver lacks from the instance.
void CompleteDebugUtils(const InstanceState& instance, DeviceFunctions* vk);

// Ours of that name, or null.
PFN_vkVoidFunction FindBreadcrumbsIntercept(std::string_view name);
PFN_vkVoidFunction FindDrivenIntercept(std::string_view name);
PFN_vkVoidFunction FindDrivenWorkIntercept(std::string_view name);
PFN_vkVoidFunction FindInstanceIntercept(std::string_view name);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_INTERCEPT_H_
