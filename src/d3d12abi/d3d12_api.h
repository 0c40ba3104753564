// SPDX-License-Identifier: Apache-2.0
//
// Direct3D 12 for everything in Cairn: include this, never <directx/d3d12.h>.
//
// On Windows this is the stock header, of DirectX-Headers as everywhere. Elsewhere Microsoft's DirectX-Headers have to be bent to the
// ABI of the implementation, and the whole trick stands here:
//   - The package's stubs define the calling-convention macros as nothing. libvkd3d's vtables follow
//     the Windows convention, so that the macros become ms_abi. CAIRN_D3D12_SYSV_ABI keeps the
//     platform's own convention, for implementations that are built that way (vkd3d-proton).
//   - Methods that return aggregates get the address of the result as an explicit argument after
//     `this`. The header declares them so if _WIN32 is defined, which it is around that header only.
// Both can meet in one program: everything that has linkage and depends on the convention lies in
// cairn::CAIRN_D3D12_NAMESPACE, an inline namespace, and its sources are compiled once for each. No
// template of the headers that calls methods may be used: QueryInterface takes its two arguments.
// WCHAR stays wchar_t, 32 bits on Linux: so it is for devices of libvkd3d-utils. A caller of
// vkd3d_create_device chooses the size, and passes sizeof(WCHAR). The stock header compiles as
// well; programs built with it crash at the first call.
#ifndef CAIRN_D3D12ABI_D3D12_API_H_
#define CAIRN_D3D12ABI_D3D12_API_H_

#if defined(CAIRN_D3D12_SYSV_ABI)
#define CAIRN_D3D12_NAMESPACE d3d12_sysv
#else
#define CAIRN_D3D12_NAMESPACE d3d12_ms
#endif

#if defined(_WIN32)

#define CAIRN_D3D12_CALL
#include <directx/d3d12.h>
#include <directx/d3d12video.h>
#include <dxguids/dxguids.h>  // __uuidof of what is included before, video among it

// A word of ours (os/file.h) that the system's headers take from everybody.
#undef ReplaceFile

#else

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#include <basetsd.h>

#undef STDMETHODCALLTYPE
#undef STDAPICALLTYPE
#undef WINAPI
#undef APIENTRY
#undef __stdcall
#if defined(CAIRN_D3D12_SYSV_ABI)
#define CAIRN_D3D12_CALL
#else
#define CAIRN_D3D12_CALL __attribute__((ms_abi))
#endif
#define STDMETHODCALLTYPE CAIRN_D3D12_CALL
#define STDAPICALLTYPE CAIRN_D3D12_CALL
#define WINAPI CAIRN_D3D12_CALL
#define APIENTRY CAIRN_D3D12_CALL
#define __stdcall CAIRN_D3D12_CALL

// Everything that d3d12.h includes comes first, so that _WIN32 reaches nothing else.
// clang-format off
#include <unknwn.h>
#include <oaidl.h>
#include <ocidl.h>
#include <directx/dxgicommon.h>
#include <directx/dxgiformat.h>
#include <directx/d3dcommon.h>
// clang-format on

#define _WIN32 1
#include <directx/d3d12.h>
#include <directx/d3d12video.h>
#undef _WIN32
#include <dxguids/dxguids.h>  // __uuidof of what is included before, video among it
#pragma GCC diagnostic pop

// Words that the stubs take from everybody else.
#undef IN
#undef OUT
#undef CONST

#endif  // _WIN32

#endif  // CAIRN_D3D12ABI_D3D12_API_H_
