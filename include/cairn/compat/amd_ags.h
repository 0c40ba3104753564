/* SPDX-License-Identifier: Apache-2.0
 *
 * AMD GPU Services (AGS) 6 on Cairn: its names, so that code written for it recompiles and links with
 * libcairn, on any vendor's GPU. Include this instead of amd_ags.h, or put include/cairn/compat on the include
 * path. On Windows there is an amd_ags_x64.dll as well, for programs that load that (docs/reference/ags.md).
 *
 * Breadcrumbs and markers work. The rest of AGS is declared so that code compiles: its bits among the
 * extensions are 0, and its functions return AGS_EXTENSION_NOT_SUPPORTED.
 *
 *   Direct3D 11, on Windows:
 *   agsInitialize(AGS_CURRENT_VERSION, NULL, &ags, NULL);
 *   agsDriverExtensionsDX11_CreateDevice(ags, &creation, &extensions, &returned);
 *   agsDriverExtensionsDX11_WriteBreadcrumb(ags, &marker);   // returned.breadcrumbBuffer has what arrived
 *
 *   Direct3D 12 and Vulkan, where three calls of Cairn's take the place of the device's creation:
 *   cairnAgsAttach(ags, context);                  // a CairnContext with raw_marker_count > 0
 *   cairnAgsGetBreadcrumbBuffer(ags, &buffer);     // AGSDX11ReturnedParams::breadcrumbBuffer
 *   cairnAgsSetCommandBuffer(ags, command_buffer); // for the markers that follow
 *   agsDriverExtensionsDX11_WriteBreadcrumb(ags, &marker);
 *
 * Threads: one thread at a time uses an AGSContext; several threads take one each. Markers of Direct3D 11 go into
 * the immediate context, whose thread writes them.
 *
 * Names are those of AGS 6.3, and in C++ also those that enumerations had inside of structs until 6.2
 * (AGSBreadcrumbMarker::TopOfPipe). Structs have the layout of both. AGS 5 and 32-bit programs are not served.
 *
 * Source: AMD GPU Services, versions 6.
 */
#ifndef CAIRN_COMPAT_AMD_AGS_H_
#define CAIRN_COMPAT_AMD_AGS_H_

#if defined(AMD_AGS_VERSION_MAJOR)
#error "amd_ags.h of the AGS SDK is included too; its types are not those of libcairn"
#endif

#include <stdbool.h>
#include <stddef.h>

#include "cairn/breadcrumbs.h"
#include "cairn/markers.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AMD_AGS_VERSION_MAJOR 6
#define AMD_AGS_VERSION_MINOR 3
#define AMD_AGS_VERSION_PATCH 0

#define AMD_AGS_API CAIRN_API

/* A name that an enumerator had inside of a struct until AGS 6.2. */
#ifdef __cplusplus
#define CAIRN_AGS_FORMER(type, former, present) static constexpr type former = present;
#endif

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

/* As in AGS: with AGS_DIRECTX_TYPES_INCLUDED the headers of Direct3D came first. They are recognised without it, too. */
#if defined(AGS_DIRECTX_TYPES_INCLUDED) || defined(__d3dcommon_h__)
typedef D3D_DRIVER_TYPE CairnAgsDriverType;
typedef D3D_FEATURE_LEVEL CairnAgsFeatureLevel;
typedef D3D_PRIMITIVE_TOPOLOGY CairnAgsTopology;
#else
typedef int CairnAgsDriverType;
typedef int CairnAgsFeatureLevel;
typedef int CairnAgsTopology;
#endif
#if defined(_WIN32)
typedef wchar_t CairnAgsChar;
#else
typedef unsigned short CairnAgsChar;
#endif
#if defined(GUID_DEFINED)
typedef GUID CairnAgsIid;
#else
typedef struct CairnAgsIid {
  unsigned int data1;
  unsigned short data2;
  unsigned short data3;
  unsigned char data4[8];
} CairnAgsIid;
#endif

struct IDXGIAdapter;
struct IDXGISwapChain;
struct DXGI_SWAP_CHAIN_DESC;
struct ID3D11Device;
struct ID3D11DeviceContext;
struct ID3D11Resource;
struct ID3D11Buffer;
struct ID3D11Texture1D;
struct ID3D11Texture2D;
struct ID3D11Texture3D;
struct D3D11_BUFFER_DESC;
struct D3D11_TEXTURE1D_DESC;
struct D3D11_TEXTURE2D_DESC;
struct D3D11_TEXTURE3D_DESC;
struct D3D11_SUBRESOURCE_DATA;
struct ID3D12Device;
struct ID3D12GraphicsCommandList;
struct tagRECT;

/* ---- Initialisation -------------------------------------------------------------------------- */

