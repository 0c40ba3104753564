/* SPDX-License-Identifier: Apache-2.0
 *
 * Cairn breadcrumbs: find the work that the GPU was doing when it failed. Start here.
 *
 * A context belongs to one device. The application surrounds work with markers while it records a command list;
 * the GPU writes its progress into memory, which outlives the process under `cairn run` (or after
 * cairnStartWatcher). After a device loss cairnPrintStatus returns the tree of completed, in-flight and
 * not started work; after a crash the watcher writes the same tree to a .cairn file, which `cairn report`
 * prints.
 *
 *   CairnContext* context;
 *   cairnCreateContextVulkan(&desc, &vulkan, &context);
 *   for each frame:
 *     cairnBeginFrame(context);
 *     cairnBeginCommandList(context, &list_desc, &list);   // after vkBeginCommandBuffer / Reset
 *     cairnBeginMarker(list, CAIRN_MARKER_PASS, "Shadow", CAIRN_NAME_STATIC);
 *     cairnBeginMarker(list, CAIRN_MARKER_DRAW_INDEXED, NULL, CAIRN_NAME_STATIC);
 *     vkCmdDrawIndexed(...);
 *     cairnEndMarker(list);
 *     cairnEndMarker(list);
 *     cairnEndCommandList(list);                           // before vkEndCommandBuffer / Close
 *     cairnNotifySubmit(context, queue, &list, 1);         // before vkQueueSubmit / Execute...
 *
 * Threads: functions that take a context may be called from any thread at any time, except
 * cairnDestroyContext, which must be the last. Functions that take a CairnCommandList follow the
 * API's own rule: one thread at a time records one list; different lists are independent and share
 * no lock. With CAIRN_CONTEXT_THREAD_SYNCHRONIZATION one list may be used from several threads.
 *
 * Errors: functions that can fail return a CairnResult and leave their outputs untouched unless it is
 * CAIRN_OK. All check their pointers, struct sizes and enumerators: CAIRN_ERROR_INVALID_ARGUMENT.
 * Unknown bits in flags are ignored. No function aborts or throws. When shared memory is full, further markers are
 * dropped and counted, and the report gives their number; recording goes on.
 *
 * Strings are UTF-8 and zero-terminated. Structs start with struct_size = sizeof(the struct), so that
 * a later library can recognise older versions of a struct. This one knows one size of each, and two of
 * CairnWatcherDesc: that without on_report is of the first release.
 *
 * Sources: FidelityFX Breadcrumbs (markers, frames, print flags, custom backends); the Direct3D 12
 * and Vulkan specifications. See docs/reference/breadcrumbs.md.
 */
#ifndef CAIRN_BREADCRUMBS_H_
#define CAIRN_BREADCRUMBS_H_

#include <stddef.h>
#include <stdint.h>

#include "cairn/marker_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(CAIRN_BUILDS_LIBRARY)
#define CAIRN_API __declspec(dllexport)
#elif defined(_WIN32)
#define CAIRN_API
#else
#define CAIRN_API __attribute__((visibility("default")))
#endif

#define CAIRN_VERSION_MAJOR 0
#define CAIRN_VERSION_MINOR 1
#define CAIRN_VERSION_PATCH 0

typedef enum CairnResult {
  CAIRN_OK = 0,
  CAIRN_ERROR_INVALID_ARGUMENT = 1,        /* outside the documented range */
  CAIRN_ERROR_OUT_OF_MEMORY = 2,           /* of the process or of the shared block */
  CAIRN_ERROR_EXTENSION_NOT_SUPPORTED = 3, /* the device offers no way that works to do this */
  CAIRN_ERROR_DEVICE_NOT_CREATED = 4,      /* no device, or the backend is missing in this build */
  CAIRN_ERROR_DEVICE_LOST = 5,             /* the device was lost while Cairn used it */
  CAIRN_ERROR_OPERATING_SYSTEM = 6,        /* shared memory or the watcher could not be had */
  CAIRN_ERROR_UNBALANCED_MARKER = 7        /* cairnEndMarker without an open marker */
} CairnResult;

