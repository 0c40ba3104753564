// SPDX-License-Identifier: Apache-2.0
//
// The calls that name objects, and those that destroy objects with a name. Descriptor sets have no
// entries: they end with their pool, without a call of their own.
#include <string_view>

#include "app/vulkan/command_buffer.h"
#include "app/vulkan/device_objects.h"
#include "app/vulkan/intercept.h"

namespace cairn {
namespace {

void Name(const DeviceState& device, VkObjectType type, uint64_t handle, const char* text) {
  if (type == VK_OBJECT_TYPE_DESCRIPTOR_SET || handle == 0) return;
  const std::string_view name = text == nullptr ? "" : text;
  device.objects->names.SetName({type, handle}, name);
  if (type == VK_OBJECT_TYPE_PIPELINE) device.objects->pipelines.SetName(handle, name);
  if (type == VK_OBJECT_TYPE_SHADER_MODULE) device.objects->shaders.NameModule(handle, name);
  if (type != VK_OBJECT_TYPE_COMMAND_BUFFER) return;
  CommandBufferState* const buffer =
      CommandBufferOf(reinterpret_cast<VkCommandBuffer>(static_cast<uintptr_t>(handle)));
  if (buffer != nullptr) buffer->name = name;
}

// Names of VK_EXT_debug_report, of the same objects.
VkObjectType TypeOfDebugReport(VkDebugReportObjectTypeEXT type) {
  switch (type) {
    case VK_DEBUG_REPORT_OBJECT_TYPE_SURFACE_KHR_EXT: return VK_OBJECT_TYPE_SURFACE_KHR;
    case VK_DEBUG_REPORT_OBJECT_TYPE_SWAPCHAIN_KHR_EXT: return VK_OBJECT_TYPE_SWAPCHAIN_KHR;
    case VK_DEBUG_REPORT_OBJECT_TYPE_DEBUG_REPORT_CALLBACK_EXT_EXT:
      return VK_OBJECT_TYPE_DEBUG_REPORT_CALLBACK_EXT;
    case VK_DEBUG_REPORT_OBJECT_TYPE_DISPLAY_KHR_EXT: return VK_OBJECT_TYPE_DISPLAY_KHR;
    case VK_DEBUG_REPORT_OBJECT_TYPE_DISPLAY_MODE_KHR_EXT: return VK_OBJECT_TYPE_DISPLAY_MODE_KHR;
    case VK_DEBUG_REPORT_OBJECT_TYPE_VALIDATION_CACHE_EXT_EXT:
      return VK_OBJECT_TYPE_VALIDATION_CACHE_EXT;
    default: return static_cast<VkObjectType>(type);  // The others have the same numbers.
  }
}

VkResult VKAPI_CALL SetDebugUtilsObjectNameEXT(VkDevice device,
                                               const VkDebugUtilsObjectNameInfoEXT* info) {
  const DeviceState& state = *DeviceOf(device);
  Quietly([&] { Name(state, info->objectType, info->objectHandle, info->pObjectName); });
  return state.vk.SetDebugUtilsObjectNameEXT(device, info);
}

VkResult VKAPI_CALL DebugMarkerSetObjectNameEXT(VkDevice device,
                                                const VkDebugMarkerObjectNameInfoEXT* info) {
  const DeviceState& state = *DeviceOf(device);
  Quietly(
      [&] { Name(state, TypeOfDebugReport(info->objectType), info->object, info->pObjectName); });
  return state.vk.DebugMarkerSetObjectNameEXT(device, info);
}

// Before the call: afterwards the handle may belong to another object.
template <typename Handle, VkObjectType kType, auto kNext>
void VKAPI_CALL Destroy(VkDevice device, Handle handle, const VkAllocationCallbacks* allocator) {
  const DeviceState& state = *DeviceOf(device);
  state.objects->Forget(kType, HandleValue(handle));
  (state.vk.*kNext)(device, handle, allocator);
}

template <typename Handle, VkObjectType kType, auto kNext>
Intercept DestroyOf(const char* name) {
  return InterceptOf<void(VKAPI_PTR*)(VkDevice, Handle, const VkAllocationCallbacks*)>(
      name, Destroy<Handle, kType, kNext>);
}

}  // namespace

#define CAIRN_DESTROY(function, handle, type) \
  DestroyOf<handle, VK_OBJECT_TYPE_##type, &DeviceFunctions::function>("vk" #function)

std::span<const Intercept> ObjectNameIntercepts() {
  static const Intercept kTable[] = {
      InterceptOf<PFN_vkSetDebugUtilsObjectNameEXT>("vkSetDebugUtilsObjectNameEXT",
                                                    SetDebugUtilsObjectNameEXT),
      InterceptOf<PFN_vkDebugMarkerSetObjectNameEXT>("vkDebugMarkerSetObjectNameEXT",
                                                     DebugMarkerSetObjectNameEXT),
      CAIRN_DESTROY(FreeMemory, VkDeviceMemory, DEVICE_MEMORY),
      CAIRN_DESTROY(DestroyEvent, VkEvent, EVENT),
      CAIRN_DESTROY(DestroyBufferView, VkBufferView, BUFFER_VIEW),
      CAIRN_DESTROY(DestroyImage, VkImage, IMAGE),
      CAIRN_DESTROY(DestroyImageView, VkImageView, IMAGE_VIEW),
      CAIRN_DESTROY(DestroyPipelineCache, VkPipelineCache, PIPELINE_CACHE),
      CAIRN_DESTROY(DestroyPipelineLayout, VkPipelineLayout, PIPELINE_LAYOUT),
      CAIRN_DESTROY(DestroySampler, VkSampler, SAMPLER),
      CAIRN_DESTROY(DestroyFramebuffer, VkFramebuffer, FRAMEBUFFER),
      CAIRN_DESTROY(DestroyRenderPass, VkRenderPass, RENDER_PASS),
      CAIRN_DESTROY(DestroySamplerYcbcrConversion, VkSamplerYcbcrConversion,
                    SAMPLER_YCBCR_CONVERSION),
      CAIRN_DESTROY(DestroySamplerYcbcrConversionKHR, VkSamplerYcbcrConversion,
                    SAMPLER_YCBCR_CONVERSION),
      CAIRN_DESTROY(DestroySwapchainKHR, VkSwapchainKHR, SWAPCHAIN_KHR),
      CAIRN_DESTROY(DestroyAccelerationStructureKHR, VkAccelerationStructureKHR,
                    ACCELERATION_STRUCTURE_KHR),
      CAIRN_DESTROY(DestroyAccelerationStructureNV, VkAccelerationStructureNV,
                    ACCELERATION_STRUCTURE_NV),
      CAIRN_DESTROY(DestroyIndirectCommandsLayoutNV, VkIndirectCommandsLayoutNV,
                    INDIRECT_COMMANDS_LAYOUT_NV),
      CAIRN_DESTROY(DestroyMicromapEXT, VkMicromapEXT, MICROMAP_EXT),
      CAIRN_DESTROY(DestroyValidationCacheEXT, VkValidationCacheEXT, VALIDATION_CACHE_EXT),
  };
  return kTable;
}

#undef CAIRN_DESTROY

}  // namespace cairn