typedef struct AGSRect {
  int offsetX;
  int offsetY;
  int width;
  int height;
} AGSRect;

typedef struct AGSDisplayInfo {
  char name[256];
  char displayDeviceName[32];
  unsigned int isPrimaryDisplay : 1;
  unsigned int HDR10 : 1;
  unsigned int dolbyVision : 1;
  unsigned int freesync : 1;
  unsigned int freesyncHDR : 1;
  unsigned int eyefinityInGroup : 1;
  unsigned int eyefinityPreferredDisplay : 1;
  unsigned int eyefinityInPortraitMode : 1;
  unsigned int reservedPadding : 24;
  int maxResolutionX;
  int maxResolutionY;
  float maxRefreshRate;
  AGSRect currentResolution;
  AGSRect visibleResolution;
  float currentRefreshRate;
  int eyefinityGridCoordX;
  int eyefinityGridCoordY;
  double chromaticityRedX;
  double chromaticityRedY;
  double chromaticityGreenX;
  double chromaticityGreenY;
  double chromaticityBlueX;
  double chromaticityBlueY;
  double chromaticityWhitePointX;
  double chromaticityWhitePointY;
  double screenDiffuseReflectance;
  double screenSpecularReflectance;
  double minLuminance;
  double maxLuminance;
  double avgLuminance;
  int logicalDisplayIndex;
  int adlAdapterIndex;
  int reserved;
} AGSDisplayInfo;

typedef enum AGSAsicFamily {
  AGSAsicFamily_Unknown,
  AGSAsicFamily_PreGCN,
  AGSAsicFamily_GCN1,
  AGSAsicFamily_GCN2,
  AGSAsicFamily_GCN3,
  AGSAsicFamily_GCN4,
  AGSAsicFamily_Vega,
  AGSAsicFamily_RDNA,
  AGSAsicFamily_RDNA2,
  AGSAsicFamily_RDNA3,
  AGSAsicFamily_RDNA4,
  AGSAsicFamily_Count
} AGSAsicFamily;

typedef struct AGSDeviceInfo {
#ifdef __cplusplus
  typedef AGSAsicFamily AsicFamily;
  CAIRN_AGS_FORMER(AsicFamily, AsicFamily_Unknown, AGSAsicFamily_Unknown)
  CAIRN_AGS_FORMER(AsicFamily, AsicFamily_PreGCN, AGSAsicFamily_PreGCN)
  CAIRN_AGS_FORMER(AsicFamily, AsicFamily_GCN1, AGSAsicFamily_GCN1)
  CAIRN_AGS_FORMER(AsicFamily, AsicFamily_GCN2, AGSAsicFamily_GCN2)
  CAIRN_AGS_FORMER(AsicFamily, AsicFamily_GCN3, AGSAsicFamily_GCN3)
  CAIRN_AGS_FORMER(AsicFamily, AsicFamily_GCN4, AGSAsicFamily_GCN4)
  CAIRN_AGS_FORMER(AsicFamily, AsicFamily_Vega, AGSAsicFamily_Vega)
  CAIRN_AGS_FORMER(AsicFamily, AsicFamily_RDNA, AGSAsicFamily_RDNA)
  CAIRN_AGS_FORMER(AsicFamily, AsicFamily_RDNA2, AGSAsicFamily_RDNA2)
  CAIRN_AGS_FORMER(AsicFamily, AsicFamily_RDNA3, AGSAsicFamily_RDNA3)
  CAIRN_AGS_FORMER(AsicFamily, AsicFamily_Count, AGSAsicFamily_Count)
#endif
  const char* adapterString;
  AGSAsicFamily asicFamily;
  unsigned int isAPU : 1;
  unsigned int isPrimaryDevice : 1;
  unsigned int isExternal : 1;
  unsigned int reservedPadding : 29;
  int vendorId;
  int deviceId;
  int revisionId;
  int numCUs;
  int numWGPs;
  int numROPs;
  int coreClock;
  int memoryClock;
  int memoryBandwidth;
  float teraFlops;
  unsigned long long localMemoryInBytes;
  unsigned long long sharedMemoryInBytes;
  int numDisplays;
  AGSDisplayInfo* displays;
  int eyefinityEnabled;
  int eyefinityGridWidth;
  int eyefinityGridHeight;
  int eyefinityResolutionX;
  int eyefinityResolutionY;
  int eyefinityBezelCompensated;
  int adlAdapterIndex;
  int reserved;
} AGSDeviceInfo;

typedef void* (*AGS_ALLOC_CALLBACK)(size_t allocationSize);
typedef void (*AGS_FREE_CALLBACK)(void* allocationPtr);

/* Both or none. */
typedef struct AGSConfiguration {
  AGS_ALLOC_CALLBACK allocCallback;
  AGS_FREE_CALLBACK freeCallback;
} AGSConfiguration;