/* Returns the enumerator's name, such as "CAIRN_OK". Never NULL. */
CAIRN_API const char* cairnResultString(CairnResult result);

/* Returns major << 16 | minor << 8 | patch of the library, which may be newer than this header. */
CAIRN_API uint32_t cairnGetVersion(void);

/* Returns the message of the last failed call on this thread: values, reason, next step. Valid until the
 * thread's next call of a Cairn function; "" if no call failed yet. Functions that take a
 * CairnCommandList, except cairnReleaseCommandList, set no message. */
CAIRN_API const char* cairnGetLastErrorMessage(void);

typedef struct CairnContext CairnContext;
typedef struct CairnCommandList CairnCommandList; /* one recording of one command list */
typedef uint32_t CairnPipeline;                   /* 0 is "no pipeline" */

/* ---- Context --------------------------------------------------------------------------------- */

/* The amount of markers that the GPU writes. docs/reference/breadcrumbs.md compares costs and reports. */
typedef enum CairnMode {
  CAIRN_MODE_TOP = 0,  /* top of pipe at every begin; bottom only at the end of a list */
  CAIRN_MODE_PASS = 1, /* and bottom of pipe where a CAIRN_MARKER_PASS ends */
  CAIRN_MODE_FULL = 2  /* and bottom of pipe at every end */
} CairnMode;

/* Memory callbacks. All three or none; they may be called from any thread, and must return memory
 * aligned for any type. `reallocate` with NULL allocates. */
typedef struct CairnAllocationCallbacks {
  void* (*allocate)(size_t size_bytes, void* user_data);
  void* (*reallocate)(void* memory, size_t size_bytes, void* user_data);
  void (*release)(void* memory, void* user_data);
  void* user_data;
} CairnAllocationCallbacks;

enum {
  /* One command list may be used from several threads: a lock per list. */
  CAIRN_CONTEXT_THREAD_SYNCHRONIZATION = 1u << 0,
  /* Leave SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT alone. Without it Cairn notes the signal and
   * brings mirrored words up to date, then passes the signal on to the previous handler. */
  CAIRN_CONTEXT_NO_SIGNAL_HANDLER = 1u << 1,
  /* Bottom-of-pipe write also where the outermost marker of a list ends, in every mode: for callers
   * that never call cairnEndCommandList. */
  CAIRN_CONTEXT_OUTERMOST_END_IS_LIST_END = 1u << 2
};

typedef struct CairnContextDesc {
  uint32_t struct_size;
  uint32_t flags; /* CAIRN_CONTEXT_... */
  CairnMode mode;
  uint32_t frame_history_length;       /* frames kept, 1 to 1024; 0 means 4 */
  uint32_t max_command_lists;          /* recordings alive at once, 1 to 65536; 0 means 4096 */
  uint32_t raw_marker_count;           /* slots for cairnWriteMarker, 0 to 1048576 */
  CairnAllocationCallbacks allocation; /* all NULL: malloc */
  uint64_t block_size_bytes; /* shared memory, 8 MiB to 4 GiB, sparse; 0 means 256 MiB. The first
                                     call of a process that needs the memory decides: a first
                                     context, or cairnSetUserData before it with 256 MiB. */
} CairnContextDesc;

/* Vulkan handles are passed as the API declares them; this header needs no Vulkan header. */
typedef void (*CairnVoidFunction)(void);
typedef struct CairnVulkanDesc {
  uint32_t struct_size;
  void* instance;        /* VkInstance */
  void* physical_device; /* VkPhysicalDevice */
  void* device;          /* VkDevice */
  void* queue; /* VkQueue for the self-test; used during creation only, and nobody else may
                             use it meanwhile */
  uint32_t queue_family; /* of `queue` */
  /* vkGetInstanceProcAddr */
  CairnVoidFunction (*get_instance_proc_addr)(void* instance, const char* name);
  /* Exactly what the application enabled at vkCreateDevice: an extension that merely exists must not
   * be used. */
  uint32_t enabled_extension_count;
  const char* const* enabled_extensions;
} CairnVulkanDesc;

