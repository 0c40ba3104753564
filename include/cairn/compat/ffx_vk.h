/* SPDX-License-Identifier: Apache-2.0
 *
 * The Vulkan backend of FidelityFX as far as Breadcrumbs goes. See ffx_breadcrumbs.h.
 *
 * Start-up code for the original works unchanged. Cairn finds the enabled extensions by asking
 * vkDeviceProcAddr for their commands, and the functions of the physical device in the process's Vulkan
 * loader (libvulkan.so.1). ffxBreadcrumbsContextCreate tests each way of writing on queue 0 of the first
 * family in pUsedGpuQueues: create the device with that queue, and do not use the queue during the call.
 * Call cairnFfxSetVulkan between ffxGetInterfaceVK and ffxBreadcrumbsContextCreate if pUsedGpuQueues has
 * no family, or the process uses another loader.
 * Without VK_AMD_buffer_marker nothing can be written inside render passes: announce them
 * (cairnEnterRenderPass and cairnLeaveRenderPass with cairnFfxGetCommandList).
 *
 */
#ifndef CAIRN_COMPAT_FFX_VK_H_
#define CAIRN_COMPAT_FFX_VK_H_

#include <vulkan/vulkan.h>

#include "cairn/breadcrumbs.h"
#include "cairn/compat/ffx_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct VkDeviceContext {
  VkDevice vkDevice;
  VkPhysicalDevice vkPhysicalDevice;
  PFN_vkGetDeviceProcAddr vkDeviceProcAddr;
} VkDeviceContext;

FFX_API size_t ffxGetScratchMemorySizeVK(VkPhysicalDevice physicalDevice, size_t maxContexts);
/* As ffxGetInterfaceDX12. */
FFX_API FfxErrorCode ffxGetInterfaceVK(FfxInterface* backendInterface, FfxDevice device,
                                       void* scratchBuffer, size_t scratchBufferSize,
                                       size_t maxContexts);

/* The VkDevice of the description; its other members are remembered for ffxGetInterfaceVK, and ignored
 * if cairnFfxSetVulkan is called. NULL for NULL, and if there is no memory. Threads: any. */
FFX_API FfxDevice ffxGetDeviceVK(VkDeviceContext* vkDeviceContext);
FFX_API FfxCommandList ffxGetCommandListVK(VkCommandBuffer cmdBuf);
FFX_API FfxPipeline ffxGetPipelineVK(VkPipeline pipeline);

/* Passes the values that the original's interface lacks. `vulkan` and what it points to are used until
 * the context is created; `vulkan->device` may be NULL: the interface's device then.
 * FFX_ERROR_INVALID_POINTER: an argument is NULL. FFX_ERROR_INVALID_ARGUMENT: the interface was not
 * filled in by ffxGetInterfaceVK. */
CAIRN_API FfxErrorCode cairnFfxSetVulkan(FfxInterface* backendInterface,
                                         const CairnVulkanDesc* vulkan);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_COMPAT_FFX_VK_H_ */