/* Receives no devices and empty versions: Cairn's self-test describes devices. */
typedef struct AGSGPUInfo {
  const char* driverVersion;
  const char* radeonSoftwareVersion;
  int numDevices;
  AGSDeviceInfo* devices;
} AGSGPUInfo;

typedef enum AGSDisplayMode {
  AGSDisplayMode_SDR,
  AGSDisplayMode_HDR10_PQ,
  AGSDisplayMode_HDR10_scRGB,
  AGSDisplayMode_FreesyncHDR_scRGB,
  AGSDisplayMode_FreesyncHDR_Gamma22,
  AGSDisplayMode_DolbyVision,
  Mode_Count /* as AGS 6.3 spells it */
} AGSDisplayMode;

typedef struct AGSDisplaySettings {
#ifdef __cplusplus
  typedef AGSDisplayMode Mode;
  CAIRN_AGS_FORMER(Mode, Mode_SDR, AGSDisplayMode_SDR)
  CAIRN_AGS_FORMER(Mode, Mode_HDR10_PQ, AGSDisplayMode_HDR10_PQ)
  CAIRN_AGS_FORMER(Mode, Mode_HDR10_scRGB, AGSDisplayMode_HDR10_scRGB)
  CAIRN_AGS_FORMER(Mode, Mode_FreesyncHDR_scRGB, AGSDisplayMode_FreesyncHDR_scRGB)
  CAIRN_AGS_FORMER(Mode, Mode_FreesyncHDR_Gamma22, AGSDisplayMode_FreesyncHDR_Gamma22)
  CAIRN_AGS_FORMER(Mode, Mode_DolbyVision, AGSDisplayMode_DolbyVision)
  CAIRN_AGS_FORMER(Mode, Mode_Count, ::Mode_Count)
#endif
  AGSDisplayMode mode;
  double chromaticityRedX;
  double chromaticityRedY;
  double chromaticityGreenX;
  double chromaticityGreenY;
  double chromaticityBlueX;
  double chromaticityBlueY;
  double chromaticityWhitePointX;
  double chromaticityWhitePointY;
  double minLuminance;
  double maxLuminance;
  double maxContentLightLevel;
  double maxFrameAverageLightLevel;
  unsigned int disableLocalDimming : 1;
  unsigned int reservedPadding : 31;
} AGSDisplaySettings;

typedef enum AGSDriverVersionResult {
  AGS_SOFTWAREVERSIONCHECK_OK,
  AGS_SOFTWAREVERSIONCHECK_OLDER,
  AGS_SOFTWAREVERSIONCHECK_UNDEFINED
} AGSDriverVersionResult;

/* Returns AGS_SOFTWAREVERSIONCHECK_UNDEFINED. */
AMD_AGS_API AGSDriverVersionResult agsCheckDriverVersion(
    const char* radeonSoftwareVersionReported, unsigned int radeonSoftwareVersionRequired);

/* Returns AGS_CURRENT_VERSION. */
AMD_AGS_API int agsGetVersionNumber(void);

/* `config` and `gpuInfo` may be NULL. AGS_INVALID_ARGS: `context` is NULL, one callback without the
 * other, or another major version than 6. AGS_OUT_OF_MEMORY. No AMD driver is needed. */
AMD_AGS_API AGSReturnCode agsInitialize(int agsVersion, const AGSConfiguration* config,
                                        AGSContext** context, AGSGPUInfo* gpuInfo);
/* The attached CairnContext stays. A device that was made with the context and not destroyed stays usable, and has
 * no markers any more. AGS_INVALID_ARGS: NULL. */
AMD_AGS_API AGSReturnCode agsDeInitialize(AGSContext* context);

/* As agsInitialize fills in `gpuInfo`. AGS_INVALID_ARGS: NULL. */
AMD_AGS_API AGSReturnCode agsGetGPUInfo(AGSContext* context, AGSGPUInfo* gpuInfo);

AMD_AGS_API AGSReturnCode agsSetDisplayMode(AGSContext* context, int deviceIndex, int displayIndex,
                                            const AGSDisplaySettings* settings);

/* ---- Direct3D 12 ----------------------------------------------------------------------------- */

typedef struct AGSDX12DeviceCreationParams {
  struct IDXGIAdapter* pAdapter;
  CairnAgsIid iid;
  CairnAgsFeatureLevel FeatureLevel;
} AGSDX12DeviceCreationParams;

/* Ignored. */
typedef struct AGSDX12ExtensionParams {
  const CairnAgsChar* pAppName;
  const CairnAgsChar* pEngineName;
  unsigned int appVersion;
  unsigned int engineVersion;
  unsigned int uavSlot;
} AGSDX12ExtensionParams;

