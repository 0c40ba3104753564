// SPDX-License-Identifier: Apache-2.0
//
// DXGI tells which adapter a device was made for.
#include <dxgi1_4.h>
#include <fmt/format.h>

#include "app/breadcrumbs/d3d12_module.h"
#include "d3d12abi/aggregates.h"
#include "d3d12abi/com_ptr.h"
#include "format/pix/text_decode.h"
#include "os/library.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

ComPtr<IDXGIAdapter1> AdapterOf(ID3D12Device* device) {
  using CreateFactory = HRESULT(WINAPI*)(REFIID, void**);
  const Library dxgi = Library::FindLoaded("dxgi.dll");
  const auto create = dxgi.Find<CreateFactory>("CreateDXGIFactory1");
  ComPtr<IDXGIFactory4> factory;
  ComPtr<IDXGIAdapter1> adapter;
  if (create == nullptr || FAILED(create(__uuidof(IDXGIFactory4), factory.Receive())))
    return adapter;
  (void)factory->EnumAdapterByLuid(GetAdapterLuid(device), __uuidof(IDXGIAdapter1),
                                   adapter.Receive());
  return adapter;
}

std::string DriverVersionOf(IDXGIAdapter1* adapter) {
  LARGE_INTEGER version = {};
  if (FAILED(adapter->CheckInterfaceSupport(__uuidof(IDXGIDevice), &version))) return "";
  const auto bits = static_cast<uint64_t>(version.QuadPart);
  return fmt::format(", driver {}.{}.{}.{}", bits >> 48, bits >> 32 & 0xFFFF, bits >> 16 & 0xFFFF,
                     bits & 0xFFFF);
}

}  // namespace

D3D12Module IdentifyD3D12Module(ID3D12Device* device) {
  D3D12Module module;
  module.device_name = "Direct3D 12 device";
  module.driver_name = LibraryNameOf(**reinterpret_cast<void** const*>(device));
  const ComPtr<IDXGIAdapter1> adapter = AdapterOf(device);
  DXGI_ADAPTER_DESC1 desc = {};
  if (!adapter || FAILED(adapter->GetDesc1(&desc))) return module;
  const std::span<const WCHAR> name(desc.Description, wcsnlen(desc.Description, 128));
  module.device_name = DecodeUtf16(std::as_bytes(name)).text;
  module.driver_name += DriverVersionOf(adapter.get());
  module.vendor_id = desc.VendorId;
  module.device_id = desc.DeviceId;
  return module;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