typedef struct CairnD3D12Desc {
  uint32_t struct_size;
  void* device; /* ID3D12Device*; a reference is held until the context is destroyed */
} CairnD3D12Desc;

/* A backend of your own: a console, a simulator, another API. `write` is called while a list is
 * recorded and has to make the GPU store `value` at `location` in `buffer`: for begin when the
 * command processor reaches it, for end once earlier work has finished. Blocks are what
 * `allocate_block` made; they must be readable by the CPU at any time, also after a device loss. */
typedef struct CairnCustomBlock {
  void* memory;          /* CPU address, aligned to 8 */
  void* buffer;          /* opaque, handed to `write` */
  uint64_t base_address; /* added to the offset in `memory` to make the `location` of a write */
} CairnCustomBlock;
typedef struct CairnCustomBackend {
  uint32_t struct_size;
  void* user_data;
  CairnResult (*allocate_block)(void* user_data, uint64_t size_bytes, CairnCustomBlock* block);
  void (*free_block)(void* user_data, CairnCustomBlock* block);
  void (*write)(void* user_data, void* command_list, uint32_t value, uint64_t location,
                void* buffer, int is_begin);
  /* Fills `text` (`size_bytes` large) with device information; may be NULL. */
  void (*print_device_info)(void* user_data, int extended, char* text, size_t size_bytes);
} CairnCustomBackend;

/* Creates a context and verifies, by values read back, which ways of writing markers work on this
 * device; takes some milliseconds of GPU time. Ownership: release with cairnDestroyContext, after
 * the GPU has finished with every list that was registered.
 * CAIRN_ERROR_EXTENSION_NOT_SUPPORTED: no way works.
 * On a device of one of Cairn's own layers (`cairn run`) the context is the layer's, shared: both
 * write the same lists. docs/reference/breadcrumbs.md says what that changes. A Vulkan context is to be
 * destroyed before its device. */
CAIRN_API CairnResult cairnCreateContextVulkan(const CairnContextDesc* desc,
                                               const CairnVulkanDesc* vulkan,
                                               CairnContext** context);
CAIRN_API CairnResult cairnCreateContextD3D12(const CairnContextDesc* desc,
                                              const CairnD3D12Desc* d3d12, CairnContext** context);
CAIRN_API CairnResult cairnCreateContextCustom(const CairnContextDesc* desc,
                                               const CairnCustomBackend* backend,
                                               CairnContext** context);
CAIRN_API CairnResult cairnDestroyContext(CairnContext* context);

/* Starts a frame. Lists of frames older than frame_history_length that have finished are forgotten;
 * lists that the GPU started and did not finish are kept for as long as they run. */
CAIRN_API CairnResult cairnBeginFrame(CairnContext* context);

/* ---- Pipelines ------------------------------------------------------------------------------- */

/* Names of a pipeline and its shaders; NULL where there is none. Graphics (vertex to pixel, mesh,
 * amplification), compute and ray tracing exclude one another, and so do vertex, hull, domain,
 * geometry and mesh, amplification. Names are copied. */
typedef struct CairnPipelineDesc {
  uint32_t struct_size;
  void* native; /* VkPipeline or ID3D12PipelineState*; may be NULL */
  const char* name;
  const char* vertex_shader;
  const char* hull_shader;
  const char* domain_shader;
  const char* geometry_shader;
  const char* pixel_shader;
  const char* mesh_shader;
  const char* amplification_shader;
  const char* compute_shader;
  const char* ray_tracing_shader;
} CairnPipelineDesc;

/* Registers a pipeline, at most 32,767 at once in a process. */
CAIRN_API CairnResult cairnRegisterPipeline(CairnContext* context, const CairnPipelineDesc* desc,
                                            CairnPipeline* pipeline);