typedef struct AGSDX12ExtensionsSupported {
  unsigned int intrinsics16 : 1;
  unsigned int intrinsics17 : 1;
  unsigned int userMarkers : 1; /* 1 */
  unsigned int appRegistration : 1;
  unsigned int UAVBindSlot : 1;
  unsigned int intrinsics19 : 1;
  unsigned int baseVertex : 1;
  unsigned int baseInstance : 1;
  unsigned int getWaveSize : 1;
  unsigned int floatConversion : 1;
  unsigned int readLaneAt : 1;
  unsigned int rayHitToken : 1;
  unsigned int shaderClock : 1;
  unsigned int padding : 19;
} AGSDX12ExtensionsSupported;

typedef struct AGSDX12ReturnedParams {
  struct ID3D12Device* pDevice;
#ifdef __cplusplus
  typedef AGSDX12ExtensionsSupported ExtensionsSupported;
#endif
  AGSDX12ExtensionsSupported extensionsSupported;
} AGSDX12ReturnedParams;

static const unsigned int AGS_DX12_SHADER_INTRINSICS_SPACE_ID = 0x7FFF0ADE;

/* On Windows D3D12CreateDevice; under `cairn run` the device is the layer's, as the program's own call would give.
 * AGS_INVALID_ARGS: a required pointer is NULL. AGS_MISSING_D3D_DLL. AGS_DX_FAILURE: it failed. Elsewhere
 * AGS_EXTENSION_NOT_SUPPORTED. */
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX12_CreateDevice(
    AGSContext* context, const AGSDX12DeviceCreationParams* creationParams,
    const AGSDX12ExtensionParams* extensionParams, AGSDX12ReturnedParams* returnedParams);
/* Releases the device, and returns the result of Release in the count. */
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX12_DestroyDevice(AGSContext* context,
                                                                struct ID3D12Device* device,
                                                                unsigned int* deviceReferences);

/* PIX events of the list (BeginEvent, EndEvent, SetMarker) with this UTF-8 text: Cairn's reports, PIX and RenderDoc
 * show them. AGS_INVALID_ARGS: NULL. On Windows; elsewhere AGS_EXTENSION_NOT_SUPPORTED (cairn/pix.h has them there). */
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX12_PushMarker(
    AGSContext* context, struct ID3D12GraphicsCommandList* commandList, const char* data);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX12_PopMarker(
    AGSContext* context, struct ID3D12GraphicsCommandList* commandList);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX12_SetMarker(
    AGSContext* context, struct ID3D12GraphicsCommandList* commandList, const char* data);

/* ---- Direct3D 11 ----------------------------------------------------------------------------- */

typedef enum AGSCrossfireMode {
  AGS_CROSSFIRE_MODE_DRIVER_AFR = 0,
  AGS_CROSSFIRE_MODE_EXPLICIT_AFR,
  AGS_CROSSFIRE_MODE_DISABLE
} AGSCrossfireMode;

/* The arguments of D3D11CreateDevice; with pSwapChainDesc those of D3D11CreateDeviceAndSwapChain. */
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

/* Only numBreadcrumbMarkers is used: the number of 64-bit slots, up to 1,048,573. */
typedef struct AGSDX11ExtensionParams {
  const CairnAgsChar* pAppName;
  const CairnAgsChar* pEngineName;
  unsigned int appVersion;
  unsigned int engineVersion;
  unsigned int numBreadcrumbMarkers;
  unsigned int uavSlot;
  AGSCrossfireMode crossfireMode;
} AGSDX11ExtensionParams;

typedef struct AGSDX11ExtensionsSupported {
  unsigned int quadList : 1;
  unsigned int screenRectList : 1;
  unsigned int uavOverlap : 1;
  unsigned int depthBoundsTest : 1;
  unsigned int multiDrawIndirect : 1;
  unsigned int multiDrawIndirectCountIndirect : 1;
  unsigned int crossfireAPI : 1;
  unsigned int createShaderControls : 1;
  unsigned int intrinsics16 : 1;
  unsigned int multiView : 1;
  unsigned int intrinsics17 : 1;
  unsigned int appRegistration : 1;
  unsigned int
      breadcrumbMarkers : 1; /* 1 if numBreadcrumbMarkers was not 0 and a way to write them works */
  unsigned int MDIDeferredContexts : 1;
  unsigned int UAVOverlapDeferredContexts : 1;
  unsigned int depthBoundsDeferredContexts : 1;
  unsigned int intrinsics19 : 1;
  unsigned int getWaveSize : 1;
  unsigned int baseVertex : 1;
  unsigned int baseInstance : 1;
  unsigned int padding : 12;
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
  /* The slots, CAIRN_MARKER_UNWRITTEN where nothing has arrived; NULL without breadcrumbMarkers. Read it as
   * const volatile, until the device is destroyed. */
  void* breadcrumbBuffer;
} AGSDX11ReturnedParams;

