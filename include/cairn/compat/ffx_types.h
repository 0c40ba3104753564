/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of FidelityFX SDK 1.1's types that a user of its Breadcrumbs touches: error codes,
 * handles, allocation callbacks and the backend interface. Included by ffx_breadcrumbs.h, ffx_dx12.h
 * and ffx_vk.h of this folder; see there. Names and values are those of the SDK, so that source code
 * recompiles; binary layouts are our own.
 */
#ifndef CAIRN_COMPAT_FFX_TYPES_H_
#define CAIRN_COMPAT_FFX_TYPES_H_

#if defined(FFX_SDK_VERSION_MAJOR)
#error "ffx_interface.h of the FidelityFX SDK is included too; its types are not those of libcairn"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn/breadcrumbs.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FFX_API CAIRN_API

#define FFX_SDK_VERSION_MAJOR (1)
#define FFX_SDK_VERSION_MINOR (1)
#define FFX_SDK_VERSION_PATCH (4)
#define FFX_SDK_MAKE_VERSION(major, minor, patch) (((major) << 22) | ((minor) << 12) | (patch))

typedef uint32_t FfxUInt32;
typedef uint32_t FfxVersionNumber;
typedef void* FfxDevice;
typedef void* FfxCommandList;
typedef void* FfxPipeline;

/* ---- Errors ---------------------------------------------------------------------------------- */

typedef int32_t FfxErrorCode;

static const FfxErrorCode FFX_OK = 0;
static const FfxErrorCode FFX_ERROR_INVALID_POINTER = (FfxErrorCode)0x80000000;
static const FfxErrorCode FFX_ERROR_INVALID_ALIGNMENT = (FfxErrorCode)0x80000001;
static const FfxErrorCode FFX_ERROR_INVALID_SIZE = (FfxErrorCode)0x80000002;
static const FfxErrorCode FFX_EOF = (FfxErrorCode)0x80000003;
static const FfxErrorCode FFX_ERROR_INVALID_PATH = (FfxErrorCode)0x80000004;
static const FfxErrorCode FFX_ERROR_EOF = (FfxErrorCode)0x80000005;
static const FfxErrorCode FFX_ERROR_MALFORMED_DATA = (FfxErrorCode)0x80000006;
static const FfxErrorCode FFX_ERROR_OUT_OF_MEMORY = (FfxErrorCode)0x80000007;
static const FfxErrorCode FFX_ERROR_INCOMPLETE_INTERFACE = (FfxErrorCode)0x80000008;
static const FfxErrorCode FFX_ERROR_INVALID_ENUM = (FfxErrorCode)0x80000009;
static const FfxErrorCode FFX_ERROR_INVALID_ARGUMENT = (FfxErrorCode)0x8000000a;
static const FfxErrorCode FFX_ERROR_OUT_OF_RANGE = (FfxErrorCode)0x8000000b;
static const FfxErrorCode FFX_ERROR_NULL_DEVICE = (FfxErrorCode)0x8000000c;
static const FfxErrorCode FFX_ERROR_BACKEND_API_ERROR = (FfxErrorCode)0x8000000d;
static const FfxErrorCode FFX_ERROR_INSUFFICIENT_MEMORY = (FfxErrorCode)0x8000000e;

/* ---- Memory ---------------------------------------------------------------------------------- */

typedef void* (*FfxAllocFunc)(size_t size);
typedef void* (*FfxReallocFunc)(void* ptr, size_t size);
typedef void (*FfxFreeFunc)(void* ptr);

/* All three, or none for malloc, realloc and free. Called from any thread. */
typedef struct FfxAllocationCallbacks {
  FfxAllocFunc fpAlloc;
  FfxReallocFunc fpRealloc;
  FfxFreeFunc fpFree;
} FfxAllocationCallbacks;

/* Releases the buffer of ffxBreadcrumbsPrintStatus, if the context has no callbacks of its own. A
 * program with its own fpFree calls that, or defines FFX_FREE first. */
#if !defined(FFX_FREE)
#include <stdlib.h>
#define FFX_FREE(pointer) free(pointer)
#endif

/* ---- The backend interface ------------------------------------------------------------------- */

typedef enum FfxEffect { FFX_EFFECT_BREADCRUMBS = 4 } FfxEffect;

typedef struct FfxInterface FfxInterface;
typedef struct FfxEffectBindlessConfig FfxEffectBindlessConfig; /* never passed: always NULL */

/* The result of fpBreadcrumbsAllocBlock. `memory`, `buffer` and `baseAddress` are used; `heap` is
 * kept for fpBreadcrumbsFreeBlock; `nextMarker` is ignored. */
typedef struct FfxBreadcrumbsBlockData {
  void* memory; /* CPU address, aligned to 8, readable also after a device loss */
  void* heap;
  void* buffer;
  uint64_t baseAddress;
  uint32_t nextMarker;
} FfxBreadcrumbsBlockData;

typedef FfxVersionNumber (*FfxGetSDKVersionFunc)(FfxInterface* backendInterface);
typedef FfxErrorCode (*FfxCreateBackendContextFunc)(FfxInterface* backendInterface,
                                                    FfxEffect effect,
                                                    FfxEffectBindlessConfig* bindlessConfig,
                                                    FfxUInt32* effectContextId);
typedef FfxErrorCode (*FfxDestroyBackendContextFunc)(FfxInterface* backendInterface,
                                                     FfxUInt32 effectContextId);
typedef FfxErrorCode (*FfxBreadcrumbsAllocBlockFunc)(FfxInterface* backendInterface,
                                                     uint64_t blockBytes,
                                                     FfxBreadcrumbsBlockData* blockData);
typedef void (*FfxBreadcrumbsFreeBlockFunc)(FfxInterface* backendInterface,
                                            FfxBreadcrumbsBlockData* blockData);
typedef void (*FfxBreadcrumbsWriteFunc)(FfxInterface* backendInterface, FfxCommandList commandList,
                                        uint32_t value, uint64_t gpuLocation, void* gpuBuffer,
                                        bool isBegin);
/* Makes *printBuffer longer with allocs->fpRealloc, *printSize being its bytes without a terminating
 * zero; called with NULL and 0. */
typedef void (*FfxBreadcrumbsPrintDeviceInfoFunc)(FfxInterface* backendInterface,
                                                  FfxAllocationCallbacks* allocs, bool extendedInfo,
                                                  char** printBuffer, size_t* printSize);

/* The members that Breadcrumbs uses. ffxGetInterfaceDX12 and ffxGetInterfaceVK fill it in; a backend
 * of your own sets the three fpBreadcrumbs functions AllocBlock, FreeBlock and Write, and whatever
 * else it wants. The callbacks get a pointer to the context's copy. */
struct FfxInterface {
  FfxGetSDKVersionFunc fpGetSDKVersion;                 /* not called */
  FfxCreateBackendContextFunc fpCreateBackendContext;   /* may be NULL */
  FfxDestroyBackendContextFunc fpDestroyBackendContext; /* may be NULL */
  FfxBreadcrumbsAllocBlockFunc fpBreadcrumbsAllocBlock; /* called once a context */
  FfxBreadcrumbsFreeBlockFunc fpBreadcrumbsFreeBlock;   /* called once a context */
  FfxBreadcrumbsWriteFunc fpBreadcrumbsWrite;           /* called while lists are recorded */
  FfxBreadcrumbsPrintDeviceInfoFunc fpBreadcrumbsPrintDeviceInfo; /* may be NULL */
  void* scratchBuffer;                                            /* the backend's own */
  size_t scratchBufferSize;
  FfxDevice device;
};

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_COMPAT_FFX_TYPES_H_ */
