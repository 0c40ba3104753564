// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/device_creation.h"

#include <algorithm>
#include <new>
#include <string>

#include "app/settings/log.h"
#include "app/vulkan/driver_half.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/layer_chain.h"
#include "app/vulkan/negotiate.h"
#include "app/vulkan/shader_experiment.h"

namespace cairn {
namespace {

DeviceKind KindFor(const InstanceState& instance, const VkDeviceCreateInfo& info) {
  if (instance.mode == MarkerMode::kOff) return DeviceKind::kOff;
  const auto* const group = FindInChain<VkDeviceGroupDeviceCreateInfo>(
      info.pNext, VK_STRUCTURE_TYPE_DEVICE_GROUP_DEVICE_CREATE_INFO);
  if (group != nullptr && group->physicalDeviceCount > 1) {
    LogOnce(LogLevel::kWarning, "vulkan device group",
            "no breadcrumbs for a device of several physical devices: each would write the same "
            "words");
    return DeviceKind::kOff;
  }
  // This layer writes raw markers of Direct3D 11 in any case, whichever layer has the other
  // breadcrumbs.
  const bool is_driven = CreatingDrivenDevice() && RawMarkerScope::Current() == nullptr;
  return is_driven ? DeviceKind::kDriven : DeviceKind::kBreadcrumbs;
}

// A device's version is no use beyond that which its instance was made for.
uint32_t VersionOf(const InstanceState& instance, VkPhysicalDevice physical_device) {
  VkPhysicalDeviceProperties properties = {};
  instance.GetPhysicalDeviceProperties(physical_device, &properties);
  return std::min(properties.apiVersion, instance.api_version);
}

VkQueue QueueAt(const DeviceState& state, const VkDeviceQueueCreateInfo& info, uint32_t index) {
  VkQueue queue = VK_NULL_HANDLE;
  if (info.flags == 0) {
    state.vk.GetDeviceQueue(state.handle, info.queueFamilyIndex, index, &queue);
  } else if (state.vk.GetDeviceQueue2 != nullptr) {
    const VkDeviceQueueInfo2 wanted = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2, nullptr, info.flags,
                                       info.queueFamilyIndex, index};
    state.vk.GetDeviceQueue2(state.handle, &wanted, &queue);
  }
  // Lower layers find their state by the pointer that the loader writes there; the loader would
  // write it only when the application asks for the queue.
  if (queue != VK_NULL_HANDLE && state.set_loader_data != nullptr) {
    state.set_loader_data(state.handle, queue);
  }
  return queue;
}

void FindQueues(DeviceState& state, const VkDeviceCreateInfo& info) {
  for (uint32_t i = 0; i < info.queueCreateInfoCount; ++i) {
    const VkDeviceQueueCreateInfo& asked = info.pQueueCreateInfos[i];
    for (uint32_t index = 0; index < asked.queueCount; ++index) {
      auto queue = std::make_unique<QueueState>();
      queue->handle = QueueAt(state, asked, index);
      if (queue->handle == VK_NULL_HANDLE) continue;
      queue->device = &state;
      queue->family = asked.queueFamilyIndex;
      queue->index = index;
      queue->is_protected = (asked.flags & VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT) != 0;
      if (queue->family < state.queue_families.size()) {
        queue->type = QueueTypeOf(state.queue_families[queue->family].queueFlags);
      }
      state.queues.push_back(std::move(queue));
    }
  }
}

struct Links {
  VkLayerDeviceLink* ours = nullptr;
  VkDevice loaders =
      VK_NULL_HANDLE;  // what stood where the handle goes: the end of the chain needs it
};

// Starts each attempt with the original chain, as for instances.
VkResult CallNext(PFN_vkCreateDevice next, const Links& links, VkPhysicalDevice physical_device,
                  const DeviceRequest& request, const VkAllocationCallbacks* allocator,
                  DeviceState* state) {
  // The request may have a copy of the loader's structure.
  FindLoaderInfo<VkLayerDeviceCreateInfo>(
      request.info().pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO, VK_LAYER_LINK_INFO)
      ->u.pLayerInfo = links.ours->pNext;
  state->handle = links.loaders;
  request.Note(state);
  const VkResult result = next(physical_device, &request.info(), allocator, &state->handle);
  if (result == VK_SUCCESS) request.CountChanges();
  return result;
}

VkResult CreateNext(PFN_vkCreateDevice next, const Links& links, VkPhysicalDevice physical_device,
                    const VkDeviceCreateInfo& asked, const VkAllocationCallbacks* allocator,
                    DeviceState* state) {
  const DeviceRequest plain(asked);
  if (state->kind == DeviceKind::kOff)
    return CallNext(next, links, physical_device, plain, allocator, state);
  const DeviceRequest more(*state->instance, physical_device, asked, state->instance->mode);
  if (more.adds_anything()) {
    const VkResult result = CallNext(next, links, physical_device, more, allocator, state);
    if (result == VK_SUCCESS) return result;
    LogOnce(LogLevel::kInfo, "vulkan device additions",
            "the device cannot be made with the extensions that help breadcrumbs: it was made as "
            "the application asked, without them");
  }
  const VkResult result = CallNext(next, links, physical_device, plain, allocator, state);
  // An experiment tells as well why it had nothing to add.
  if (result == VK_SUCCESS && !more.adds_anything()) more.CountChanges();
  return result;
}

// Starts the device. If memory runs out, the device works without breadcrumbs.
void Start(DeviceState& state, const VkDeviceCreateInfo& info) noexcept {
  try {
    FindQueues(state, info);
    if (!RememberQueues(state)) throw std::bad_alloc();
    StartDevice(state);
  } catch (...) {
    EndDevice(state);
    state.kind = DeviceKind::kOff;
    Log(LogLevel::kError, "this Vulkan device works without breadcrumbs: out of memory");
  }
}

VkResult MakeDevice(VkPhysicalDevice physical_device, const VkDeviceCreateInfo& info,
                    const VkAllocationCallbacks* allocator, VkDevice* device) {
  InstanceState* const instance = InstanceOf(physical_device);
  Links links;
  const auto* const link = FindLoaderInfo<VkLayerDeviceCreateInfo>(
      info.pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO, VK_LAYER_LINK_INFO);
  if (instance == nullptr || link == nullptr || link->u.pLayerInfo == nullptr) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  links.ours = LastOfOurs(link->u.pLayerInfo);
  links.loaders = *device;
  const auto next = reinterpret_cast<PFN_vkCreateDevice>(
      links.ours->pfnNextGetInstanceProcAddr(instance->handle, "vkCreateDevice"));
  if (next == nullptr) return VK_ERROR_INITIALIZATION_FAILED;

  auto state = std::make_unique<DeviceState>();
  state->instance = instance;
  state->physical_device = physical_device;
  state->next_get = links.ours->pfnNextGetDeviceProcAddr;
  if (const auto* callback = FindLoaderInfo<VkLayerDeviceCreateInfo>(
          info.pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO, VK_LOADER_DATA_CALLBACK)) {
    state->set_loader_data = callback->u.pfnSetDeviceLoaderData;
  }
  state->kind = KindFor(*instance, info);
  state->api_version = VersionOf(*instance, physical_device);
  state->queue_families = QueueFamiliesOf(*instance, physical_device);
  const VkResult result = CreateNext(next, links, physical_device, info, allocator, state.get());
  if (result != VK_SUCCESS) return result;

  *device = state->handle;
  LoadDeviceFunctions(state->handle, state->next_get, &state->vk);
  CompleteDebugUtils(*instance, &state->vk);
  if (!RememberDevice(*state)) {
    state->vk.DestroyDevice(state->handle, allocator);
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  if (state->kind != DeviceKind::kOff) {
    Start(*state, info);
  } else {
    Quietly([&] { StartShaderExperiment(*state); });
  }
  if (state->kind == DeviceKind::kBreadcrumbs &&
      instance->Enabled(VK_EXT_DEBUG_UTILS_EXTENSION_NAME)) {
    LabelledDeviceScope::Note();
  }
  static_cast<void>(state.release());  // DestroyDevice
  return VK_SUCCESS;
}

}  // namespace

std::vector<VkQueueFamilyProperties> QueueFamiliesOf(const InstanceState& instance,
                                                     VkPhysicalDevice physical_device) {
  uint32_t count = 0;
  instance.GetPhysicalDeviceQueueFamilyProperties(physical_device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  instance.GetPhysicalDeviceQueueFamilyProperties(physical_device, &count, families.data());
  families.resize(count);
  return families;
}

VKAPI_ATTR VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physicalDevice,
                                            const VkDeviceCreateInfo* pCreateInfo,
                                            const VkAllocationCallbacks* pAllocator,
                                            VkDevice* pDevice) {
  try {
    return MakeDevice(physicalDevice, *pCreateInfo, pAllocator, pDevice);
  } catch (const std::bad_alloc&) {
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
}

VKAPI_ATTR void VKAPI_CALL DestroyDevice(VkDevice device, const VkAllocationCallbacks* pAllocator) {
  DeviceState* const state = DeviceOf(device);
  if (state == nullptr) return;  // vkDestroyDevice(NULL) does nothing
  const PFN_vkDestroyDevice next = state->vk.DestroyDevice;
  EndDevice(*state);
  ForgetDevice(*state);
  delete state;
  next(device, pAllocator);
}

}  // namespace cairn
