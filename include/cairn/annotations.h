/* SPDX-License-Identifier: Apache-2.0
 *
 * Annotations: PIX events, markers and object names that reach the driver and the crash dump, after
 * the Direct3D 12 specification "user-defined annotations" (v0.06). Usable from C11 and C++11.
 *
 * Three parts, for three readers:
 *   1. Applications without ID3D12InfoQueue: cairnSetMessageCallback receives the debug messages.
 *   2. Drivers and vendors' tools: the driver interface (DDI) exactly as the specification declares
 *      it, and how a shared library named in CAIRN_DRIVER becomes such a driver.
 *   3. Applications: the Direct3D 12 declarations of the specification that older headers lack. They
 *      are here if d3d12.h was included before; include this header again after d3d12.h if need be.
 *
 * Declarations of the installed d3d12.h or d3d12umddi.h are not repeated.
 *
 * This header follows the headers that shipped with the feature, with which applications are compiled, where
 * the text of the specification differs:
 *   - D3D12_USER_DEFINED_ANNOTATION_MODE_RUNTIME_ONLY is 0 and DRIVER_RETAIL is 1 (the text: 1 and 2);
 *   - SetUserDefinedAnnotationMode returns HRESULT (the text: void). An invalid mode is E_INVALIDARG.
 * Requirements and lifetimes: docs/reference/annotations.md.
 */
#ifndef CAIRN_ANNOTATIONS_H_
#define CAIRN_ANNOTATIONS_H_

#include <stddef.h>
#include <stdint.h>

#include "cairn/breadcrumbs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1. Messages ----------------------------------------------------------------------------- */

/* D3D12_MESSAGE_ID_SET_USER_DEFINED_ANNOTATION_MODE_INVALID_ARGUMENT, under a name of its own, for
 * programs that include no Direct3D header. */
#define CAIRN_MESSAGE_SET_USER_DEFINED_ANNOTATION_MODE_INVALID_ARGUMENT 1465u

/* `id` is a D3D12_MESSAGE_ID. `device` is the application's ID3D12Device. `text` is UTF-8,
 * zero-terminated, valid during the call. */
typedef void (*CairnMessageCallback)(uint32_t id, void* device, const char* text, void* user_data);

/* Sets the receiver of the Direct3D 12 layer's debug messages, for all devices of the process; NULL
 * for none. Messages also go to the device's ID3D12InfoQueue where it has one; a message that finds
 * neither goes to stderr. The callback runs on the thread whose call is at fault, one call at a time,
 * and may call anything except cairnSetMessageCallback. The previous callback no longer runs once this
 * returns. Without the layer there are no messages, and this does nothing else.
 * `user_data` is handed to the callback as it is, and stays the caller's: keep it until another
 * callback is set. Threads: any. Errors: none (CAIRN_OK). Cost: a lock here and for each message,
 * which only a wrong argument causes: no benchmark has it. */
CAIRN_API CairnResult cairnSetMessageCallback(CairnMessageCallback callback, void* user_data);

/* ---- 2. Drivers ------------------------------------------------------------------------------ */

/* The calling convention of the driver interface: the platform's C convention. */
#if defined(_WIN32)
#define CAIRN_DDI_CALL __stdcall
#else
#define CAIRN_DDI_CALL
#endif

/* The types are those of the DDI without its header: UINT, UINT64, VOID and LPCWSTR. A name is exactly
 * what the application passed; its characters have CairnDriverHost::wchar_bytes bytes each. */

#if !defined(D3D12DDI_MAJOR_VERSION) /* d3d12umddi.h of the Windows Driver Kit was not included */