/* Creates the device. With numBreadcrumbMarkers > 0 it also tests the ways of writing markers (docs/reference/ags.md),
 * which takes some tens of milliseconds. If none works, the device is created without breadcrumbMarkers, and
 * cairnGetLastErrorMessage returns the reason.
 * AGS_INVALID_ARGS: `context`, `creationParams` or `returnedParams` is NULL, or the context has a device.
 * AGS_MISSING_D3D_DLL: no d3d11.dll. AGS_DX_FAILURE: it makes no device. AGS_EXTENSION_NOT_SUPPORTED: not on
 * Windows. In each of these returnedParams is all zero, if it is not NULL. */
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_CreateDevice(
    AGSContext* context, const AGSDX11DeviceCreationParams* creationParams,
    const AGSDX11ExtensionParams* extensionParams, AGSDX11ReturnedParams* returnedParams);
/* Ends the markers, and releases device and immediate context, either of which may be NULL. The counts, if they are
 * not NULL, receive the results of Release. AGS_INVALID_ARGS: `context` is NULL. AGS_D3DDEVICE_NOT_CREATED: the context has
 * made no device, or another one. */
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_DestroyDevice(
    AGSContext* context, struct ID3D11Device* device, unsigned int* deviceReferences,
    struct ID3D11DeviceContext* immediateContext, unsigned int* immediateContextReferences);

/* ---- Breadcrumbs ----------------------------------------------------------------------------- */

typedef enum AGSBreadcrumbMarkerType {
  AGSTopOfPipe = 0,
  AGSBottomOfPipe = 1
} AGSBreadcrumbMarkerType;

typedef struct AGSBreadcrumbMarker {
#ifdef __cplusplus
  typedef AGSBreadcrumbMarkerType Type;
  CAIRN_AGS_FORMER(Type, TopOfPipe, AGSTopOfPipe)
  CAIRN_AGS_FORMER(Type, BottomOfPipe, AGSBottomOfPipe)
#endif
  unsigned long long markerData;
  AGSBreadcrumbMarkerType type;
  unsigned int index; /* below numBreadcrumbMarkers */
} AGSBreadcrumbMarker;

/* Records a write of markerData into slot `index`, at the top or the bottom of the pipe: into the immediate context of
 * the device that agsDriverExtensionsDX11_CreateDevice made, or else into the command buffer that was set, as
 * cairnWriteMarker does. AGS_INVALID_ARGS: NULL, no command buffer was set, or the index or type is
 * out of range. AGS_D3DDEVICE_NOT_CREATED: there is neither a device nor a CairnContext.
 * AGS_EXTENSION_NOT_SUPPORTED: the device has no breadcrumbMarkers, raw_marker_count is 0, or this command buffer
 * cannot carry the write. AGS_OUT_OF_MEMORY, AGS_FAILURE: cairnGetLastErrorMessage says more. */
AMD_AGS_API AGSReturnCode
agsDriverExtensionsDX11_WriteBreadcrumb(AGSContext* context, const AGSBreadcrumbMarker* marker);

/* ---- Functions of Direct3D 11 without effect ---------------------------------------------------- */

typedef enum AGSPrimitiveTopologyDX11 {
  AGS_PRIMITIVE_TOPOLOGY_QUADLIST = 7,
  AGS_PRIMITIVE_TOPOLOGY_SCREENRECTLIST = 9
} AGSPrimitiveTopologyDX11;

typedef enum AGSClipRectMode { AGSClipRectIncluded = 0, AGSClipRectExcluded = 1 } AGSClipRectMode;

typedef struct AGSClipRect {
#ifdef __cplusplus
  typedef AGSClipRectMode Mode;
  CAIRN_AGS_FORMER(Mode, ClipRectIncluded, AGSClipRectIncluded)
  CAIRN_AGS_FORMER(Mode, ClipRectExcluded, AGSClipRectExcluded)
#endif
  AGSClipRectMode mode;
  AGSRect rect;
} AGSClipRect;

typedef enum AGSAfrTransferType {
  AGS_AFR_TRANSFER_DEFAULT = 0,
  AGS_AFR_TRANSFER_DISABLE = 1,
  AGS_AFR_TRANSFER_1STEP_P2P = 2,
  AGS_AFR_TRANSFER_2STEP_NO_BROADCAST = 3,
  AGS_AFR_TRANSFER_2STEP_WITH_BROADCAST = 4
} AGSAfrTransferType;

typedef enum AGSAfrTransferEngine {
  AGS_AFR_TRANSFERENGINE_DEFAULT = 0,
  AGS_AFR_TRANSFERENGINE_3D_ENGINE = 1,
  AGS_AFR_TRANSFERENGINE_COPY_ENGINE = 2
} AGSAfrTransferEngine;

AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_IASetPrimitiveTopology(AGSContext* context,
                                                                         CairnAgsTopology topology);
AMD_AGS_API AGSReturnCode
agsDriverExtensionsDX11_BeginUAVOverlap(AGSContext* context, struct ID3D11DeviceContext* dxContext);
AMD_AGS_API AGSReturnCode
agsDriverExtensionsDX11_EndUAVOverlap(AGSContext* context, struct ID3D11DeviceContext* dxContext);
AMD_AGS_API AGSReturnCode
agsDriverExtensionsDX11_SetDepthBounds(AGSContext* context, struct ID3D11DeviceContext* dxContext,
                                       bool enabled, float minDepth, float maxDepth);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_MultiDrawInstancedIndirect(
    AGSContext* context, struct ID3D11DeviceContext* dxContext, unsigned int drawCount,
    struct ID3D11Buffer* pBufferForArgs, unsigned int alignedByteOffsetForArgs,
    unsigned int byteStrideForArgs);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_MultiDrawIndexedInstancedIndirect(
    AGSContext* context, struct ID3D11DeviceContext* dxContext, unsigned int drawCount,
    struct ID3D11Buffer* pBufferForArgs, unsigned int alignedByteOffsetForArgs,
    unsigned int byteStrideForArgs);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_MultiDrawInstancedIndirectCountIndirect(
    AGSContext* context, struct ID3D11DeviceContext* dxContext,
    struct ID3D11Buffer* pBufferForDrawCount, unsigned int alignedByteOffsetForDrawCount,
    struct ID3D11Buffer* pBufferForArgs, unsigned int alignedByteOffsetForArgs,
    unsigned int byteStrideForArgs);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_MultiDrawIndexedInstancedIndirectCountIndirect(
    AGSContext* context, struct ID3D11DeviceContext* dxContext,
    struct ID3D11Buffer* pBufferForDrawCount, unsigned int alignedByteOffsetForDrawCount,
    struct ID3D11Buffer* pBufferForArgs, unsigned int alignedByteOffsetForArgs,
    unsigned int byteStrideForArgs);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_SetMaxAsyncCompileThreadCount(
    AGSContext* context, unsigned int numberOfThreads);
AMD_AGS_API AGSReturnCode
agsDriverExtensionsDX11_NumPendingAsyncCompileJobs(AGSContext* context, unsigned int* numberOfJobs);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_SetDiskShaderCacheEnabled(AGSContext* context,
                                                                            int enable);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_SetViewBroadcastMasks(
    AGSContext* context, unsigned long long vpMask, unsigned long long rtSliceMask,
    int vpMaskPerRtSliceEnabled);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_GetMaxClipRects(AGSContext* context,
                                                                  unsigned int* maxRectCount);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_SetClipRects(AGSContext* context,
                                                               unsigned int clipRectCount,
                                                               const AGSClipRect* clipRects);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_CreateBuffer(
    AGSContext* context, const struct D3D11_BUFFER_DESC* desc,
    const struct D3D11_SUBRESOURCE_DATA* initialData, struct ID3D11Buffer** buffer,
    AGSAfrTransferType transferType, AGSAfrTransferEngine transferEngine);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_CreateTexture1D(
    AGSContext* context, const struct D3D11_TEXTURE1D_DESC* desc,
    const struct D3D11_SUBRESOURCE_DATA* initialData, struct ID3D11Texture1D** texture1D,
    AGSAfrTransferType transferType, AGSAfrTransferEngine transferEngine);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_CreateTexture2D(
    AGSContext* context, const struct D3D11_TEXTURE2D_DESC* desc,
    const struct D3D11_SUBRESOURCE_DATA* initialData, struct ID3D11Texture2D** texture2D,
    AGSAfrTransferType transferType, AGSAfrTransferEngine transferEngine);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_CreateTexture3D(
    AGSContext* context, const struct D3D11_TEXTURE3D_DESC* desc,
    const struct D3D11_SUBRESOURCE_DATA* initialData, struct ID3D11Texture3D** texture3D,
    AGSAfrTransferType transferType, AGSAfrTransferEngine transferEngine);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_NotifyResourceEndWrites(
    AGSContext* context, struct ID3D11Resource* resource, const struct tagRECT* transferRegions,
    const unsigned int* subresourceArray, unsigned int numSubresources);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_NotifyResourceBeginAllAccess(
    AGSContext* context, struct ID3D11Resource* resource);
AMD_AGS_API AGSReturnCode agsDriverExtensionsDX11_NotifyResourceEndAllAccess(
    AGSContext* context, struct ID3D11Resource* resource);

