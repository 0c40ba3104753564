// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_functions.h"

#include <fmt/format.h>

#include <algorithm>

namespace cairn {
namespace {

Status CheckParams(const VulkanBackendParams& params) {
  const std::pair<const void*, const char*> handles[] = {
      {params.instance, "instance"},
      {params.physical_device, "physical_device"},
      {params.device, "device"},
      {params.queue, "queue"},
      {reinterpret_cast<const void*>(params.get_instance_proc_addr), "get_instance_proc_addr"}};
  for (const auto& [handle, name] : handles) {
    if (handle == nullptr) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{} of the Vulkan description is NULL", name));
    }
  }
  return Status();
}

Status LoadFunctions(const VulkanBackendParams& params, VulkanDevice* device) {
  VulkanFunctions& vk = device->vk;
  const char* missing = nullptr;
  const auto instance_function = [&](const char* name) {
    return params.get_instance_proc_addr(params.instance, name);
  };
#define CAIRN_LOAD(name)                                                   \
  vk.name = reinterpret_cast<PFN_vk##name>(instance_function("vk" #name)); \
  if (vk.name == nullptr) missing = "vk" #name;
  CAIRN_VULKAN_INSTANCE_FUNCTIONS(CAIRN_LOAD)
#undef CAIRN_LOAD
  if (missing == nullptr) {
#define CAIRN_LOAD(name)                                                                      \
  vk.name = reinterpret_cast<PFN_vk##name>(vk.GetDeviceProcAddr(device->device, "vk" #name)); \
  if (vk.name == nullptr) missing = "vk" #name;
    CAIRN_VULKAN_DEVICE_FUNCTIONS(CAIRN_LOAD)
#undef CAIRN_LOAD
  }
  if (missing != nullptr) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("the Vulkan loader does not know {}: pass its vkGetInstanceProcAddr "
                              "and the instance that the device was made from",
                              missing));
  }
  // The loader may answer for extensions that exist but are not enabled: ask only for enabled ones.
  if (device->Enabled(VK_AMD_BUFFER_MARKER_EXTENSION_NAME)) {
    vk.CmdWriteBufferMarkerAMD = reinterpret_cast<PFN_vkCmdWriteBufferMarkerAMD>(
        vk.GetDeviceProcAddr(device->device, "vkCmdWriteBufferMarkerAMD"));
  }
  if (device->Enabled(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) {
    vk.GetMemoryHostPointerPropertiesEXT =
        reinterpret_cast<PFN_vkGetMemoryHostPointerPropertiesEXT>(
            vk.GetDeviceProcAddr(device->device, "vkGetMemoryHostPointerPropertiesEXT"));
  }
  return Status();
}

// Instances of version 1.0 have the function only through an extension, under another name.
void LoadProperties2(const VulkanBackendParams& params, VulkanDevice* device) {
  auto function =
      params.get_instance_proc_addr(params.instance, "vkGetPhysicalDeviceProperties2KHR");
  if (function == nullptr && device->properties.apiVersion >= VK_API_VERSION_1_1) {
    function = params.get_instance_proc_addr(params.instance, "vkGetPhysicalDeviceProperties2");
  }
  device->vk.GetPhysicalDeviceProperties2 =
      reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(function);
}

void QueryProperties(VulkanDevice* device) {
  if (device->vk.GetPhysicalDeviceProperties2 == nullptr) return;
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT import = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
  VkPhysicalDeviceDriverProperties driver = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceProperties2 properties = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  const bool has_driver = device->properties.apiVersion >= VK_API_VERSION_1_2;
  if (has_driver) properties.pNext = &driver;
  if (device->vk.GetMemoryHostPointerPropertiesEXT != nullptr) {
    import.pNext = properties.pNext;
    properties.pNext = &import;
  }
  device->vk.GetPhysicalDeviceProperties2(device->physical_device, &properties);
  device->import_alignment = import.minImportedHostPointerAlignment;
  if (!has_driver) return;
  device->driver_id = driver.driverID;
  device->driver_name = fmt::format("{} {}", driver.driverName, driver.driverInfo);
}

}  // namespace