/* Kinds of objects; the same numbers as D3D12_DRED_ALLOCATION_TYPE. */
typedef enum D3D12DDI_HANDLETYPE {
  D3D12DDI_HT_COMMAND_QUEUE = 19,
  D3D12DDI_HT_COMMAND_ALLOCATOR = 20,
  D3D12DDI_HT_PIPELINE_STATE = 21,
  D3D12DDI_HT_COMMAND_LIST = 22,
  D3D12DDI_HT_FENCE = 23,
  D3D12DDI_HT_DESCRIPTOR_HEAP = 24,
  D3D12DDI_HT_HEAP = 25,
  D3D12DDI_HT_QUERY_HEAP = 27,
  D3D12DDI_HT_COMMAND_SIGNATURE = 28,
  D3D12DDI_HT_0010_PIPELINE_LIBRARY = 29,
  D3D12DDI_HT_0020_VIDEO_DECODER = 30,
  D3D12DDI_HT_0020_VIDEO_PROCESSOR = 32,
  D3D12DDI_HT_0012_RESOURCE = 34,
  D3D12DDI_HT_PASS = 35,
  D3D12DDI_HT_0030_CRYPTOSESSION = 36,
  D3D12DDI_HT_0030_CRYPTOSESSIONPOLICY = 37,
  D3D12DDI_HT_0030_PROTECTEDRESOURCESESSION = 38,
  D3D12DDI_HT_0032_VIDEO_DECODER_HEAP = 39,
  D3D12DDI_HT_COMMAND_POOL = 40,
  D3D12DDI_HT_COMMAND_RECORDER = 41,
  D3D12DDI_HT_STATE_OBJECT = 42,
  D3D12DDI_HT_METACOMMAND = 43,
  D3D12DDI_HT_SCHEDULINGGROUP = 44,
  D3D12DDI_HT_VIDEO_MOTION_ESTIMATOR = 45,
  D3D12DDI_HT_VIDEO_MOTION_VECTOR_HEAP = 46,
  D3D12DDI_HT_VIDEO_EXTENSION_COMMAND = 47,
  D3D12DDI_HT_VIDEO_ENCODER = 48,
  D3D12DDI_HT_VIDEO_ENCODER_HEAP = 49
} D3D12DDI_HANDLETYPE;

/* Handles. pDrvPrivate (and Handle) point to a CairnDriverObject. */
typedef struct D3D12DDI_HCOMMANDQUEUE {
  void* pDrvPrivate;
} D3D12DDI_HCOMMANDQUEUE;
typedef struct D3D12DDI_HCOMMANDLIST {
  void* pDrvPrivate;
} D3D12DDI_HCOMMANDLIST;
typedef struct D3D12DDI_HANDLE_AND_TYPE {
  void* Handle;
  D3D12DDI_HANDLETYPE Type;
} D3D12DDI_HANDLE_AND_TYPE;

/* The feature and the revision of the DDI that it came with. The specification names them and leaves
 * their values to the header of the driver kit; these hold between Cairn and its drivers alone. */
#define D3D12DDI_BUILD_VERSION_0121 121u
#define D3D12DDI_SUPPORTED_0121 ((uint64_t)D3D12DDI_BUILD_VERSION_0121 << 16)
#define D3D12DDI_FEATURE_0121_USER_DEFINED_ANNOTATIONS 121u

#endif /* D3D12DDI_MAJOR_VERSION */

#if !defined(D3D12DDI_FEATURE_VERSION_USER_DEFINED_ANNOTATIONS_0121_0)

#define D3D12DDI_FEATURE_VERSION_USER_DEFINED_ANNOTATIONS_0121_0 1u
#define D3D12DDI_FEATURE_VERSION_USER_DEFINED_ANNOTATIONS_LATEST \
  D3D12DDI_FEATURE_VERSION_USER_DEFINED_ANNOTATIONS_0121_0

/* The specification declares the types with _ON_DRIVER and uses them without: both names, one type. */
typedef void(CAIRN_DDI_CALL* PFND3D12DDI_COMMAND_QUEUE_BEGIN_EVENT_ON_DRIVER)(
    D3D12DDI_HCOMMANDQUEUE, uint32_t Metadata, const void* pData, uint32_t Size, uint64_t EventID);