/* Removes a pipeline. Reports of earlier frames still show its names. */
CAIRN_API CairnResult cairnUnregisterPipeline(CairnContext* context, CairnPipeline pipeline);

/* ---- Command lists --------------------------------------------------------------------------- */

typedef enum CairnQueueType {
  CAIRN_QUEUE_DIRECT = 0, /* graphics, compute and copies */
  CAIRN_QUEUE_COMPUTE = 1,
  CAIRN_QUEUE_COPY = 2,
  CAIRN_QUEUE_OTHER = 3
} CairnQueueType;

/* Gives a queue a name in reports; optional. `native` is VkQueue or ID3D12CommandQueue*, or any
 * number of your own. */
CAIRN_API CairnResult cairnRegisterQueue(CairnContext* context, void* native, CairnQueueType type,
                                         const char* name);

enum {
  /* The list is recorded once and submitted many times: it belongs to no frame and lives until
   * cairnReleaseCommandList. The GPU counts its executions. It starts with a full barrier. */
  CAIRN_LIST_REUSABLE = 1u << 0
};

typedef struct CairnCommandListDesc {
  uint32_t struct_size;
  uint32_t flags; /* CAIRN_LIST_... */
  void* native;   /* VkCommandBuffer or ID3D12GraphicsCommandList*, open for recording */
  void* queue;    /* where it will be submitted, NULL if unknown */
  CairnQueueType queue_type;
  const char* name;          /* copied; may be NULL */
  CairnPipeline pipeline;    /* bound at the start, or 0 */
  uint64_t submission_index; /* informative, as in FidelityFX Breadcrumbs */
} CairnCommandListDesc;

/* Registers one recording of a command list. The handle is valid until its frame leaves the history
 * (or, for a reusable list, until it is released); using it later is an error of the caller. */
CAIRN_API CairnResult cairnBeginCommandList(CairnContext* context, const CairnCommandListDesc* desc,
                                            CairnCommandList** list);
/* Ends the recording; markers left open stay visible as open in reports. Optional but recommended:
 * in CAIRN_MODE_TOP it is the only proof that a list finished. */
CAIRN_API CairnResult cairnEndCommandList(CairnCommandList* list);
/* Releases a reusable list, which the GPU has finished with and which is not submitted again. */
CAIRN_API CairnResult cairnReleaseCommandList(CairnCommandList* list);

/* Sets the pipeline of the markers that follow; 0 for none. The number is not checked: reports show no
 * pipeline if it names none. */
CAIRN_API CairnResult cairnSetPipeline(CairnCommandList* list, CairnPipeline pipeline);

/* Announce the begin and the end of a render pass (Vulkan: vkCmdBeginRenderPass, vkCmdBeginRendering).
 * Methods that cannot write inside a render pass skip their writes there.
 * CAIRN_ERROR_INVALID_ARGUMENT: the list is inside, or outside, of one already, or has ended. */
CAIRN_API CairnResult cairnEnterRenderPass(CairnCommandList* list);
CAIRN_API CairnResult cairnLeaveRenderPass(CairnCommandList* list);

typedef enum CairnNameKind {
  CAIRN_NAME_STATIC = 0, /* the same bytes at this address whenever it is passed: a literal */
  CAIRN_NAME_COPY = 1    /* copied during the call */
} CairnNameKind;

/* Surround work with markers; they nest. `name` may be NULL except for CAIRN_MARKER_PASS; at most
 * 1,024 bytes are kept. No lock, no allocation once warm. Cost: bench BeginEnd in docs/performance.md.
 * CAIRN_ERROR_INVALID_ARGUMENT: an unknown type, a PASS without a name, or a list that has ended.
 * CAIRN_ERROR_OUT_OF_MEMORY: the marker is counted as dropped; call cairnEndMarker for it nevertheless.
 * CAIRN_ERROR_UNBALANCED_MARKER: an end without a begin. */
