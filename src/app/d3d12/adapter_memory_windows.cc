// SPDX-License-Identifier: Apache-2.0
#include <dxgi1_4.h>

#include "app/d3d12/adapter_memory.h"
#include "os/library.h"

namespace cairn {

AdapterMemory AdapterMemory::Of(IUnknown* adapter) {
  AdapterMemory memory;
  IDXGIAdapter3* newer = nullptr;
  if (FAILED(adapter->QueryInterface(__uuidof(IDXGIAdapter3), reinterpret_cast<void**>(&newer)))) {
    return memory;
  }
  DXGI_ADAPTER_DESC desc = {};
  static_cast<void>(newer->GetDesc(&desc));
  constexpr DXGI_MEMORY_SEGMENT_GROUP kGroups[] = {DXGI_MEMORY_SEGMENT_GROUP_LOCAL,
                                                   DXGI_MEMORY_SEGMENT_GROUP_NON_LOCAL};
  const uint64_t sizes[] = {desc.DedicatedVideoMemory, desc.SharedSystemMemory};
  for (uint32_t group = 0; group < std::size(kGroups); ++group) {
    DXGI_QUERY_VIDEO_MEMORY_INFO info = {};
    if (FAILED(newer->QueryVideoMemoryInfo(0, kGroups[group], &info)) || info.Budget == 0) continue;
    MemoryHeapRecord& heap = memory.heaps_[memory.count_++];
    // Where an adapter has no memory of its own, its budget is the system's, and no size says so.
    heap.size_bytes = sizes[group] < info.Budget ? 0 : sizes[group];
    heap.used_bytes = info.CurrentUsage;
    heap.budget_bytes = info.Budget;
    heap.flags = kHeapTellsUse | (group == 0 ? kHeapDeviceLocal : 0);
  }
  newer->Release();
  return memory;
}

KeptAdapter::~KeptAdapter() {
  Keep(nullptr);
}

void KeptAdapter::Find(uint32_t luid_low, int32_t luid_high) {
  using CreateFactory = HRESULT(WINAPI*)(REFIID, void**);
  const Library dxgi = Library::FindLoaded("dxgi.dll");
  const auto create = dxgi.Find<CreateFactory>("CreateDXGIFactory1");
  IDXGIFactory4* factory = nullptr;
  if (create == nullptr ||
      FAILED(create(__uuidof(IDXGIFactory4), reinterpret_cast<void**>(&factory)))) {
    return;
  }
  IDXGIAdapter* adapter = nullptr;
  const HRESULT result =
      factory->EnumAdapterByLuid({.LowPart = luid_low, .HighPart = luid_high},
                                 __uuidof(IDXGIAdapter), reinterpret_cast<void**>(&adapter));
  factory->Release();
  if (FAILED(result)) return;
  Keep(adapter);
  adapter->Release();
}

void KeptAdapter::Keep(IUnknown* adapter) {
  if (adapter != nullptr) adapter->AddRef();
  if (adapter_ != nullptr) adapter_->Release();
  adapter_ = adapter;
}

AdapterMemory KeptAdapter::Ask() const {
  return adapter_ == nullptr ? AdapterMemory() : AdapterMemory::Of(adapter_);
}

}  // namespace cairn
