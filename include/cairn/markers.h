/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw markers: 64-bit values that the GPU writes to slots of your choice, at the top or the bottom of
 * the pipe. The lowest layer of Cairn, with the semantics of the AGS breadcrumb API.
 *
 * A top-of-pipe write happens when the command processor reaches it. A bottom-of-pipe write happens
 * once earlier draws and dispatches have finished. Neither blocks the command processor, so a later
 * top-of-pipe write may be seen before an earlier bottom-of-pipe write. On GCN 1 to 5 at most 64
 * bottom-of-pipe writes wait at once; then the front end stalls: use few of them.
 * What can be concluded from which markers arrived: docs/raw-markers.md.
 *
 * Source: AMD GPU Services, breadcrumb API.
 */
#ifndef CAIRN_MARKERS_H_
#define CAIRN_MARKERS_H_

#include "cairn/breadcrumbs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CairnPipe { CAIRN_TOP_OF_PIPE = 0, CAIRN_BOTTOM_OF_PIPE = 1 } CairnPipe;

/* What a slot holds that was never written. */
#define CAIRN_MARKER_UNWRITTEN UINT64_C(0xCDCDCDCDCDCDCDCD)

/* Records a write of `data` into slot `index` (< raw_marker_count) in `command_buffer`
 * (VkCommandBuffer or ID3D12GraphicsCommandList*, open; for methods that need it, outside a render
 * pass). The command buffer need not be registered. Where the device has no immediate writes, the
 * value is copied by the GPU from a ring of 65,536 values: it must have executed before as many
 * further raw markers are recorded.
 * Errors: CAIRN_ERROR_INVALID_ARGUMENT (NULL, index or pipe out of range),
 * CAIRN_ERROR_EXTENSION_NOT_SUPPORTED (raw_marker_count was 0 or this command buffer cannot carry the
 * write), CAIRN_ERROR_OUT_OF_MEMORY, CAIRN_ERROR_DEVICE_NOT_CREATED (context is NULL).
 * Threads: any, one at a time for one command buffer. Cost: the benchmarks
 * VulkanRecordPair/.../raw in docs/performance.md. */
CAIRN_API CairnResult cairnWriteMarker(CairnContext* context, void* command_buffer, CairnPipe pipe,
                                       uint32_t index, uint64_t data);

/* The slots, readable at any time, also after a device loss; `*count` is raw_marker_count. Owned by
 * the context. The GPU writes them concurrently, most methods as two halves of 32 bits: a value may be
 * seen half written. */
CAIRN_API CairnResult cairnGetMarkers(CairnContext* context, const volatile uint64_t** slots,
                                      uint32_t* count);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_MARKERS_H_ */