CAIRN_API CairnResult cairnBeginMarker(CairnCommandList* list, CairnMarkerType type,
                                       const char* name, CairnNameKind name_kind);
CAIRN_API CairnResult cairnEndMarker(CairnCommandList* list);

/* ---- Submission ------------------------------------------------------------------------------ */

/* Announces a submission. Call it right before the same lists are handed to the API, in the same order. The
 * watchdog waits for these lists; reports show them in this order and count executions of reusable lists. */
CAIRN_API CairnResult cairnNotifySubmit(CairnContext* context, void* queue,
                                        CairnCommandList* const* lists, uint32_t list_count);

/* Returns the queue's latest submission number (0 before the first). Pass it to
 * cairnNotifyCompleted once a fence shows that it finished. Only needed for lists without a
 * bottom-of-pipe write. */
CAIRN_API CairnResult cairnGetLastSubmission(CairnContext* context, void* queue,
                                             uint64_t* submission);
CAIRN_API CairnResult cairnNotifyCompleted(CairnContext* context, void* queue, uint64_t submission);

/* Reports a lost device: the watcher writes the .cairn file now. `code` is the HRESULT or VkResult, `where`
 * the name of the failed call; it is copied and may be NULL. */
CAIRN_API CairnResult cairnReportDeviceLost(CairnContext* context, int32_t code, const char* where);

/* ---- Status and watcher ---------------------------------------------------------------------- */

enum {
  CAIRN_PRINT_FINISHED_LISTS = 1u << 0,
  CAIRN_PRINT_NOT_STARTED_LISTS = 1u << 1,
  CAIRN_PRINT_FINISHED_NODES = 1u << 2,
  CAIRN_PRINT_NOT_STARTED_NODES = 1u << 3,
  CAIRN_PRINT_EXTENDED_DEVICE_INFO = 1u << 4, /* excludes SKIP_DEVICE_INFO */
  CAIRN_PRINT_SKIP_DEVICE_INFO = 1u << 5,
  CAIRN_PRINT_SKIP_PIPELINE_INFO = 1u << 6
};

/* Prints the tree of all kept frames, oldest first. The text is UTF-8, zero-terminated, allocated
 * with the context's callbacks and released by the caller with them (or free()). The number of
 * allocations does not depend on the number of markers. */
CAIRN_API CairnResult cairnPrintStatus(CairnContext* context, uint32_t flags, char** text,
                                       size_t* size_bytes);

/* Copies mirrored progress words now. Safe in a signal handler. */
CAIRN_API void cairnRefresh(CairnContext* context);

typedef struct CairnWatcherDesc {
  uint32_t struct_size;
  uint32_t hang_timeout_ms; /* submitted work unfinished for so long is a hang: 1 to 1,000,000,000;
                               0 means 10000 */
  const char* output_path;  /* the .cairn file; NULL: PROGRAM.cairn in the working directory */
  const char* cairn_path;   /* the `cairn` program; NULL: that of the library's installation, or one
                               beside the library or the program. PATH is not searched. */
  const char*
      on_report; /* a command that the watcher runs for each file that it writes: a path, or a name in
                               PATH, and arguments, with blanks between; apostrophes hold a word together. It gets
                               the file as its last argument, and a line of JSON as its input. NULL: none.
                               docs/reference/cairn-run.md has the rules. */
} CairnWatcherDesc;

/* Starts the watcher process for this process, if it has none (under `cairn run` it has: CAIRN_OK, and
 * nothing is started). Contexts that exist already are watched as well. The watcher ends with the
 * process. CAIRN_ERROR_OPERATING_SYSTEM: `cairn` was not found, did not start, or cannot write the
 * output, or there is no such command, or this program has more rights than its user (setuid, file capabilities): such a program
 * starts nothing. Threads: one at a time, and no other thread may read or change the environment meanwhile.
 * Cost: starting a process, some milliseconds. */
CAIRN_API CairnResult cairnStartWatcher(const CairnWatcherDesc* desc);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_BREADCRUMBS_H_ */
