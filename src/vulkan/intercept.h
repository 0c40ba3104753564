// SPDX-License-Identifier: Apache-2.0
//
// Which functions of Vulkan the layer stands in front of: tables, one for each source file that has some.
// intercepts.cc joins them. Functions of a device that are in no table of its kind go straight to the next
// layer; and where the next layer has none of that name (the extension is not enabled) ours is not
// handed out either, so an intercept may rely on the function behind it.
#ifndef CAIRN_VULKAN_INTERCEPT_H_
#define CAIRN_VULKAN_INTERCEPT_H_

#include <vulkan/vulkan_core.h>

#include <span>

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

// Of devices with breadcrumbs of their own.
std::span<const Intercept> CommandBufferIntercepts();
std::span<const Intercept> WorkIntercepts();  // generated
std::span<const Intercept> RenderPassIntercepts();
std::span<const Intercept> LabelIntercepts();
std::span<const Intercept> ObjectIntercepts();  // device_objects.h; everything of its owner's files
// Of devices that an implementation of Direct3D made: driver_half.h.
std::span<const Intercept> DrivenIntercepts();
// Of instances with at least one device that is not off. They go first through what is named here, and
// get the instance's next function by InstanceState::next_get.
std::span<const Intercept> ObjectInstanceIntercepts();

}  // namespace cairn

#endif  // CAIRN_VULKAN_INTERCEPT_H_
