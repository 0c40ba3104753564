/* SPDX-License-Identifier: Apache-2.0
 *
 * The breadcrumb API of AMD GPU Services (AGS) 6 on Cairn: its names, so that code written for it
 * recompiles and links with libcairn, on any vendor's GPU. Include this instead of amd_ags.h, or put
 * include/cairn/compat on the include path.
 *
 * AGS writes breadcrumbs into the immediate context of a Direct3D 11 device. There is no Direct3D 11
 * here: agsDriverExtensionsDX11_CreateDevice returns AGS_EXTENSION_NOT_SUPPORTED. With Direct3D 12 and
 * Vulkan three additional calls take its place:
 *
 *   agsInitialize(AGS_CURRENT_VERSION, NULL, &ags, NULL);
 *   cairnAgsAttach(ags, context);                  // a CairnContext with raw_marker_count > 0
 *   cairnAgsGetBreadcrumbBuffer(ags, &buffer);     // AGSDX11ReturnedParams::breadcrumbBuffer
 *   cairnAgsSetCommandBuffer(ags, command_buffer); // for the markers that follow
 *   agsDriverExtensionsDX11_WriteBreadcrumb(ags, &marker);
 *
 * Display, Crossfire and shader functions of AGS are not here: they are not about breadcrumbs.
 *
 * Threads: one thread at a time uses an AGSContext; several threads take one each, attached to the same
 * CairnContext.
 */
#ifndef CAIRN_COMPAT_AMD_AGS_H_
#define CAIRN_COMPAT_AMD_AGS_H_

#if defined(AMD_AGS_VERSION_MAJOR)
#error "amd_ags.h of the AGS SDK is included too; its types are not those of libcairn"
#endif

#include <stddef.h>

#include "cairn/breadcrumbs.h"
#include "cairn/markers.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AMD_AGS_VERSION_MAJOR 6
#define AMD_AGS_VERSION_MINOR 2
#define AMD_AGS_VERSION_PATCH 0

#define AMD_AGS_API CAIRN_API

#define AGS_MAKE_VERSION(major, minor, patch) (((major) << 22) | ((minor) << 12) | (patch))
#define AGS_UNSPECIFIED_VERSION 0xFFFFAD00
#define AGS_CURRENT_VERSION \
  AGS_MAKE_VERSION(AMD_AGS_VERSION_MAJOR, AMD_AGS_VERSION_MINOR, AMD_AGS_VERSION_PATCH)

typedef enum AGSReturnCode {
  AGS_SUCCESS,
  AGS_FAILURE,
  AGS_INVALID_ARGS,
  AGS_OUT_OF_MEMORY,
  AGS_MISSING_D3D_DLL,
  AGS_LEGACY_DRIVER,
  AGS_NO_AMD_DRIVER_INSTALLED,
  AGS_EXTENSION_NOT_SUPPORTED,
  AGS_ADL_FAILURE,
  AGS_DX_FAILURE,
  AGS_D3DDEVICE_NOT_CREATED
} AGSReturnCode;

typedef struct AGSContext AGSContext;

/* ---- Initialisation -------------------------------------------------------------------------- */

typedef void* (*AGS_ALLOC_CALLBACK)(size_t allocationSize);
typedef void (*AGS_FREE_CALLBACK)(void* allocationPtr);

/* Both or none. */
typedef struct AGSConfiguration {
  AGS_ALLOC_CALLBACK allocCallback;
  AGS_FREE_CALLBACK freeCallback;
} AGSConfiguration;

typedef struct AGSDeviceInfo AGSDeviceInfo;

/* Filled in with no devices and empty versions: Cairn's self-test describes devices. */
typedef struct AGSGPUInfo {
  const char* driverVersion;
  const char* radeonSoftwareVersion;
  int numDevices;
  AGSDeviceInfo* devices;
} AGSGPUInfo;

/* AGS_CURRENT_VERSION. */
AMD_AGS_API int agsGetVersionNumber(void);

/* `config` and `gpuInfo` may be NULL. AGS_INVALID_ARGS: `context` is NULL, one callback without the
 * other, or another major version than 6. AGS_OUT_OF_MEMORY. No AMD driver is needed. */
AMD_AGS_API AGSReturnCode agsInitialize(int agsVersion, const AGSConfiguration* config,
                                        AGSContext** context, AGSGPUInfo* gpuInfo);
/* The attached CairnContext stays. AGS_INVALID_ARGS: NULL. */
AMD_AGS_API AGSReturnCode agsDeInitialize(AGSContext* context);

/* ---- Direct3D 11 ----------------------------------------------------------------------------- */

struct ID3D11Device;
struct ID3D11DeviceContext;
struct IDXGIAdapter;
struct IDXGISwapChain;
struct DXGI_SWAP_CHAIN_DESC;

/* As in AGS: with AGS_DIRECTX_TYPES_INCLUDED the Direct3D headers came first. */
#if defined(AGS_DIRECTX_TYPES_INCLUDED)
typedef D3D_DRIVER_TYPE CairnAgsDriverType;
typedef D3D_FEATURE_LEVEL CairnAgsFeatureLevel;
typedef WCHAR CairnAgsChar;
#else
typedef int CairnAgsDriverType;
typedef int CairnAgsFeatureLevel;
typedef wchar_t CairnAgsChar;
#endif

