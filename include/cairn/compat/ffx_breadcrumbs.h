/* SPDX-License-Identifier: Apache-2.0
 *
 * FidelityFX Breadcrumbs 1.x on Cairn: the names of its interface, so that code written for it
 * recompiles and links with libcairn. Replace the include of ffx_breadcrumbs.h by this one, or put
 * include/cairn/compat on the include path: FidelityFX/host/ffx_breadcrumbs.h and the headers of its
 * backends lie there too.
 *
 * Differences:
 * - Begin writes at the top of the pipe and end at its bottom (CAIRN_MODE_FULL).
 * - Under `cairn run`, or after cairnStartWatcher, the report survives the process. For the watchdog,
 *   call cairnFfxNotifySubmit (below) before submitting.
 * - maxMarkersPerMemoryBlock is checked and otherwise without meaning: there is one block, and it
 *   cannot overflow. frameHistoryLength above 1,024 counts as 1,024.
 * - queueType is an index into pUsedGpuQueues, as in the original. The element is a queue family for
 *   Vulkan, and a D3D12_COMMAND_LIST_TYPE otherwise. Cairn's reports number queues by their kind (0 graphics, 1
 *   compute, 2 copies, 3 other) and add the application's own number where it is another.
 * - Lists may be registered before or after they are opened, and opened again in the same frame. Under
 *   `cairn run` a marker for a list that is not open is refused.
 * - ffxBreadcrumbsPrintStatus returns the text of the original, except for the device, of which Cairn's backends
 *   print name, driver and identifiers. Cairn's own report is cairnPrintStatus(cairnFfxGetContext(...)); it and `cairn
 *   report` have markers of type FFX_BREADCRUMBS_MARKER_NAME as NAME without a vendor's suffix, and externally
 *   owned names as they were when the marker began.
 * - After a failure cairnGetLastErrorMessage returns values, reason and next step.
 *
 * Threads: as in the original, calls for one context come from one thread at a time, unless
 * FFX_BREADCRUMBS_ENABLE_THREAD_SYNCHRONIZATION is set; then lists and markers may be handled from
 * several threads, also two threads on one list. Create, destroy, StartFrame and PrintStatus come
 * from one thread in both cases.
 */
#ifndef CAIRN_COMPAT_FFX_BREADCRUMBS_H_
#define CAIRN_COMPAT_FFX_BREADCRUMBS_H_

#include "cairn/breadcrumbs.h"
#include "cairn/compat/ffx_types.h"

#define FFX_BREADCRUMBS_VERSION_MAJOR (1)
#define FFX_BREADCRUMBS_VERSION_MINOR (0)
#define FFX_BREADCRUMBS_VERSION_PATCH (0)
#define FFX_BREADCRUMBS_CONTEXT_COUNT 1
#define FFX_BREADCRUMBS_CONTEXT_SIZE (128)
#define FFX_BREADCRUMBS_MAX_MARKERS_PER_BLOCK ((1U << 31) - 1U)

