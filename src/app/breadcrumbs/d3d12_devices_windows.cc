// SPDX-License-Identifier: Apache-2.0
//
// Through d3d12.dll, of each adapter that DXGI knows.
#include <dxgi1_4.h>
#include <fmt/format.h>

#include "app/breadcrumbs/d3d12_devices.h"
#include "d3d12abi/com_ptr.h"
#include "format/pix/text_decode.h"
#include "os/library.h"

namespace cairn {
namespace {

struct Functions {
  PFN_D3D12_CREATE_DEVICE create_device = nullptr;
  HRESULT(WINAPI* create_factory)(REFIID, void**) = nullptr;
};

Result<Functions> LoadFunctions() {
  const Result<Library> d3d12 = Library::Load("d3d12.dll");
  if (!d3d12.ok()) return d3d12.status();
  const Result<Library> dxgi = Library::Load("dxgi.dll");
  if (!dxgi.ok()) return dxgi.status();
  Functions functions;
  functions.create_device = d3d12->Find<PFN_D3D12_CREATE_DEVICE>("D3D12CreateDevice");
  functions.create_factory = dxgi->Find<decltype(functions.create_factory)>("CreateDXGIFactory1");
  if (functions.create_device == nullptr || functions.create_factory == nullptr) {
    return Status(StatusCode::kUnsupported,
                  "d3d12.dll lacks D3D12CreateDevice, or dxgi.dll CreateDXGIFactory1");
  }
  return functions;
}

D3D12CreatedDevice CreateDevice(const Functions& functions, IDXGIAdapter1* adapter) {
  D3D12CreatedDevice created;
  DXGI_ADAPTER_DESC1 desc = {};
  (void)adapter->GetDesc1(&desc);
  const std::span<const WCHAR> name(desc.Description, wcsnlen(desc.Description, 128));
  created.name = DecodeUtf16(std::as_bytes(name)).text;
  const HRESULT result = functions.create_device(adapter, D3D_FEATURE_LEVEL_11_0,
                                                 __uuidof(ID3D12Device), &created.device);
  if (FAILED(result)) {
    created.device = nullptr;
    created.status = Status(
        StatusCode::kUnsupported,
        fmt::format("D3D12CreateDevice refuses feature level 11_0 on {} with HRESULT 0x{:08X}",
                    created.name, static_cast<uint32_t>(result)));
  }
  return created;
}

}  // namespace

Result<std::vector<D3D12CreatedDevice>> CreateD3D12Devices() {
  const Result<Functions> functions = LoadFunctions();
  if (!functions.ok()) return functions.status();
  ComPtr<IDXGIFactory4> factory;
  const HRESULT result = functions->create_factory(__uuidof(IDXGIFactory4), factory.Receive());
  if (FAILED(result)) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("CreateDXGIFactory1 failed with HRESULT 0x{:08X}",
                              static_cast<uint32_t>(result)));
  }
  std::vector<D3D12CreatedDevice> devices;
  for (UINT i = 0;; ++i) {
    ComPtr<IDXGIAdapter1> adapter;
    if (FAILED(factory->EnumAdapters1(i, reinterpret_cast<IDXGIAdapter1**>(adapter.Receive())))) {
      break;
    }
    devices.push_back(CreateDevice(*functions, adapter.get()));
  }
  if (devices.empty()) {
    return Status(StatusCode::kNotFound, "DXGI knows no adapter; install the GPU's driver");
  }
  return devices;
}

}  // namespace cairn
