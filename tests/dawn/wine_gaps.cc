// SPDX-License-Identifier: Apache-2.0
//
// Stands in for what Dawn wants and Wine lacks. A module of node that gpu.mjs loads before Dawn.
//
// Two methods of Wine's and DXVK's devices are replaced in the tables that these implementations have of them, which is
// below whoever wraps a device. Where the methods do what Dawn wants, they are called as they are.
#define COBJMACROS
#define CINTERFACE
#define INITGUID
#include <windows.h>
// Behind it.
#include <d3d11_3.h>
#include <d3d12.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// Looks for an export without GetProcAddress, which cairn-d3d.dll answers itself.
template <typename Function>
Function FindExport(HMODULE module, const char* name) {
  const auto* const base = reinterpret_cast<const BYTE*>(module);
  const auto* const dos = reinterpret_cast<const IMAGE_DOS_HEADER*>(base);
  const auto* const headers = reinterpret_cast<const IMAGE_NT_HEADERS*>(base + dos->e_lfanew);
  const auto& table = headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT];
  const auto* const exports =
      reinterpret_cast<const IMAGE_EXPORT_DIRECTORY*>(base + table.VirtualAddress);
  const auto* const names = reinterpret_cast<const DWORD*>(base + exports->AddressOfNames);
  const auto* const ordinals = reinterpret_cast<const WORD*>(base + exports->AddressOfNameOrdinals);
  const auto* const functions = reinterpret_cast<const DWORD*>(base + exports->AddressOfFunctions);
  for (DWORD i = 0; i < exports->NumberOfNames; ++i) {
    if (std::strcmp(reinterpret_cast<const char*>(base + names[i]), name) != 0) continue;
    return reinterpret_cast<Function>(reinterpret_cast<uintptr_t>(base) + functions[ordinals[i]]);
  }
  return nullptr;
}

template <typename Method>
void Replace(Method* slot, Method method, Method* replaced) {
  DWORD protection = 0;
  if (VirtualProtect(slot, sizeof(*slot), PAGE_READWRITE, &protection) == 0) {
    std::fprintf(stderr, "wine_gaps: VirtualProtect: error %lu\n", GetLastError());
    return;
  }
  *replaced = *slot;
  *slot = method;
  VirtualProtect(slot, sizeof(*slot), protection, &protection);
}

// Dawn wants a handle of its queue's fence, to hand to other processes, and makes no device without. Nobody here uses it;
// Wine 10 has none.
decltype(ID3D12DeviceVtbl::CreateSharedHandle) real_shared_handle;
HRESULT STDMETHODCALLTYPE SharedHandle(ID3D12Device* device, ID3D12DeviceChild* object,
                                       const SECURITY_ATTRIBUTES* attributes, DWORD access,
                                       const WCHAR* name, HANDLE* handle) {
  const HRESULT result = real_shared_handle(device, object, attributes, access, name, handle);
  if (result != E_NOTIMPL) return result;
  *handle = CreateEventW(nullptr, FALSE, FALSE, nullptr);
  return S_OK;
}

// DXVK 2.6 knows no newer interface than ID3D11Device1 there.
decltype(ID3D11Device1Vtbl::CreateDeviceContextState) real_context_state;
HRESULT STDMETHODCALLTYPE ContextState(ID3D11Device1* device, UINT flags,
                                       const D3D_FEATURE_LEVEL* levels, UINT level_count,
                                       UINT sdk_version, REFIID emulated, D3D_FEATURE_LEVEL* chosen,
                                       ID3DDeviceContextState** state) {
  const HRESULT result =
      real_context_state(device, flags, levels, level_count, sdk_version, emulated, chosen, state);
  if (result != E_INVALIDARG) return result;
  return real_context_state(device, flags, levels, level_count, sdk_version, IID_ID3D11Device1,
                            chosen, state);
}

void FillGapOfDirect3D12() {
  const HMODULE library = LoadLibraryW(L"C:\\windows\\system32\\d3d12.dll");
  if (library == nullptr) return;
  const auto create = FindExport<PFN_D3D12_CREATE_DEVICE>(library, "D3D12CreateDevice");
  ID3D12Device* device = nullptr;
  if (create == nullptr || FAILED(create(nullptr, D3D_FEATURE_LEVEL_11_0, IID_ID3D12Device,
                                         reinterpret_cast<void**>(&device)))) {
    return;  // nor will Dawn find one
  }
  Replace(&device->lpVtbl->CreateSharedHandle, SharedHandle, &real_shared_handle);
  ID3D12Device_Release(device);
}

void FillGapOfDirect3D11() {
  const HMODULE library = LoadLibraryW(L"C:\\windows\\system32\\d3d11.dll");
  if (library == nullptr) return;
  const auto create = FindExport<PFN_D3D11_CREATE_DEVICE>(library, "D3D11CreateDevice");
  ID3D11Device* device = nullptr;
  if (create == nullptr || FAILED(create(nullptr, D3D_DRIVER_TYPE_HARDWARE, nullptr, 0, nullptr, 0,
                                         D3D11_SDK_VERSION, &device, nullptr, nullptr))) {
    return;
  }
  ID3D11Device1* newer = nullptr;
  if (SUCCEEDED(ID3D11Device_QueryInterface(device, IID_ID3D11Device1,
                                            reinterpret_cast<void**>(&newer)))) {
    Replace(&newer->lpVtbl->CreateDeviceContextState, ContextState, &real_context_state);
    ID3D11Device1_Release(newer);
  }
  ID3D11Device_Release(device);
}

}  // namespace

extern "C" {

// Node calls it once.
__declspec(dllexport) void* napi_register_module_v1(void* /*env*/, void* exports) {
  HMODULE pinned;  // node unloads modules
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                     reinterpret_cast<LPCWSTR>(&napi_register_module_v1), &pinned);
  const char* const backend = std::getenv("CAIRN_DAWN_BACKEND");
  if (backend != nullptr && std::strcmp(backend, "d3d11") == 0) {
    FillGapOfDirect3D11();
  } else {
    FillGapOfDirect3D12();
  }
  return exports;
}

}  // extern "C"
