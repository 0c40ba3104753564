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
 * What is concluded from markers holds in both cases; docs/reference/raw-markers.md says where less is seen.
 * On GCN 1 to 5 at most 64 bottom-of-pipe writes wait at once; then the front end stalls: use few of
 * them. What can be concluded from which markers arrived: cairnInferFromMarkers below, and
 * `cairn report`, for which the recorded order is kept with the command list.
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

/* ---- What follows from markers ---------------------------------------------------------------- */

typedef enum CairnRawCommandKind {
  CAIRN_RAW_WORK = 0, /* a draw, a dispatch, or whatever is suspected as one piece */
  CAIRN_RAW_TOP_MARKER = 1,
  CAIRN_RAW_BOTTOM_MARKER = 2
} CairnRawCommandKind;

/* One recorded command. `slot` and `value` are those of markers. A value other than
 * CAIRN_MARKER_UNWRITTEN, each used once. */
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
  /* Of CAIRN_RAW_MAY_RUN: 1 if it can be the culprit of a hang that has settled, in which the front end
   * has fetched all that it could; 0 if only a crash in the very moment of its fetching, or the loss of more
   * stores than one, leaves the slots like this. Otherwise 0. */
  uint32_t likely;
  /* In words, English, zero-terminated; "marker 3" is the third marker of the commands. */
  char reason[CAIRN_RAW_REASON_BYTES];
} CairnRawVerdict;

/* Which work can be the culprit, given the commands of one queue in recorded order and what the slots
 * hold after a hang or a crash. Where by the slots nothing can be it though some work has not finished, a store
 * at the top of the pipe was lost with the device: the first work that is not proven to have finished is
 * CAIRN_RAW_MAY_RUN and likely, the work behind it CAIRN_RAW_MAY_RUN and not, and the reasons say why. While a
 * device is well, ask cairnGetMarkers instead. `slots` are those of cairnGetMarkers, or a copy; those that
 * `slot_count` does not reach count as unwritten. `bottom_line_limit`: how many bottom-of-pipe writes the
 * device lets wait, 64 on GCN 1 to 5; 0 if unknown or unlimited, and wherever bottom-of-pipe writes may be
 * lost.
 * `*verdict_count`: in, the room at `verdicts`; out, the number of works, of which the first that fit are
 * filled in, in recorded order. `verdicts` may be NULL if the room is 0. `*consistent` (may be NULL): 1, or
 * 0 if no order of execution leaves the slots like this; nothing is called unstarted then.
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
