// SPDX-License-Identifier: Apache-2.0
//
// VK_EXT_debug_utils is an extension of instances: loaders ask a layer's vkGetInstanceProcAddr for its
// functions of devices, queues and command buffers, and call what they get for devices of every kind.
// The functions here look which kind it is: devices with breadcrumbs go to their intercepts, all others
// to the next layer, as if this one were not there.
#include <array>
#include <atomic>

#include "app/vulkan/command_buffer.h"
#include "app/vulkan/intercept.h"

namespace cairn {
namespace {

bool HasBreadcrumbs(VkCommandBuffer commands) {
  return CommandBufferOf(commands) != nullptr;
}

bool HasBreadcrumbs(VkDevice device) {
  const DeviceState* const state = DeviceOf(device);
  return state != nullptr && state->kind == DeviceKind::kBreadcrumbs;
}

bool HasBreadcrumbs(VkQueue queue) {
  const QueueState* const state = QueueOf(queue);
  return state != nullptr && state->device->kind == DeviceKind::kBreadcrumbs;
}

// One function. The next one is the same for all instances: the loader's chain of layers is.
template <auto kMember, typename Function>
struct Dispatcher;
template <auto kMember, typename Result, typename Handle, typename... Rest>
struct Dispatcher<kMember, Result(VKAPI_PTR*)(Handle, Rest...)> {
  using Function = Result(VKAPI_PTR*)(Handle, Rest...);
  static inline std::atomic<Function> ours = nullptr;
  static inline std::atomic<Function> next = nullptr;

  static Result VKAPI_CALL Call(Handle handle, Rest... rest) {
    const std::atomic<Function>& function = HasBreadcrumbs(handle) ? ours : next;
    return function.load(std::memory_order_acquire)(handle, rest...);
  }

  static PFN_vkVoidFunction Enter(PFN_vkVoidFunction intercept, PFN_vkVoidFunction next_function) {
    ours.store(reinterpret_cast<Function>(intercept), std::memory_order_release);
    next.store(reinterpret_cast<Function>(next_function), std::memory_order_release);
    return reinterpret_cast<PFN_vkVoidFunction>(Call);
  }

  // For drivers without the extension the loader has it, but only for instances.
  static void Complete(DeviceFunctions* vk, PFN_vkVoidFunction next_function) {
    if (vk->*kMember == nullptr) vk->*kMember = reinterpret_cast<Function>(next_function);
  }
};

struct DebugUtilsFunction {
  std::string_view name;
  PFN_vkVoidFunction (*enter)(PFN_vkVoidFunction intercept, PFN_vkVoidFunction next);
  void (*complete)(DeviceFunctions* vk, PFN_vkVoidFunction next);
};

#define CAIRN_DEBUG_UTILS(name)                                          \
  DebugUtilsFunction {                                                   \
    "vk" #name, Dispatcher<&DeviceFunctions::name, PFN_vk##name>::Enter, \
        Dispatcher<&DeviceFunctions::name, PFN_vk##name>::Complete       \
  }

constexpr DebugUtilsFunction kFunctions[] = {
    CAIRN_DEBUG_UTILS(CmdBeginDebugUtilsLabelEXT),
    CAIRN_DEBUG_UTILS(CmdEndDebugUtilsLabelEXT),
    CAIRN_DEBUG_UTILS(CmdInsertDebugUtilsLabelEXT),
    CAIRN_DEBUG_UTILS(QueueBeginDebugUtilsLabelEXT),
    CAIRN_DEBUG_UTILS(QueueEndDebugUtilsLabelEXT),
    CAIRN_DEBUG_UTILS(QueueInsertDebugUtilsLabelEXT),
    CAIRN_DEBUG_UTILS(SetDebugUtilsObjectNameEXT),
};

#undef CAIRN_DEBUG_UTILS

}  // namespace

PFN_vkVoidFunction FindDebugUtilsFunction(std::string_view name, PFN_vkVoidFunction next) {
  for (const DebugUtilsFunction& function : kFunctions) {
    if (function.name == name) return function.enter(FindBreadcrumbsIntercept(name), next);
  }
  return nullptr;
}

void CompleteDebugUtils(const InstanceState& instance, DeviceFunctions* vk) {
  for (const DebugUtilsFunction& function : kFunctions) {
    function.complete(vk, instance.Next(function.name));
  }
}

}  // namespace cairn