typedef void(CAIRN_DDI_CALL* PFND3D12DDI_COMMAND_QUEUE_END_EVENT_ON_DRIVER)(D3D12DDI_HCOMMANDQUEUE,
                                                                            uint64_t EventID);
typedef void(CAIRN_DDI_CALL* PFND3D12DDI_COMMAND_QUEUE_SET_MARKER_ON_DRIVER)(
    D3D12DDI_HCOMMANDQUEUE, uint32_t Metadata, const void* pData, uint32_t Size, uint64_t EventID);
typedef void(CAIRN_DDI_CALL* PFND3D12DDI_COMMAND_LIST_BEGIN_EVENT_ON_DRIVER)(
    D3D12DDI_HCOMMANDLIST, uint32_t Metadata, const void* pData, uint32_t Size, uint64_t EventID);
typedef void(CAIRN_DDI_CALL* PFND3D12DDI_COMMAND_LIST_END_EVENT_ON_DRIVER)(D3D12DDI_HCOMMANDLIST,
                                                                           uint64_t EventID);
typedef void(CAIRN_DDI_CALL* PFND3D12DDI_COMMAND_LIST_SET_MARKER_ON_DRIVER)(
    D3D12DDI_HCOMMANDLIST, uint32_t Metadata, const void* pData, uint32_t Size, uint64_t EventID);
typedef PFND3D12DDI_COMMAND_QUEUE_BEGIN_EVENT_ON_DRIVER PFND3D12DDI_COMMAND_QUEUE_BEGIN_EVENT;
typedef PFND3D12DDI_COMMAND_QUEUE_END_EVENT_ON_DRIVER PFND3D12DDI_COMMAND_QUEUE_END_EVENT;
typedef PFND3D12DDI_COMMAND_QUEUE_SET_MARKER_ON_DRIVER PFND3D12DDI_COMMAND_QUEUE_SET_MARKER;
typedef PFND3D12DDI_COMMAND_LIST_BEGIN_EVENT_ON_DRIVER PFND3D12DDI_COMMAND_LIST_BEGIN_EVENT;
typedef PFND3D12DDI_COMMAND_LIST_END_EVENT_ON_DRIVER PFND3D12DDI_COMMAND_LIST_END_EVENT;
typedef PFND3D12DDI_COMMAND_LIST_SET_MARKER_ON_DRIVER PFND3D12DDI_COMMAND_LIST_SET_MARKER;

/* Name is NULL if the application removed the name. */
typedef void(CAIRN_DDI_CALL* PFND3D12DDI_SET_NAME)(D3D12DDI_HANDLE_AND_TYPE, const wchar_t* Name);

/* pData and Name are valid during the call only: copy them to keep them. Size is in
 * bytes, 0 to 2^32 - 1; pData may be NULL for any Size. Metadata is any value; docs/reference/pix.md says
 * which have a meaning. EventID is unique in the process; an EndEvent has that of its BeginEvent, or 0
 * if there was none or it lies more than 65,536 events deep. */
typedef struct D3D12DDI_USER_DEFINED_ANNOTATION_FUNCS_0121 {
  PFND3D12DDI_COMMAND_QUEUE_BEGIN_EVENT pfnCmdQueueBeginEvent;
  PFND3D12DDI_COMMAND_QUEUE_END_EVENT pfnCmdQueueEndEvent;
  PFND3D12DDI_COMMAND_QUEUE_SET_MARKER pfnCmdQueueSetMarker;
  PFND3D12DDI_COMMAND_LIST_BEGIN_EVENT pfnCmdListBeginEvent;
  PFND3D12DDI_COMMAND_LIST_END_EVENT pfnCmdListEndEvent;
  PFND3D12DDI_COMMAND_LIST_SET_MARKER pfnCmdListSetMarker;
  PFND3D12DDI_SET_NAME pfnSetName;
} D3D12DDI_USER_DEFINED_ANNOTATION_FUNCS_0121;