/* ---- Function pointers, for programs that load the library ---------------------------------------- */

typedef AGSDriverVersionResult (*AGS_CHECKDRIVERVERSION)(
    const char* radeonSoftwareVersionReported, unsigned int radeonSoftwareVersionRequired);
typedef int (*AGS_GETVERSIONNUMBER)(void);
typedef AGSReturnCode (*AGS_INITIALIZE)(int agsVersion, const AGSConfiguration* config,
                                        AGSContext** context, AGSGPUInfo* gpuInfo);
typedef AGSReturnCode (*AGS_DEINITIALIZE)(AGSContext* context);
typedef AGSReturnCode (*AGS_GETGPUINFO)(AGSContext* context, AGSGPUInfo* gpuInfo);
typedef AGSReturnCode (*AGS_SETDISPLAYMODE)(AGSContext* context, int deviceIndex, int displayIndex,
                                            const AGSDisplaySettings* settings);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX12_CREATEDEVICE)(
    AGSContext* context, const AGSDX12DeviceCreationParams* creationParams,
    const AGSDX12ExtensionParams* extensionParams, AGSDX12ReturnedParams* returnedParams);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX12_DESTROYDEVICE)(AGSContext* context,
                                                                struct ID3D12Device* device,
                                                                unsigned int* deviceReferences);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX12_PUSHMARKER)(
    AGSContext* context, struct ID3D12GraphicsCommandList* commandList, const char* data);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX12_POPMARKER)(
    AGSContext* context, struct ID3D12GraphicsCommandList* commandList);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX12_SETMARKER)(
    AGSContext* context, struct ID3D12GraphicsCommandList* commandList, const char* data);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_CREATEDEVICE)(
    AGSContext* context, const AGSDX11DeviceCreationParams* creationParams,
    const AGSDX11ExtensionParams* extensionParams, AGSDX11ReturnedParams* returnedParams);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_DESTROYDEVICE)(
    AGSContext* context, struct ID3D11Device* device, unsigned int* deviceReferences,
    struct ID3D11DeviceContext* immediateContext, unsigned int* immediateContextReferences);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_WRITEBREADCRUMB)(
    AGSContext* context, const AGSBreadcrumbMarker* marker);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_IASETPRIMITIVETOPOLOGY)(AGSContext* context,
                                                                         CairnAgsTopology topology);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_BEGINUAVOVERLAP)(
    AGSContext* context, struct ID3D11DeviceContext* dxContext);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_ENDUAVOVERLAP)(
    AGSContext* context, struct ID3D11DeviceContext* dxContext);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_SETDEPTHBOUNDS)(
    AGSContext* context, struct ID3D11DeviceContext* dxContext, bool enabled, float minDepth,
    float maxDepth);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_MULTIDRAWINSTANCEDINDIRECT)(
    AGSContext* context, struct ID3D11DeviceContext* dxContext, unsigned int drawCount,
    struct ID3D11Buffer* pBufferForArgs, unsigned int alignedByteOffsetForArgs,
    unsigned int byteStrideForArgs);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_MULTIDRAWINDEXEDINSTANCEDINDIRECT)(
    AGSContext* context, struct ID3D11DeviceContext* dxContext, unsigned int drawCount,
    struct ID3D11Buffer* pBufferForArgs, unsigned int alignedByteOffsetForArgs,
    unsigned int byteStrideForArgs);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_MULTIDRAWINSTANCEDINDIRECTCOUNTINDIRECT)(
    AGSContext* context, struct ID3D11DeviceContext* dxContext,
    struct ID3D11Buffer* pBufferForDrawCount, unsigned int alignedByteOffsetForDrawCount,
    struct ID3D11Buffer* pBufferForArgs, unsigned int alignedByteOffsetForArgs,
    unsigned int byteStrideForArgs);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_MULTIDRAWINDEXEDINSTANCEDINDIRECTCOUNTINDIRECT)(
    AGSContext* context, struct ID3D11DeviceContext* dxContext,
    struct ID3D11Buffer* pBufferForDrawCount, unsigned int alignedByteOffsetForDrawCount,
    struct ID3D11Buffer* pBufferForArgs, unsigned int alignedByteOffsetForArgs,
    unsigned int byteStrideForArgs);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_SETMAXASYNCCOMPILETHREADCOUNT)(
    AGSContext* context, unsigned int numberOfThreads);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_NUMPENDINGASYNCCOMPILEJOBS)(
    AGSContext* context, unsigned int* numberOfJobs);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_SETDISKSHADERCACHEENABLED)(AGSContext* context,
                                                                            int enable);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_SETVIEWBROADCASTMASKS)(
    AGSContext* context, unsigned long long vpMask, unsigned long long rtSliceMask,
    int vpMaskPerRtSliceEnabled);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_GETMAXCLIPRECTS)(AGSContext* context,
                                                                  unsigned int* maxRectCount);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_SETCLIPRECTS)(AGSContext* context,
                                                               unsigned int clipRectCount,
                                                               const AGSClipRect* clipRects);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_CREATEBUFFER)(
    AGSContext* context, const struct D3D11_BUFFER_DESC* desc,
    const struct D3D11_SUBRESOURCE_DATA* initialData, struct ID3D11Buffer** buffer,
    AGSAfrTransferType transferType, AGSAfrTransferEngine transferEngine);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_CREATETEXTURE1D)(
    AGSContext* context, const struct D3D11_TEXTURE1D_DESC* desc,
    const struct D3D11_SUBRESOURCE_DATA* initialData, struct ID3D11Texture1D** texture1D,
    AGSAfrTransferType transferType, AGSAfrTransferEngine transferEngine);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_CREATETEXTURE2D)(
    AGSContext* context, const struct D3D11_TEXTURE2D_DESC* desc,
    const struct D3D11_SUBRESOURCE_DATA* initialData, struct ID3D11Texture2D** texture2D,
    AGSAfrTransferType transferType, AGSAfrTransferEngine transferEngine);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_CREATETEXTURE3D)(
    AGSContext* context, const struct D3D11_TEXTURE3D_DESC* desc,
    const struct D3D11_SUBRESOURCE_DATA* initialData, struct ID3D11Texture3D** texture3D,
    AGSAfrTransferType transferType, AGSAfrTransferEngine transferEngine);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_NOTIFYRESOURCEENDWRITES)(
    AGSContext* context, struct ID3D11Resource* resource, const struct tagRECT* transferRegions,
    const unsigned int* subresourceArray, unsigned int numSubresources);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_NOTIFYRESOURCEBEGINALLACCESS)(
    AGSContext* context, struct ID3D11Resource* resource);
