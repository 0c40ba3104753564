/* SPDX-License-Identifier: Apache-2.0
 *
 * The Direct3D 12 backend of FidelityFX as far as Breadcrumbs goes. See ffx_breadcrumbs.h.
 */
#ifndef CAIRN_COMPAT_FFX_DX12_H_
#define CAIRN_COMPAT_FFX_DX12_H_

#include "cairn/compat/ffx_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ID3D12Device;
struct ID3D12CommandList;
struct ID3D12PipelineState;

/* Returns the size of the scratch buffer, which identifies the backend until the context is created. */
FFX_API size_t ffxGetScratchMemorySizeDX12(size_t maxContexts);
/* FFX_ERROR_INVALID_POINTER: an argument is NULL. FFX_ERROR_INSUFFICIENT_MEMORY: the buffer is smaller
 * than ffxGetScratchMemorySizeDX12 said. */
FFX_API FfxErrorCode ffxGetInterfaceDX12(FfxInterface* backendInterface, FfxDevice device,
                                         void* scratchBuffer, size_t scratchBufferSize,
                                         size_t maxContexts);

/* Each pointer to an object gives the same handle. NULL stays NULL. */
FFX_API FfxDevice ffxGetDeviceDX12(struct ID3D12Device* device);
FFX_API FfxCommandList ffxGetCommandListDX12(struct ID3D12CommandList* cmdList);
FFX_API FfxPipeline ffxGetPipelineDX12(struct ID3D12PipelineState* pipelineState);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_COMPAT_FFX_DX12_H_ */