#endif /* D3D12DDI_FEATURE_VERSION_USER_DEFINED_ANNOTATIONS_0121_0 */

/* The structure that every handle points to. Lives as long as the object; read only. */
typedef struct CairnDriverObject {
  uint32_t struct_size; /* in bytes, as Cairn was built: fields beyond it do not exist */
  uint32_t handle_type; /* D3D12DDI_HANDLETYPE */
  void* driver;         /* CairnDriver::driver of the device that the object belongs to */
  void* native;         /* the implementation's own object: ID3D12CommandQueue*, ... Borrowed. */
} CairnDriverObject;

/* Cairn's services for a driver of one device. Valid from cairnOpenDriver until `close` returns. The
 * functions may be called from any thread. */
typedef struct CairnDriverHost {
  uint32_t struct_size;          /* in bytes, as Cairn was built */
  uint32_t interface_version;    /* CAIRN_DRIVER_INTERFACE_VERSION */
  void* host;                    /* first argument of the functions below */
  void* device;                  /* the implementation's ID3D12Device*; borrowed */
  uint32_t wchar_bytes;          /* size of a character of names: 2 or 4 */
  uint32_t crash_event_id_count; /* number of elements at crash_event_ids */

  /* EventIDs that the driver knows to be involved in a crash, for the dump; 0 is "none".
   * A driver may hand this memory to its GPU or to another process: it is read when the process is
   * dead. NULL if the device has no shared memory. */
  volatile uint64_t* crash_event_ids;

  /* Writes one EventID to the first free element of crash_event_ids; does nothing if all are used. Takes no
   * lock and allocates nothing: safe in a signal handler. */
  void (*report_crash_event)(void* host, uint64_t event_id);

  /* Facts about the device for the dump, as far as Cairn knows them when the driver is opened: vendor
   * and device of the adapter (PCI numbers, 0 if unknown) and its name (UTF-8, "" if unknown; borrowed,
   * valid as long as this struct). */
  uint32_t vendor_id;
  uint32_t device_id;
  const char* device_name;

  /* One line of UTF-8 to stderr, with the driver's name before it; cut at 512 bytes. Allocates nothing:
   * safe in a signal handler. */
  void (*log)(void* host, const char* text);

  /* The revision of the DDI and the newest version of the feature that Cairn offers. The driver
   * answers in CairnDriver. */
  uint64_t ddi_supported;   /* D3D12DDI_SUPPORTED_0121 */
  uint32_t feature;         /* D3D12DDI_FEATURE_0121_USER_DEFINED_ANNOTATIONS */
  uint32_t feature_version; /* D3D12DDI_FEATURE_VERSION_USER_DEFINED_ANNOTATIONS_LATEST */
} CairnDriverHost;

/* The driver's answer. Cairn zeroes it before the call, except for struct_size, which is the size that
 * Cairn knows. */
typedef struct CairnDriver {
  uint32_t struct_size;
  uint32_t supports_0121; /* 0: the device has no user-defined annotations; nothing is called */
  void* driver;           /* the driver's own, found again in CairnDriverObject */
  const char* name;       /* for the dump, copied; NULL: the library's path */
  /* All seven must be set if supports_0121 is not 0. Queue functions may be called from any thread, one
   * call at a time for one queue; list functions by the thread that records; pfnSetName from any
   * thread. */
  D3D12DDI_USER_DEFINED_ANNOTATION_FUNCS_0121 functions;
  void (*close)(void* driver); /* the device is destroyed; may be NULL */
  /* The version of the feature whose table this is, from 1 to CairnDriverHost::feature_version; 0, as of
   * drivers that do not know this member, counts as 1. A driver with another version is refused: the
   * device gets the default driver, and a line on stderr gives both versions. */
  uint32_t feature_version;
  /* The least revision of the DDI that it can do with; 0: D3D12DDI_SUPPORTED_0121. More than
   * CairnDriverHost::ddi_supported is refused in the same way. */
  uint64_t ddi_required;
} CairnDriver;

