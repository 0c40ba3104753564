// SPDX-License-Identifier: Apache-2.0
//
// The Vulkan functions that the backend calls, loaded through the application's own
// vkGetInstanceProcAddr: libcairn links no Vulkan loader, so a program without Vulkan never loads
// one, and a program with layers or a loader of its own keeps them.
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_FUNCTIONS_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_FUNCTIONS_H_

#include <vulkan/vulkan_core.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/breadcrumbs/vulkan_backend.h"
#include "base/status.h"

namespace cairn {

#define CAIRN_VULKAN_INSTANCE_FUNCTIONS(X) \
  X(GetDeviceProcAddr)                     \
  X(GetPhysicalDeviceProperties)           \
  X(GetPhysicalDeviceMemoryProperties)     \
  X(GetPhysicalDeviceQueueFamilyProperties)

#define CAIRN_VULKAN_DEVICE_FUNCTIONS(X) \
  X(AllocateCommandBuffers)              \
  X(AllocateMemory)                      \
  X(BeginCommandBuffer)                  \
  X(BindBufferMemory)                    \
  X(CmdCopyBuffer)                       \
  X(CmdFillBuffer)                       \
  X(CmdPipelineBarrier)                  \
  X(CmdUpdateBuffer)                     \
  X(CreateBuffer)                        \
  X(CreateCommandPool)                   \
  X(CreateFence)                         \
  X(DestroyBuffer)                       \
  X(DestroyCommandPool)                  \
  X(DestroyFence)                        \
  X(EndCommandBuffer)                    \
  X(FreeMemory)                          \
  X(GetBufferMemoryRequirements)         \
  X(MapMemory)                           \
  X(QueueSubmit)                         \
  X(WaitForFences)

struct VulkanFunctions {
#define CAIRN_VULKAN_MEMBER(name) PFN_vk##name name = nullptr;
  CAIRN_VULKAN_INSTANCE_FUNCTIONS(CAIRN_VULKAN_MEMBER)
  CAIRN_VULKAN_DEVICE_FUNCTIONS(CAIRN_VULKAN_MEMBER)
#undef CAIRN_VULKAN_MEMBER
  // Null unless the application may call them.
  PFN_vkGetPhysicalDeviceProperties2 GetPhysicalDeviceProperties2 = nullptr;
  PFN_vkCmdWriteBufferMarkerAMD CmdWriteBufferMarkerAMD = nullptr;
  PFN_vkGetMemoryHostPointerPropertiesEXT GetMemoryHostPointerPropertiesEXT = nullptr;
};

// The application's device as the backend sees it: plain data, copied freely, owns nothing.
struct VulkanDevice {
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical_device = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;  // for the self-test
  uint32_t queue_family = 0;
  std::vector<std::string> enabled_extensions;
  bool reads_losses = false;               // as in VulkanBackendParams
  std::vector<LeftOutExtension> left_out;  // likewise
  VulkanFunctions vk;
  VkPhysicalDeviceProperties properties = {};
  VkPhysicalDeviceMemoryProperties memory_properties = {};
  std::vector<VkQueueFamilyProperties> queue_families;
  VkDeviceSize import_alignment = 0;  // minImportedHostPointerAlignment, 0 if import is not enabled
  std::string driver_name;            // name and version in the driver's words
  VkDriverId driver_id = {};          // 0 if it does not say

  bool Enabled(std::string_view extension) const;
};

// Loads the functions and asks for the properties. kInvalidArgument for a null handle, a queue family
// that does not exist, or a function that the loader does not know.
Result<VulkanDevice> OpenVulkanDevice(const VulkanBackendParams& params);

// Returns why an extension, or its feature, is not enabled. The Vulkan layer enables those that the
// device has, except those that it reports as skipped.
std::string NotEnabledReason(const VulkanDevice& device, std::string_view extension);

// "VK_ERROR_DEVICE_LOST"; "VkResult -42" for values that this build does not know.
std::string VulkanResultName(VkResult result);

// Ok for VK_SUCCESS; otherwise "CALL returned NAME": kDeviceLost, or kUnsupported.
Status VulkanStatus(const char* call, VkResult result);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_FUNCTIONS_H_
