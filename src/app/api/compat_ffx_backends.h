// SPDX-License-Identifier: Apache-2.0
//
// From a FfxInterface to a context of Cairn: which backend it stands for, and the callbacks of a
// custom one.
#ifndef CAIRN_APP_API_COMPAT_FFX_BACKENDS_H_
#define CAIRN_APP_API_COMPAT_FFX_BACKENDS_H_

#include <cstdint>
#include <span>

#include "cairn/breadcrumbs.h"
#include "cairn/compat/ffx_types.h"

namespace cairn {

enum class FfxApi { kCustom, kD3D12, kVulkan };

// The application's description of its Vulkan device. No Vulkan header is needed here.
struct FfxVulkanDevice {
  void* device = nullptr;                        // VkDevice
  void* physical_device = nullptr;               // VkPhysicalDevice
  CairnVoidFunction device_proc_addr = nullptr;  // vkGetDeviceProcAddr
  // vkGetPhysicalDeviceQueueFamilyProperties, known once the context is created.
  CairnVoidFunction queue_families = nullptr;
};

// The data of a custom backend's callbacks; lives as long as the context that was made with it.
struct FfxBackend {
  FfxInterface interface {};
  FfxAllocationCallbacks allocation{};  // all three set
  FfxBreadcrumbsBlockData block{};
  FfxVulkanDevice vulkan{};  // of the built-in Vulkan backend
};

FfxApi FfxApiOf(const FfxInterface& interface);

FfxErrorCode ToFfx(CairnResult result);

// Returns the kind of queue that a queueType of FidelityFX means with this backend, whose context
// has been created.
CairnQueueType FfxQueueKind(const FfxBackend& backend, FfxApi api, uint32_t queue_type);

// FFX_ERROR_INCOMPLETE_INTERFACE or FFX_ERROR_NULL_DEVICE where something is missing. `queue_types` are
// those that the application uses.
FfxErrorCode CreateFfxBackendContext(FfxBackend* backend, const CairnContextDesc& desc,
                                     std::span<const uint32_t> queue_types, CairnContext** context);

}  // namespace cairn

#endif  // CAIRN_APP_API_COMPAT_FFX_BACKENDS_H_