#define CAIRN_DRIVER_INTERFACE_VERSION 1u

#if defined(_WIN32)
#define CAIRN_DRIVER_EXPORT __declspec(dllexport)
#else
#define CAIRN_DRIVER_EXPORT __attribute__((visibility("default")))
#endif

/* The one function that a driver library exports, under the name "cairnOpenDriver" with C linkage. It
 * is called once for each device, on the thread that creates it; devices may be created on several
 * threads at once. CAIRN_OK, or an error: the device then gets the default driver instead, and a
 * line on stderr says so. Libraries are never unloaded. Nothing may be thrown out of any function of a
 * driver. Cost: each function of the table is one call for each call of the application, in
 * DRIVER_RETAIL only (annotations_bench). An example: samples/driver.c. */
typedef CairnResult (*CairnOpenDriverFunction)(const CairnDriverHost* host, CairnDriver* driver);
#define CAIRN_OPEN_DRIVER_NAME "cairnOpenDriver"

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_ANNOTATIONS_H_ */

/* ---- 3. Direct3D 12 -------------------------------------------------------------------------- */

#if defined(__d3d12_h__) && !defined(CAIRN_ANNOTATIONS_D3D12_)
#define CAIRN_ANNOTATIONS_D3D12_

#if defined(__GNUC__)
#pragma GCC diagnostic push
#if defined(__cplusplus)
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
#endif
#endif

/* For __uuidof where the compiler has none: with dxguids.h of DirectX-Headers, with its stubs of Windows'
 * headers, and with MinGW. */
#if defined(WINADAPTER_IID)
#define CAIRN_UUID(...) WINADAPTER_IID(__VA_ARGS__)
#elif defined(__CRT_UUID_DECL)
#define CAIRN_UUID(...) __CRT_UUID_DECL(__VA_ARGS__)
#else
#define CAIRN_UUID(...)
#endif

#if defined(__GNUC__)
#define CAIRN_IID_UNUSED __attribute__((unused))
#else
#define CAIRN_IID_UNUSED
#endif

#if !defined(__ID3D12DeviceTools_INTERFACE_DEFINED__)
#define __ID3D12DeviceTools_INTERFACE_DEFINED__
static const GUID IID_ID3D12DeviceTools CAIRN_IID_UNUSED = {
    0x2ea68e9c, 0x19c3, 0x4e47, {0xa1, 0x09, 0x6c, 0xda, 0xdf, 0xf0, 0xac, 0xa9}};
#if defined(__cplusplus) && !defined(CINTERFACE)
MIDL_INTERFACE("2ea68e9c-19c3-4e47-a109-6cdadff0aca9")
ID3D12DeviceTools : public IUnknown {
 public:
  virtual void STDMETHODCALLTYPE SetNextAllocationAddress(
      D3D12_GPU_VIRTUAL_ADDRESS nextAllocationVirtualAddress) = 0;
};
CAIRN_UUID(ID3D12DeviceTools, 0x2ea68e9c, 0x19c3, 0x4e47, 0xa1, 0x09, 0x6c, 0xda, 0xdf, 0xf0, 0xac,
           0xa9)
#else
typedef struct ID3D12DeviceTools ID3D12DeviceTools;
typedef struct ID3D12DeviceToolsVtbl {
  HRESULT(STDMETHODCALLTYPE* QueryInterface)
  (ID3D12DeviceTools* This, REFIID riid, void** ppvObject);
  ULONG(STDMETHODCALLTYPE* AddRef)(ID3D12DeviceTools* This);
  ULONG(STDMETHODCALLTYPE* Release)(ID3D12DeviceTools* This);
  void(STDMETHODCALLTYPE* SetNextAllocationAddress)(
      ID3D12DeviceTools* This, D3D12_GPU_VIRTUAL_ADDRESS nextAllocationVirtualAddress);
} ID3D12DeviceToolsVtbl;
struct ID3D12DeviceTools {
  const ID3D12DeviceToolsVtbl* lpVtbl;
};
#endif
#endif /* __ID3D12DeviceTools_INTERFACE_DEFINED__ */

