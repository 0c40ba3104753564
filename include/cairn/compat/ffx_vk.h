/* SPDX-License-Identifier: Apache-2.0
 *
 * The Vulkan backend of FidelityFX as far as Breadcrumbs goes. See ffx_breadcrumbs.h.
 *
 * One call more than the original: cairnFfxSetVulkan, between ffxGetInterfaceVK and
 * ffxBreadcrumbsContextCreate. The original guessed what the device can do from the extensions that
 * exist; Cairn uses only those that were enabled, and tries each way of writing on a queue.
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

/* The VkDevice of the description, whose other members are not needed. NULL for NULL. */
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