/* X(NAME) for every type but PASS, in the order of the enumeration. */
/* clang-format off */
#define FFX_BREADCRUMBS_MARKER_LIST                                                                \
  /* Direct3D 12 */                                                                                \
  X(BEGIN_EVENT)                                                                                   \
  X(BEGIN_QUERY)                                                                                   \
  X(CLEAR_DEPTH_STENCIL)                                                                           \
  X(CLEAR_RENDER_TARGET)                                                                           \
  X(CLEAR_STATE)                                                                                   \
  X(CLEAR_UNORDERED_ACCESS_FLOAT)                                                                  \
  X(CLEAR_UNORDERED_ACCESS_UINT)                                                                   \
  X(CLOSE)                                                                                         \
  X(COPY_BUFFER_REGION)                                                                            \
  X(COPY_RESOURCE)                                                                                 \
  X(COPY_TEXTURE_REGION)                                                                           \
  X(COPY_TILES)                                                                                    \
  X(DISCARD_RESOURCE)                                                                              \
  X(DISPATCH)                                                                                      \
  X(DRAW_INDEXED_INSTANCED)                                                                        \
  X(DRAW_INSTANCED)                                                                                \
  X(END_EVENT)                                                                                     \
  X(END_QUERY)                                                                                     \
  X(EXECUTE_BUNDLE)                                                                                \
  X(EXECUTE_INDIRECT)                                                                              \
  X(RESET)                                                                                         \
  X(RESOLVE_QUERY_DATA)                                                                            \
  X(RESOLVE_SUBRESOURCE)                                                                           \
  X(RESOURCE_BARRIER)                                                                              \
  X(SET_COMPUTE_ROOT_SIGNATURE)                                                                    \
  X(SET_DESCRIPTORS_HEAP)                                                                          \
  X(SET_GRAPHICS_ROOT_SIGNATURE)                                                                   \
  X(SET_PIPELINE_STATE)                                                                            \
  X(SET_PREDICATION)                                                                               \
  X(ATOMIC_COPY_BUFFER_UINT)                                                                       \
  X(ATOMIC_COPY_BUFFER_UINT64)                                                                     \
  X(RESOLVE_SUBRESOURCE_REGION)                                                                    \
  X(SET_SAMPLE_POSITION)                                                                           \
  X(SET_VIEW_INSTANCE_MASK)                                                                        \
  X(WRITE_BUFFER_IMMEDIATE)                                                                        \
  X(SET_PROTECTED_RESOURCE_SESSION)                                                                \
  X(BEGIN_RENDER_PASS)                                                                             \
  X(BUILD_RAY_TRACING_ACCELERATION_STRUCTURE)                                                      \
  X(COPY_RAY_TRACING_ACCELERATION_STRUCTURE)                                                       \
  X(DISPATCH_RAYS)                                                                                 \
  X(EMIT_RAY_TRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO)                                        \
  X(END_RENDER_PASS)                                                                               \
  X(EXECUTE_META_COMMANDS)                                                                         \
  X(INITIALIZE_META_COMMANDS)                                                                      \
  X(SET_RAY_TRACING_STATE)                                                                         \
  X(SET_SHADING_RATE)                                                                              \
  X(SET_SHADING_RATE_IMAGE)                                                                        \
  /* Vulkan */                                                                                     \
  X(BEGIN_CONDITIONAL_RENDERING_EXT)                                                               \
  X(BEGIN_DEBUG_UTILS_LABEL_EXT)                                                                   \
  X(BEGIN_QUERY_INDEXED_EXT)                                                                       \
  X(BEGIN_RENDER_PASS_2)                                                                           \
  X(BEGIN_TRANSFORM_FEEDBACK_EXT)                                                                  \
  X(BIND_DESCRIPTOR_SETS)                                                                          \
  X(BIND_PIPELINES)                                                                                \
  X(BIND_SHADING_RATE_IMAGE_NV)                                                                    \
  X(BLIT_IMAGE)                                                                                    \
  X(BUILD_ACCELERATION_STRUCTURE_NV)                                                               \
  X(CLEAR_ATTACHMENTS)                                                                             \
  X(CLEAR_COLOR_IMAGE)                                                                             \
  X(CLEAR_DEPTH_STENCIL_IMAGE)                                                                     \
  X(COPY_ACCELERATION_STRUCTURE_NV)                                                                \
  X(COPY_BUFFER)                                                                                   \
  X(COPY_BUFFER_TO_IMAGE)                                                                          \
  X(COPY_IMAGE)                                                                                    \
  X(COPY_IMAGE_TO_BUFFER)                                                                          \
  X(DEBUG_MARKER_BEGIN_EXT)                                                                        \
  X(DEBUG_MARKER_END_EXT)                                                                          \
  X(DEBUG_MARKER_INSERT_EXT)                                                                       \
  X(DISPATCH_BASE)                                                                                 \
  X(DISPATCH_INDIRECT)                                                                             \
  X(DRAW)                                                                                          \
  X(DRAW_INDEXED)                                                                                  \
  X(DRAW_INDEXED_INDIRECT)                                                                         \
  X(DRAW_INDEXED_INDIRECT_COUNT)                                                                   \
  X(DRAW_INDIRECT)                                                                                 \
  X(DRAW_INDIRECT_BYTE_COUNT_EXT)                                                                  \
  X(DRAW_INDIRECT_COUNT)                                                                           \
  X(DRAW_MESH_TASKS_INDIRECT_COUNT_NV)                                                             \
  X(DRAW_MESH_TASKS_INDIRECT_NV)                                                                   \
  X(DRAW_MESH_TASKS_NV)                                                                            \
  X(END_CONDITIONAL_RENDERING_EXT)                                                                 \
  X(END_DEBUG_UTILS_LABEL_EXT)                                                                     \
  X(END_QUERY_INDEXED_EXT)                                                                         \
  X(END_RENDER_PASS_2)                                                                             \
  X(END_TRANSFORM_FEEDBACK_EXT)                                                                    \
  X(EXECUTE_COMMANDS)                                                                              \
  X(FILL_BUFFER)                                                                                   \
  X(INSERT_DEBUG_UTILS_LABEL_EXT)                                                                  \
  X(NEXT_SUBPASS)                                                                                  \
  X(NEXT_SUBPASS_2)                                                                                \
  X(PIPELINE_BARRIER)                                                                              \
  X(PROCESS_COMMANDS_NVX)                                                                          \
  X(RESERVE_SPACE_FOR_COMMANDS_NVX)                                                                \
  X(RESET_EVENT)                                                                                   \
  X(RESET_QUERY_POOL)                                                                              \
  X(RESOLVE_IMAGE)                                                                                 \
  X(SET_CHECKPOINT_NV)                                                                             \
  X(SET_EVENT)                                                                                     \
  X(SET_PERFORMANCE_MARKER_INTEL)                                                                  \
  X(SET_PERFORMANCE_OVERRIDE_INTEL)                                                                \
  X(SET_PERFORMANCE_STREAM_MARKER_INTEL)                                                           \
  X(SET_SAMPLE_LOCATIONS_EXT)                                                                      \
  X(SET_VIEWPORT_SHADING_RATE_PALETTE_NV)                                                          \
  X(TRACE_RAYS_NV)                                                                                 \
  X(UPDATE_BUFFER)                                                                                 \
  X(WAIT_EVENTS)                                                                                   \
  X(WRITE_ACCELERATION_STRUCTURES_PROPERTIES_NV)                                                   \
  X(WRITE_BUFFER_MARKER_AMD)                                                                       \
  X(WRITE_BUFFER_MARKER_2_AMD)                                                                     \
  X(WRITE_TIMESTAMP)
