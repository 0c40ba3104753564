// SPDX-License-Identifier: Apache-2.0
#include "os/graphics_adapter.h"

#include <fmt/format.h>

#include <cwchar>

#include "os/library.h"
#include "os/windows/system.h"

// Included after the system's own header.
#include <dxgi.h>

namespace cairn {
namespace {

using CreateFactory = HRESULT(WINAPI*)(REFIID, void**);

// These identifiers have no other name without a library of constants.
constexpr GUID kFactory1 = {
    0x770aae78, 0xf26f, 0x4dba, {0xa8, 0x29, 0x25, 0x3c, 0x83, 0xd1, 0xb3, 0x87}};
constexpr GUID kDxgiDevice = {
    0x54ec77fa, 0x1377, 0x44e6, {0x8c, 0x32, 0x88, 0xfd, 0x5f, 0x44, 0xc8, 0x4c}};

uint64_t Number(const LUID& luid) {
  return static_cast<uint64_t>(static_cast<uint32_t>(luid.HighPart)) << 32 | luid.LowPart;
}

Status NoAdapter(uint64_t luid) {
  return {StatusCode::kNotFound, fmt::format("no graphics adapter has the LUID {:#x}", luid)};
}

GraphicsAdapter FactsOf(IDXGIAdapter1* adapter, const DXGI_ADAPTER_DESC1& desc) {
  GraphicsAdapter facts;
  const wchar_t* const name = static_cast<const wchar_t*>(desc.Description);
  facts.name = Utf8({name, wcsnlen(name, std::size(desc.Description))});
  facts.vendor = desc.VendorId;
  facts.device = desc.DeviceId;
  facts.luid = Number(desc.AdapterLuid);
  // The driver's, although it is asked about an interface of Direct3D 10.
  LARGE_INTEGER version = {};
  if (SUCCEEDED(adapter->CheckInterfaceSupport(kDxgiDevice, &version))) {
    const auto high = static_cast<DWORD>(version.HighPart);
    facts.driver_version = fmt::format("{}.{}.{}.{}", HIWORD(high), LOWORD(high),
                                       HIWORD(version.LowPart), LOWORD(version.LowPart));
  }
  return facts;
}

// Calls `visit` for each adapter, with its place, until that returns false.
template <typename Visit>
Status ForEachAdapter(const Visit& visit) {
  const Result<Library> dxgi = Library::Load("dxgi.dll");
  if (!dxgi.ok()) return dxgi.status();
  const auto create = dxgi->Find<CreateFactory>("CreateDXGIFactory1");
  IDXGIFactory1* factory = nullptr;
  if (create == nullptr || FAILED(create(kFactory1, reinterpret_cast<void**>(&factory)))) {
    return {StatusCode::kUnsupported, "dxgi.dll makes no factory of adapters"};
  }
  IDXGIAdapter1* adapter = nullptr;
  bool going_on = true;
  for (UINT i = 0; going_on && SUCCEEDED(factory->EnumAdapters1(i, &adapter)); ++i) {
    going_on = visit(i, adapter);
    adapter->Release();
  }
  factory->Release();
  return Status();
}

}  // namespace

Result<std::vector<GraphicsAdapter>> ListGraphicsAdapters() {
  std::vector<GraphicsAdapter> adapters;
  const Status status = ForEachAdapter([&](UINT, IDXGIAdapter1* adapter) {
    DXGI_ADAPTER_DESC1 desc = {};
    if (FAILED(adapter->GetDesc1(&desc))) desc = {};
    adapters.push_back(FactsOf(adapter, desc));
    return true;
  });
  if (!status.ok()) return status;
  return adapters;
}

Result<GraphicsAdapter> FindGraphicsAdapter(uint64_t luid) {
  Result<GraphicsAdapter> found = NoAdapter(luid);
  const Status status = ForEachAdapter([&](UINT, IDXGIAdapter1* adapter) {
    DXGI_ADAPTER_DESC1 desc = {};
    if (SUCCEEDED(adapter->GetDesc1(&desc)) && Number(desc.AdapterLuid) == luid) {
      found = FactsOf(adapter, desc);
    }
    return !found.ok();
  });
  if (!status.ok()) return status;
  return found;
}

Result<uint32_t> PlaceOfGraphicsAdapter(uint64_t luid) {
  Result<uint32_t> found = NoAdapter(luid);
  const Status status = ForEachAdapter([&](UINT i, IDXGIAdapter1* adapter) {
    DXGI_ADAPTER_DESC1 desc = {};
    if (SUCCEEDED(adapter->GetDesc1(&desc)) && Number(desc.AdapterLuid) == luid) found = i;
    return !found.ok();
  });
  if (!status.ok()) return status;
  return found;
}

Result<void*> OpenGraphicsAdapter(uint32_t place) {
  void* opened = nullptr;
  const Status status = ForEachAdapter([&](UINT i, IDXGIAdapter1* adapter) {
    if (i != place) return true;
    adapter->AddRef();
    opened = static_cast<IUnknown*>(adapter);
    return false;
  });
  if (!status.ok()) return status;
  if (opened == nullptr) {
    return Status(StatusCode::kNotFound, fmt::format("there is no graphics adapter {}", place));
  }
  return opened;
}

}  // namespace cairn