#if !defined(__ID3D12DeviceTools1_INTERFACE_DEFINED__)
#define __ID3D12DeviceTools1_INTERFACE_DEFINED__
typedef enum D3D12_APPLICATION_SPECIFIC_DRIVER_BLOB_STATUS {
  D3D12_APPLICATION_SPECIFIC_DRIVER_BLOB_UNKNOWN = 1,
  D3D12_APPLICATION_SPECIFIC_DRIVER_BLOB_USED = 2,
  D3D12_APPLICATION_SPECIFIC_DRIVER_BLOB_IGNORED = 3,
  D3D12_APPLICATION_SPECIFIC_DRIVER_BLOB_NOT_SPECIFIED = 4
} D3D12_APPLICATION_SPECIFIC_DRIVER_BLOB_STATUS;
static const GUID IID_ID3D12DeviceTools1 CAIRN_IID_UNUSED = {
    0xe30e9fc7, 0xe641, 0x4d6e, {0x8a, 0x81, 0x9d, 0xd9, 0x20, 0x6e, 0xc4, 0x7a}};
#if defined(__cplusplus) && !defined(CINTERFACE)
MIDL_INTERFACE("e30e9fc7-e641-4d6e-8a81-9dd9206ec47a")
ID3D12DeviceTools1 : public ID3D12DeviceTools {
 public:
  virtual HRESULT STDMETHODCALLTYPE GetApplicationSpecificDriverState(ID3DBlob * *ppBlob) = 0;
  virtual D3D12_APPLICATION_SPECIFIC_DRIVER_BLOB_STATUS STDMETHODCALLTYPE
  GetApplicationSpecificDriverBlobStatus() = 0;
};
CAIRN_UUID(ID3D12DeviceTools1, 0xe30e9fc7, 0xe641, 0x4d6e, 0x8a, 0x81, 0x9d, 0xd9, 0x20, 0x6e, 0xc4,
           0x7a)
#else
typedef struct ID3D12DeviceTools1 ID3D12DeviceTools1;
typedef struct ID3D12DeviceTools1Vtbl {
  HRESULT(STDMETHODCALLTYPE* QueryInterface)
  (ID3D12DeviceTools1* This, REFIID riid, void** ppvObject);
  ULONG(STDMETHODCALLTYPE* AddRef)(ID3D12DeviceTools1* This);
  ULONG(STDMETHODCALLTYPE* Release)(ID3D12DeviceTools1* This);
  void(STDMETHODCALLTYPE* SetNextAllocationAddress)(
      ID3D12DeviceTools1* This, D3D12_GPU_VIRTUAL_ADDRESS nextAllocationVirtualAddress);
  HRESULT(STDMETHODCALLTYPE* GetApplicationSpecificDriverState)
  (ID3D12DeviceTools1* This, ID3DBlob** ppBlob);
  D3D12_APPLICATION_SPECIFIC_DRIVER_BLOB_STATUS(
      STDMETHODCALLTYPE* GetApplicationSpecificDriverBlobStatus)
  (ID3D12DeviceTools1* This);
} ID3D12DeviceTools1Vtbl;
struct ID3D12DeviceTools1 {
  const ID3D12DeviceTools1Vtbl* lpVtbl;
};
#endif
#endif /* __ID3D12DeviceTools1_INTERFACE_DEFINED__ */