/* clang-format on */

#ifdef __cplusplus
extern "C" {
#endif

typedef enum FfxBreadcrumbsInitializationFlagBits {
  FFX_BREADCRUMBS_PRINT_FINISHED_LISTS = (1 << 0),
  FFX_BREADCRUMBS_PRINT_NOT_STARTED_LISTS = (1 << 1),
  FFX_BREADCRUMBS_PRINT_FINISHED_NODES = (1 << 3),
  FFX_BREADCRUMBS_PRINT_NOT_STARTED_NODES = (1 << 4),
  FFX_BREADCRUMBS_PRINT_EXTENDED_DEVICE_INFO = (1 << 5), /* excludes SKIP_DEVICE_INFO */
  FFX_BREADCRUMBS_PRINT_SKIP_DEVICE_INFO = (1 << 6),
  FFX_BREADCRUMBS_PRINT_SKIP_PIPELINE_INFO = (1 << 7),
  FFX_BREADCRUMBS_ENABLE_THREAD_SYNCHRONIZATION = (1 << 8)
} FfxBreadcrumbsInitializationFlagBits;

/* clang-format off */
typedef enum FfxBreadcrumbsMarkerType {
  FFX_BREADCRUMBS_MARKER_PASS, /* the only type that needs a name */
#define X(marker) FFX_BREADCRUMBS_MARKER_##marker,
  FFX_BREADCRUMBS_MARKER_LIST
#undef X
  CAIRN_FFX_BREADCRUMBS_MARKER_COUNT
} FfxBreadcrumbsMarkerType;
/* clang-format on */

typedef struct FfxBreadcrumbsContextDescription {
  uint32_t flags;                    /* FfxBreadcrumbsInitializationFlagBits */
  uint32_t frameHistoryLength;       /* larger than 0 */
  uint32_t maxMarkersPerMemoryBlock; /* 1 to FFX_BREADCRUMBS_MAX_MARKERS_PER_BLOCK */
  uint32_t usedGpuQueuesCount;       /* larger than 0 */
  uint32_t* pUsedGpuQueues;          /* what queueType is an index into; copied */
  FfxAllocationCallbacks allocCallbacks;
  FfxInterface backendInterface; /* copied */
} FfxBreadcrumbsContextDescription;

/* A name, copied unless externally owned: then it is read at this address when the status is printed, and has to stay
 * there for as long as the history has it. */
typedef struct FfxBreadcrumbsNameTag {
  const char* pName;
  bool isNameExternallyOwned;
} FfxBreadcrumbsNameTag;

typedef struct FfxBreadcrumbsCommandListDescription {
  FfxCommandList commandList;
  uint32_t queueType; /* below usedGpuQueuesCount */
  FfxBreadcrumbsNameTag name;
  FfxPipeline pipeline; /* NULL, or a registered one */
  uint16_t submissionIndex;
} FfxBreadcrumbsCommandListDescription;

/* Graphics, compute and ray tracing exclude one another, and so do vertex, hull, domain, geometry and
 * mesh, amplification. */
typedef struct FfxBreadcrumbsPipelineStateDescription {
  FfxPipeline pipeline;
  FfxBreadcrumbsNameTag name;
  FfxBreadcrumbsNameTag vertexShader;
  FfxBreadcrumbsNameTag hullShader;
  FfxBreadcrumbsNameTag domainShader;
  FfxBreadcrumbsNameTag geometryShader;
  FfxBreadcrumbsNameTag meshShader;
  FfxBreadcrumbsNameTag amplificationShader;
  FfxBreadcrumbsNameTag pixelShader;
  FfxBreadcrumbsNameTag computeShader;
  FfxBreadcrumbsNameTag rayTracingShader;
} FfxBreadcrumbsPipelineStateDescription;

typedef struct FfxBreadcrumbsMarkersStatus {
  size_t bufferSize; /* bytes of text, without the terminating zero */
  char* pBuffer; /* UTF-8; released with fpFree, or with FFX_FREE where there are no callbacks */
} FfxBreadcrumbsMarkersStatus;

typedef struct FfxBreadcrumbsContext {
  uint32_t data[FFX_BREADCRUMBS_CONTEXT_SIZE];
} FfxBreadcrumbsContext;

/* Every function gives FFX_ERROR_INVALID_POINTER for a context that is NULL or was not created, and
 * for any other required pointer that is NULL; and FFX_ERROR_BACKEND_API_ERROR if the backend
 * fails. The comment of a function lists its other errors. */

/* FFX_ERROR_INVALID_ARGUMENT: a value of the description is outside its range, or with Vulkan none of
 * pUsedGpuQueues is a queue family. FFX_ERROR_INCOMPLETE_INTERFACE: backendInterface lacks a function, or
 * VkDeviceContext a member. FFX_ERROR_NULL_DEVICE: it has no device. */
FFX_API FfxErrorCode ffxBreadcrumbsContextCreate(
    FfxBreadcrumbsContext* pContext, const FfxBreadcrumbsContextDescription* pContextDescription);
/* Call it once the GPU has finished with every registered list. */
FFX_API FfxErrorCode ffxBreadcrumbsContextDestroy(FfxBreadcrumbsContext* pContext);

/* Starts a frame. Register lists again afterwards. */
FFX_API FfxErrorCode ffxBreadcrumbsStartFrame(FfxBreadcrumbsContext* pContext);

/* FFX_ERROR_INVALID_ARGUMENT: registered in this frame already, or the queue or pipeline is unknown. The
 * list may be open or not yet. */
FFX_API FfxErrorCode ffxBreadcrumbsRegisterCommandList(
    FfxBreadcrumbsContext* pContext,
    const FfxBreadcrumbsCommandListDescription* pCommandListDescription);

/* FFX_ERROR_INVALID_ARGUMENT: registered already, or shaders that exclude one another. */
FFX_API FfxErrorCode
ffxBreadcrumbsRegisterPipeline(FfxBreadcrumbsContext* pContext,
                               const FfxBreadcrumbsPipelineStateDescription* pPipelineDescription);

/* NULL resets. FFX_ERROR_INVALID_ARGUMENT: the list or the pipeline is not registered. */
FFX_API FfxErrorCode ffxBreadcrumbsSetPipeline(FfxBreadcrumbsContext* pContext,
                                               FfxCommandList commandList, FfxPipeline pipeline);

/* FFX_ERROR_INVALID_ARGUMENT: the list is not registered, or a PASS has no name. FFX_ERROR_OUT_OF_MEMORY:
 * under `cairn run` the list was never opened, or no recording was left when it was. FFX_ERROR_INVALID_ENUM: no such type.
 * Cost: bench FfxBeginEnd; on lists of a layer a look-up more. */
FFX_API FfxErrorCode ffxBreadcrumbsBeginMarker(FfxBreadcrumbsContext* pContext,
                                               FfxCommandList commandList,
                                               FfxBreadcrumbsMarkerType type,
                                               const FfxBreadcrumbsNameTag* pName);

/* FFX_ERROR_INVALID_ARGUMENT: the list is not registered, or no marker is open. */
FFX_API FfxErrorCode ffxBreadcrumbsEndMarker(FfxBreadcrumbsContext* pContext,
                                             FfxCommandList commandList);

/* FFX_ERROR_OUT_OF_MEMORY: the callbacks gave none for the text. Cost: reads all of the process's recordings. */
FFX_API FfxErrorCode ffxBreadcrumbsPrintStatus(FfxBreadcrumbsContext* pContext,
                                               FfxBreadcrumbsMarkersStatus* pMarkersStatus);

/* 1.0.0, made by FFX_SDK_MAKE_VERSION. */
FFX_API FfxVersionNumber ffxBreadcrumbsGetEffectVersion(void);

/* ---- Cairn's additions ----------------------------------------------------------------------- */

/* Return Cairn's object for a context or a list, for functions that this interface lacks; NULL if there
 * is none, or if a layer's list is not open. Owned by the FidelityFX context; a list is valid until the
 * next StartFrame, one of a layer until it is closed. */
CAIRN_API CairnContext* cairnFfxGetContext(FfxBreadcrumbsContext* context);
CAIRN_API CairnCommandList* cairnFfxGetCommandList(FfxBreadcrumbsContext* context,
                                                   FfxCommandList commandList);

/* Call right before these lists are submitted, in order, to the queue at `queueType` in pUsedGpuQueues: the
 * watchdog then waits for them, and reports give their order. FFX_ERROR_INVALID_ARGUMENT: the queue or
 * a list is unknown. */
CAIRN_API FfxErrorCode cairnFfxNotifySubmit(FfxBreadcrumbsContext* context, uint32_t queueType,
                                            const FfxCommandList* commandLists, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_COMPAT_FFX_BREADCRUMBS_H_ */