typedef AGSReturnCode (*AGS_DRIVEREXTENSIONSDX11_NOTIFYRESOURCEENDALLACCESS)(
    AGSContext* context, struct ID3D11Resource* resource);

/* ---- Cairn's additions ------------------------------------------------------------------------ */

/* The way in which the markers of a Direct3D 11 device are written: docs/reference/ags.md. */
typedef enum CairnAgsWay {
  CAIRN_AGS_NONE = 0,
  CAIRN_AGS_AMD_LIBRARY = 1, /* AMD's own library writes them */
  CAIRN_AGS_VULKAN_LAYER =
      2, /* Cairn's layer below DXVK writes them into the Vulkan command buffers */
  CAIRN_AGS_COMPLETION = 3 /* what the API can order: fences, or event queries */
} CairnAgsWay;

typedef struct CairnAgsBreadcrumbs {
  CairnAgsWay way;
  /* 1: the GPU has not reached a top marker whose value is missing. 0: a top marker waits for all earlier work like
   * a bottom marker; pass it to cairnInferFromMarkers as CAIRN_RAW_BOTTOM_MARKER. */
  unsigned int topOfPipe : 1;
  /* The self-test has seen a top marker arrive while a draw before it was running. */
  unsigned int topSeenEarly : 1;
  unsigned int reserved : 30;
} CairnAgsBreadcrumbs;

/* Describes the device that was created with the context. AGS_INVALID_ARGS: NULL. AGS_D3DDEVICE_NOT_CREATED. */
CAIRN_API AGSReturnCode cairnAgsDescribeBreadcrumbs(AGSContext* context,
                                                    CairnAgsBreadcrumbs* breadcrumbs);

/* Direct3D 12 and Vulkan. */

/* Sets the context whose raw markers are written; not owned, NULL detaches. Resets the command buffer.
 * AGS_INVALID_ARGS: `context` is NULL. */
CAIRN_API AGSReturnCode cairnAgsAttach(AGSContext* context, CairnContext* cairn_context);

/* Sets the ID3D12GraphicsCommandList* or VkCommandBuffer, open for recording, that receives the following
 * markers; NULL for none. AGS_INVALID_ARGS: `context` is NULL. */
CAIRN_API AGSReturnCode cairnAgsSetCommandBuffer(AGSContext* context, void* command_buffer);

/* Returns the slots, 64 bits each, readable at any time; unwritten ones hold 0xCD bytes. Owned by the
 * CairnContext. AGS_INVALID_ARGS: NULL. AGS_D3DDEVICE_NOT_CREATED: nothing is attached.
 * AGS_EXTENSION_NOT_SUPPORTED: raw_marker_count is 0. */
CAIRN_API AGSReturnCode cairnAgsGetBreadcrumbBuffer(AGSContext* context,
                                                    const volatile void** buffer);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_COMPAT_AMD_AGS_H_ */