#if !defined(__ID3D12DeviceTools2_INTERFACE_DEFINED__)
#define __ID3D12DeviceTools2_INTERFACE_DEFINED__
typedef enum D3D12_USER_DEFINED_ANNOTATION_MODE {
  D3D12_USER_DEFINED_ANNOTATION_MODE_RUNTIME_ONLY = 0,
  D3D12_USER_DEFINED_ANNOTATION_MODE_DRIVER_RETAIL = 1
} D3D12_USER_DEFINED_ANNOTATION_MODE;
/* Enumerators of enums that are closed here. */
#define D3D12_FEATURE_USER_DEFINED_ANNOTATION ((D3D12_FEATURE)73)
#define D3D12_MESSAGE_ID_SET_USER_DEFINED_ANNOTATION_MODE_INVALID_ARGUMENT \
  ((D3D12_MESSAGE_ID)CAIRN_MESSAGE_SET_USER_DEFINED_ANNOTATION_MODE_INVALID_ARGUMENT)
typedef struct D3D12_FEATURE_DATA_USER_DEFINED_ANNOTATION {
  BOOL Supported;
} D3D12_FEATURE_DATA_USER_DEFINED_ANNOTATION;
static const GUID IID_ID3D12DeviceTools2 CAIRN_IID_UNUSED = {
    0x0edb4324, 0x20a7, 0x45ed, {0x80, 0x16, 0xc3, 0x17, 0xa0, 0x73, 0xbe, 0x33}};
#if defined(__cplusplus) && !defined(CINTERFACE)
MIDL_INTERFACE("0edb4324-20a7-45ed-8016-c317a073be33")
ID3D12DeviceTools2 : public ID3D12DeviceTools1 {
 public:
  virtual HRESULT STDMETHODCALLTYPE SetUserDefinedAnnotationMode(
      D3D12_USER_DEFINED_ANNOTATION_MODE Mode) = 0;
  virtual D3D12_USER_DEFINED_ANNOTATION_MODE STDMETHODCALLTYPE GetUserDefinedAnnotationMode() = 0;
};
CAIRN_UUID(ID3D12DeviceTools2, 0x0edb4324, 0x20a7, 0x45ed, 0x80, 0x16, 0xc3, 0x17, 0xa0, 0x73, 0xbe,
           0x33)
#else
typedef struct ID3D12DeviceTools2 ID3D12DeviceTools2;
typedef struct ID3D12DeviceTools2Vtbl {
  HRESULT(STDMETHODCALLTYPE* QueryInterface)
  (ID3D12DeviceTools2* This, REFIID riid, void** ppvObject);
  ULONG(STDMETHODCALLTYPE* AddRef)(ID3D12DeviceTools2* This);
  ULONG(STDMETHODCALLTYPE* Release)(ID3D12DeviceTools2* This);
  void(STDMETHODCALLTYPE* SetNextAllocationAddress)(
      ID3D12DeviceTools2* This, D3D12_GPU_VIRTUAL_ADDRESS nextAllocationVirtualAddress);
  HRESULT(STDMETHODCALLTYPE* GetApplicationSpecificDriverState)
  (ID3D12DeviceTools2* This, ID3DBlob** ppBlob);
  D3D12_APPLICATION_SPECIFIC_DRIVER_BLOB_STATUS(
      STDMETHODCALLTYPE* GetApplicationSpecificDriverBlobStatus)
  (ID3D12DeviceTools2* This);
  HRESULT(STDMETHODCALLTYPE* SetUserDefinedAnnotationMode)
  (ID3D12DeviceTools2* This, D3D12_USER_DEFINED_ANNOTATION_MODE Mode);
  D3D12_USER_DEFINED_ANNOTATION_MODE(STDMETHODCALLTYPE* GetUserDefinedAnnotationMode)
  (ID3D12DeviceTools2* This);
} ID3D12DeviceTools2Vtbl;
struct ID3D12DeviceTools2 {
  const ID3D12DeviceTools2Vtbl* lpVtbl;
};
#endif
#endif /* __ID3D12DeviceTools2_INTERFACE_DEFINED__ */

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif /* CAIRN_ANNOTATIONS_D3D12_ */
