// SPDX-License-Identifier: Apache-2.0
//
// Direct3D 12 and DXGI for a program that loads them when it first calls them, and imports neither.
#include <dxgi1_4.h>
#include <windows.h>

#include "d3d12abi/d3d12_api.h"

namespace {

template <typename Function>
Function* Find(const wchar_t* library, const char* name, Function*) {
  return reinterpret_cast<Function*>(
      reinterpret_cast<void*>(GetProcAddress(LoadLibraryW(library), name)));
}

}  // namespace

HRESULT WINAPI D3D12CreateDevice(IUnknown* adapter, D3D_FEATURE_LEVEL level, REFIID iid,
                                 void** device) {
  return Find(L"d3d12.dll", "D3D12CreateDevice", &D3D12CreateDevice)(adapter, level, iid, device);
}

HRESULT WINAPI D3D12SerializeRootSignature(const D3D12_ROOT_SIGNATURE_DESC* desc,
                                           D3D_ROOT_SIGNATURE_VERSION version, ID3DBlob** blob,
                                           ID3DBlob** error) {
  return Find(L"d3d12.dll", "D3D12SerializeRootSignature", &D3D12SerializeRootSignature)(
      desc, version, blob, error);
}

HRESULT WINAPI CreateDXGIFactory1(REFIID iid, void** factory) {
  return Find(L"dxgi.dll", "CreateDXGIFactory1", &CreateDXGIFactory1)(iid, factory);
}
