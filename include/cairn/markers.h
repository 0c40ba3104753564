/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw markers: 64-bit values that the GPU writes to slots of your choice, at the top or the bottom of
 * the pipe. The lowest layer of Cairn, with the semantics of the AGS breadcrumb API.
 *
 * A top-of-pipe write happens when the command processor reaches it. A bottom-of-pipe write happens
 * once earlier draws and dispatches have finished. Neither blocks the command processor where the
 * device writes immediates (VK_AMD_buffer_marker, WriteBufferImmediate), so a later top-of-pipe write
 * may be seen before an earlier bottom-of-pipe write. Where writes are fills or copies with barriers
 * (the report's device says which: vkCmdFillBuffer, CopyBufferRegion), a bottom-of-pipe write does hold
 * up what follows until earlier work has finished, top-of-pipe writes too; and a top-of-pipe write is
 * a transfer, which waits for an earlier bottom-of-pipe write, and ends render passes on some drivers.
 * cairnInferFromMarkers (below) and `cairn report` draw conclusions that hold in both cases;
 * docs/reference/raw-markers.md lists where they are weaker. On GCN 1 to 5 the front end stalls once 64
 * bottom-of-pipe writes wait: write few of them. `cairn report` knows the recorded order of the markers, which
 * is kept with the command list.
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

/* The value of a slot that was never written. */
#define CAIRN_MARKER_UNWRITTEN UINT64_C(0xCDCDCDCDCDCDCDCD)

/* Records a write of `data` into slot `index` (< raw_marker_count) in `command_buffer`
 * (VkCommandBuffer or ID3D12GraphicsCommandList*, open; for methods that need it, outside a render
 * pass). The command buffer need not be registered. Where the device has no immediate writes, the
 * value is copied by the GPU from a ring of 65,536 values: it must have executed before as many
 * further raw markers are recorded.
 * The order among the work is kept, for `cairn report`, where the command buffer is registered
 * (cairnBeginCommandList) or a layer's; elsewhere the report has the slots alone.
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

/* ---- Conclusions from markers ----------------------------------------------------------------- */

typedef enum CairnRawCommandKind {
  CAIRN_RAW_WORK = 0, /* a draw, a dispatch, or other work that is judged as one */
  CAIRN_RAW_TOP_MARKER = 1,
  CAIRN_RAW_BOTTOM_MARKER = 2
} CairnRawCommandKind;

/* One recorded command. Only markers use `slot` and `value`. Each value is used once and differs from
 * CAIRN_MARKER_UNWRITTEN. */
typedef struct CairnRawCommand {
  CairnRawCommandKind kind;
  uint32_t slot;
  uint64_t value;
} CairnRawCommand;

typedef enum CairnRawState {
  CAIRN_RAW_NOT_STARTED = 0, /* proven, where no top-of-pipe store was lost with the device */
  CAIRN_RAW_MAY_RUN = 1,     /* can be the culprit */
  CAIRN_RAW_FINISHED = 2     /* proven */
} CairnRawState;

#define CAIRN_RAW_REASON_BYTES 256u

typedef struct CairnRawVerdict {
  uint32_t command; /* index of the work among the commands */
  CairnRawState state;
  /* 1 for CAIRN_RAW_MAY_RUN, if this work can be the culprit of a hang in which the front end has fetched all
   * commands that it can. 0 otherwise: only a crash at the moment of its fetching, or the loss of several
   * stores, leaves the slots like this. */
  uint32_t likely;
  /* English, zero-terminated. "marker 3" is the third marker among the commands. */
  char reason[CAIRN_RAW_REASON_BYTES];
} CairnRawVerdict;

/* Finds the work that can be the culprit of a hang or a crash.
 * `commands`: the commands of one queue in recorded order. `slots`: those of cairnGetMarkers after the failure, or
 * a copy; slots from `slot_count` on count as unwritten. `bottom_line_limit`: the number of bottom-of-pipe writes
 * that can wait on the device, 64 on GCN 1 to 5; 0 if it is unknown or unlimited, or if such writes may be lost.
 * `*verdict_count`: in, the number of elements at `verdicts`; out, the number of CAIRN_RAW_WORK commands. The
 * verdicts that fit are filled in, in recorded order. `verdicts` may be NULL if `*verdict_count` is 0.
 * `*consistent` (may be NULL): 1; 0 if no order of execution leaves the slots like this, and then no work is
 * CAIRN_RAW_NOT_STARTED.
 * If the slots rule out all work although some has not finished, a top-of-pipe store was lost with the device: the
 * first work that is not proven to have finished is then CAIRN_RAW_MAY_RUN and likely, later work is
 * CAIRN_RAW_MAY_RUN and not likely. Call it after a failure only: before one, read cairnGetMarkers.
 * Ownership: all memory is the caller's, and nothing is kept.
 * Errors: CAIRN_ERROR_INVALID_ARGUMENT (a required pointer is NULL, or a kind is unknown),
 * CAIRN_ERROR_OUT_OF_MEMORY. Threads: any; slots that the GPU still writes are read once each. It
 * allocates: not for signal handlers. Cost: time O(n log n) of the commands, some 100 ns each.
 * Source: AMD GPU Services, breadcrumb API; docs/reference/raw-markers.md derives the rules and shows five examples. */
CAIRN_API CairnResult cairnInferFromMarkers(const CairnRawCommand* commands, uint32_t command_count,
                                            const volatile uint64_t* slots, uint32_t slot_count,
                                            uint32_t bottom_line_limit, CairnRawVerdict* verdicts,
                                            uint32_t* verdict_count, uint32_t* consistent);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_MARKERS_H_ */
