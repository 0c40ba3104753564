/* SPDX-License-Identifier: Apache-2.0
 *
 * The Vulkan backend of FidelityFX as far as Breadcrumbs goes. See ffx_breadcrumbs.h.
 *
 * The published start-up code works as it is. What it does not say is found out: which extensions are
 * enabled, by asking vkDeviceProcAddr for their commands; the functions of the physical device, from the
 * Vulkan loader of the process (libvulkan.so.1). Each way of writing is tried on a queue:
 * ffxBreadcrumbsContextCreate takes queue 0 of the first family in pUsedGpuQueues, which the device must
 * have been created with, and nobody else may use it meanwhile. A program that has no family there, or
 * another loader, tells by cairnFfxSetVulkan, between ffxGetInterfaceVK and
 * ffxBreadcrumbsContextCreate.
 * Where VK_AMD_buffer_marker is not enabled, tell render passes (cairnEnterRenderPass and
 * cairnLeaveRenderPass with cairnFfxGetCommandList): nothing can be written inside them then.
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

/* The VkDevice of the description; its other members are remembered for ffxGetInterfaceVK, and not looked
 * at if cairnFfxSetVulkan is called. NULL for NULL, and without memory. Threads: any. */
FFX_API FfxDevice ffxGetDeviceVK(VkDeviceContext* vkDeviceContext);
FFX_API FfxCommandList ffxGetCommandListVK(VkCommandBuffer cmdBuf);
FFX_API FfxPipeline ffxGetPipelineVK(VkPipeline pipeline);

/* Tells what the original's interface has no place for. `vulkan` and what it points to are used until
 * the context is created; `vulkan->device` may be NULL: the interface's device then.
 * FFX_ERROR_INVALID_POINTER: an argument is NULL. FFX_ERROR_INVALID_ARGUMENT: the interface was not
 * filled in by ffxGetInterfaceVK. */
CAIRN_API FfxErrorCode cairnFfxSetVulkan(FfxInterface* backendInterface,
                                         const CairnVulkanDesc* vulkan);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_COMPAT_FFX_VK_H_ */