bool VulkanDevice::Enabled(std::string_view extension) const {
  return std::find(enabled_extensions.begin(), enabled_extensions.end(), extension) !=
         enabled_extensions.end();
}

Result<VulkanDevice> OpenVulkanDevice(const VulkanBackendParams& params) {
  CAIRN_RETURN_IF_ERROR(CheckParams(params));
  VulkanDevice device;
  device.instance = static_cast<VkInstance>(params.instance);
  device.physical_device = static_cast<VkPhysicalDevice>(params.physical_device);
  device.device = static_cast<VkDevice>(params.device);
  device.queue = static_cast<VkQueue>(params.queue);
  device.queue_family = params.queue_family;
  device.enabled_extensions = params.enabled_extensions;
  device.reads_losses = params.reads_losses;
  device.left_out = params.left_out;
  CAIRN_RETURN_IF_ERROR(LoadFunctions(params, &device));
  const VulkanFunctions& vk = device.vk;
  vk.GetPhysicalDeviceProperties(device.physical_device, &device.properties);
  vk.GetPhysicalDeviceMemoryProperties(device.physical_device, &device.memory_properties);
  uint32_t family_count = 0;
  vk.GetPhysicalDeviceQueueFamilyProperties(device.physical_device, &family_count, nullptr);
  if (device.queue_family >= family_count) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("queue_family is {}, but the device has {} queue families",
                              device.queue_family, family_count));
  }
  device.queue_families.resize(family_count);
  vk.GetPhysicalDeviceQueueFamilyProperties(device.physical_device, &family_count,
                                            device.queue_families.data());
  LoadProperties2(params, &device);
  QueryProperties(&device);
  if (device.driver_name.empty()) {
    device.driver_name = fmt::format("driver version {:#x}", device.properties.driverVersion);
  }
  return device;
}

std::string NotEnabledReason(const VulkanDevice& device, std::string_view extension) {
  for (const LeftOutExtension& left_out : device.left_out) {
    if (left_out.name == extension) return left_out.reason;
  }
  return device.reads_losses ? "the device does not have it, or it is not needed"
                             : "not enabled by the application";
}

std::string VulkanResultName(VkResult result) {
  switch (result) {
#define CAIRN_RESULT(name) \
  case name: return #name;
    CAIRN_RESULT(VK_SUCCESS)
    CAIRN_RESULT(VK_NOT_READY)
    CAIRN_RESULT(VK_TIMEOUT)
    CAIRN_RESULT(VK_ERROR_OUT_OF_HOST_MEMORY)
    CAIRN_RESULT(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    CAIRN_RESULT(VK_ERROR_INITIALIZATION_FAILED)
    CAIRN_RESULT(VK_ERROR_DEVICE_LOST)
    CAIRN_RESULT(VK_ERROR_MEMORY_MAP_FAILED)
    CAIRN_RESULT(VK_ERROR_LAYER_NOT_PRESENT)
    CAIRN_RESULT(VK_ERROR_EXTENSION_NOT_PRESENT)
    CAIRN_RESULT(VK_ERROR_FEATURE_NOT_PRESENT)
    CAIRN_RESULT(VK_ERROR_INCOMPATIBLE_DRIVER)
    CAIRN_RESULT(VK_ERROR_TOO_MANY_OBJECTS)
    CAIRN_RESULT(VK_ERROR_UNKNOWN)
    CAIRN_RESULT(VK_ERROR_INVALID_EXTERNAL_HANDLE)
#undef CAIRN_RESULT
    default: return fmt::format("VkResult {}", static_cast<int>(result));
  }
}

Status VulkanStatus(const char* call, VkResult result) {
  if (result == VK_SUCCESS) return Status();
  return Status(result == VK_ERROR_DEVICE_LOST ? StatusCode::kDeviceLost : StatusCode::kUnsupported,
                fmt::format("{} returned {}", call, VulkanResultName(result)));
}

}  // namespace cairn