typedef enum AGSCrossfireMode {
  AGS_CROSSFIRE_MODE_DRIVER_AFR = 0,
  AGS_CROSSFIRE_MODE_EXPLICIT_AFR,
  AGS_CROSSFIRE_MODE_DISABLE
} AGSCrossfireMode;

typedef struct AGSDX11DeviceCreationParams {
  struct IDXGIAdapter* pAdapter;
  CairnAgsDriverType DriverType;
  void* Software;
  unsigned int Flags;
  const CairnAgsFeatureLevel* pFeatureLevels;
  unsigned int FeatureLevels;
  unsigned int SDKVersion;
  const struct DXGI_SWAP_CHAIN_DESC* pSwapChainDesc;
} AGSDX11DeviceCreationParams;

typedef struct AGSDX11ExtensionParams {
  const CairnAgsChar* pAppName;
  const CairnAgsChar* pEngineName;
  unsigned int appVersion;
  unsigned int engineVersion;
  unsigned int numBreadcrumbMarkers; /* here: CairnContextDesc::raw_marker_count */
  unsigned int uavSlot;
  AGSCrossfireMode crossfireMode;
} AGSDX11ExtensionParams;

/* Of the extensions only the one that this header is about. */
typedef struct AGSDX11ExtensionsSupported {
  unsigned int breadcrumbMarkers : 1;
  unsigned int padding : 31;
} AGSDX11ExtensionsSupported;

typedef struct AGSDX11ReturnedParams {
  struct ID3D11Device* pDevice;
  struct ID3D11DeviceContext* pImmediateContext;
  struct IDXGISwapChain* pSwapChain;
  CairnAgsFeatureLevel featureLevel;
#ifdef __cplusplus
  typedef AGSDX11ExtensionsSupported ExtensionsSupported;
#endif
  AGSDX11ExtensionsSupported extensionsSupported;
  unsigned int crossfireGPUCount;
  void* breadcrumbBuffer;
} AGSDX11ReturnedParams;

/* AGS_INVALID_ARGS: `context`, `creationParams` or `returnedParams` is NULL. Otherwise, on this
 * platform, AGS_EXTENSION_NOT_SUPPORTED, with returnedParams all zero: no breadcrumbMarkers. */
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_CreateDevice(
    AGSContext* context, const AGSDX11DeviceCreationParams* creationParams,
    const AGSDX11ExtensionParams* extensionParams, AGSDX11ReturnedParams* returnedParams);
/* AGS_INVALID_ARGS: `context` is NULL. Otherwise AGS_D3DDEVICE_NOT_CREATED: none can have been. */
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_DestroyDevice(
    AGSContext* context, struct ID3D11Device* device, unsigned int* deviceReferences,
    struct ID3D11DeviceContext* immediateContext, unsigned int* immediateContextReferences);

/* ---- Breadcrumbs ----------------------------------------------------------------------------- */

#ifdef __cplusplus
typedef struct AGSBreadcrumbMarker {
  typedef enum Type { TopOfPipe = 0, BottomOfPipe = 1 } Type;

  unsigned long long markerData;
  Type type;
  unsigned int index; /* below numBreadcrumbMarkers */
} AGSBreadcrumbMarker;
#else
typedef enum AGSBreadcrumbMarkerType {
  AGSBreadcrumbMarker_TopOfPipe = 0,
  AGSBreadcrumbMarker_BottomOfPipe = 1
} AGSBreadcrumbMarkerType;
typedef struct AGSBreadcrumbMarker {
  unsigned long long markerData;
  AGSBreadcrumbMarkerType type;
  unsigned int index;
} AGSBreadcrumbMarker;
#endif

/* Records a write of markerData into slot `index`, at the top or the bottom of the pipe, as
 * cairnWriteMarker does. AGS_INVALID_ARGS: NULL, no command buffer was set, or the index or type is
 * out of range. AGS_D3DDEVICE_NOT_CREATED: no CairnContext is attached.
 * AGS_EXTENSION_NOT_SUPPORTED: raw_marker_count is 0, or this command buffer cannot carry the write.
 * AGS_OUT_OF_MEMORY, AGS_FAILURE: cairnGetLastErrorMessage says more. */
AMD_AGS_API AGSReturnCode
agsDriverExtensionsDX11_WriteBreadcrumb(AGSContext* context, const AGSBreadcrumbMarker* marker);

/* ---- Cairn's additions: Direct3D 12 and Vulkan ------------------------------------------------ */

/* The context whose raw markers are written; not owned, and NULL detaches. Forgets the command buffer.
 * AGS_INVALID_ARGS: `context` is NULL. */
CAIRN_API AGSReturnCode cairnAgsAttach(AGSContext* context, CairnContext* cairn_context);

/* The ID3D12GraphicsCommandList* or VkCommandBuffer, open for recording, that the following markers go
 * into; NULL for none. AGS_INVALID_ARGS: `context` is NULL. */
CAIRN_API AGSReturnCode cairnAgsSetCommandBuffer(AGSContext* context, void* command_buffer);

/* The slots, 64 bits each, readable at any time; never written ones hold 0xCD bytes. Owned by the
 * CairnContext. AGS_INVALID_ARGS: NULL. AGS_D3DDEVICE_NOT_CREATED: nothing is attached.
 * AGS_EXTENSION_NOT_SUPPORTED: raw_marker_count is 0. */
CAIRN_API AGSReturnCode cairnAgsGetBreadcrumbBuffer(AGSContext* context,
                                                    const volatile void** buffer);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_COMPAT_AMD_AGS_H_ */
