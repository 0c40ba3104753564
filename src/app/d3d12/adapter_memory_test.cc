// SPDX-License-Identifier: Apache-2.0
//
// On adapters of our own.
#include "app/d3d12/adapter_memory.h"

#include <dxgi1_4.h>
#include <gtest/gtest.h>

namespace cairn {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"  // as all interfaces

class TestAdapter final : public IDXGIAdapter3 {
 public:
  DXGI_ADAPTER_DESC desc = {};
  DXGI_QUERY_VIDEO_MEMORY_INFO local = {};
  DXGI_QUERY_VIDEO_MEMORY_INFO non_local = {};
  HRESULT result = S_OK;
  bool is_new = true;
  ULONG references = 1;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    *object = is_new && riid == __uuidof(IDXGIAdapter3) ? this : nullptr;
    if (*object == nullptr) return E_NOINTERFACE;
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references; }
  ULONG STDMETHODCALLTYPE Release() override { return --references; }
  HRESULT STDMETHODCALLTYPE GetDesc(DXGI_ADAPTER_DESC* out) override {
    *out = desc;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE QueryVideoMemoryInfo(UINT node, DXGI_MEMORY_SEGMENT_GROUP group,
                                                 DXGI_QUERY_VIDEO_MEMORY_INFO* info) override {
    EXPECT_EQ(node, 0u);
    *info = group == DXGI_MEMORY_SEGMENT_GROUP_LOCAL ? local : non_local;
    return result;
  }

  HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID, UINT, const void*) override { return E_FAIL; }
  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID, const IUnknown*) override {
    return E_FAIL;
  }
  HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID, UINT*, void*) override { return E_FAIL; }
  HRESULT STDMETHODCALLTYPE GetParent(REFIID, void**) override { return E_FAIL; }
  HRESULT STDMETHODCALLTYPE EnumOutputs(UINT, IDXGIOutput**) override { return E_FAIL; }
  HRESULT STDMETHODCALLTYPE CheckInterfaceSupport(REFGUID, LARGE_INTEGER*) override {
    return E_FAIL;
  }
  HRESULT STDMETHODCALLTYPE GetDesc1(DXGI_ADAPTER_DESC1*) override { return E_FAIL; }
  HRESULT STDMETHODCALLTYPE GetDesc2(DXGI_ADAPTER_DESC2*) override { return E_FAIL; }
  HRESULT STDMETHODCALLTYPE RegisterHardwareContentProtectionTeardownStatusEvent(HANDLE,
                                                                                 DWORD*) override {
    return E_FAIL;
  }
  void STDMETHODCALLTYPE UnregisterHardwareContentProtectionTeardownStatus(DWORD) override {}
  HRESULT STDMETHODCALLTYPE SetVideoMemoryReservation(UINT, DXGI_MEMORY_SEGMENT_GROUP,
                                                      UINT64) override {
    return E_FAIL;
  }
  HRESULT STDMETHODCALLTYPE RegisterVideoMemoryBudgetChangeNotificationEvent(HANDLE,
                                                                             DWORD*) override {
    return E_FAIL;
  }
  void STDMETHODCALLTYPE UnregisterVideoMemoryBudgetChangeNotification(DWORD) override {}
};

#pragma GCC diagnostic pop

TEST(AdapterMemory, ItsOwnAndTheSystems) {
  TestAdapter adapter;
  adapter.desc.DedicatedVideoMemory = 8 * kGiB;
  adapter.desc.SharedSystemMemory = 16 * kGiB;
  adapter.local = {.Budget = 7 * kGiB, .CurrentUsage = 7 * kGiB + 1};
  adapter.non_local = {.Budget = 12 * kGiB, .CurrentUsage = 3 * kGiB};
  const AdapterMemory memory = AdapterMemory::Of(&adapter);
  ASSERT_EQ(memory.heaps().size(), 2u);
  EXPECT_EQ(memory.heaps()[0].size_bytes, 8 * kGiB);
  EXPECT_EQ(memory.heaps()[0].used_bytes, 7 * kGiB + 1);
  EXPECT_EQ(memory.heaps()[0].budget_bytes, 7 * kGiB);
  EXPECT_EQ(memory.heaps()[0].flags, kHeapTellsUse | kHeapDeviceLocal);
  EXPECT_EQ(memory.heaps()[1].size_bytes, 16 * kGiB);
  EXPECT_EQ(memory.heaps()[1].used_bytes, 3 * kGiB);
  EXPECT_EQ(memory.heaps()[1].budget_bytes, 12 * kGiB);
  EXPECT_EQ(memory.heaps()[1].flags, kHeapTellsUse);
  EXPECT_EQ(adapter.references, 1u);
}

// All memory of such an adapter is the system's: it has one heap, larger than what is its own.
TEST(AdapterMemory, OfAnIntegratedAdapterTheBudgetAlone) {
  TestAdapter adapter;
  adapter.desc.DedicatedVideoMemory = kGiB / 8;
  adapter.local = {.Budget = 7 * kGiB, .CurrentUsage = kGiB};
  const AdapterMemory memory = AdapterMemory::Of(&adapter);
  ASSERT_EQ(memory.heaps().size(), 1u);
  EXPECT_EQ(memory.heaps()[0].size_bytes, 0u);
  EXPECT_EQ(memory.heaps()[0].used_bytes, kGiB);
  EXPECT_EQ(memory.heaps()[0].budget_bytes, 7 * kGiB);
}

TEST(AdapterMemory, OneThatDoesNotTellHasNoHeaps) {
  TestAdapter adapter;
  adapter.local = {.Budget = kGiB, .CurrentUsage = kGiB};
  adapter.result = DXGI_ERROR_DEVICE_REMOVED;
  EXPECT_TRUE(AdapterMemory::Of(&adapter).heaps().empty());
  adapter.result = S_OK;
  EXPECT_EQ(AdapterMemory::Of(&adapter).heaps().size(), 1u);
  adapter.is_new = false;
  EXPECT_TRUE(AdapterMemory::Of(&adapter).heaps().empty());
  EXPECT_EQ(adapter.references, 1u);
}

TEST(KeptAdapter, AsksTheSameAdapterAgainAndAgain) {
  TestAdapter adapter;
  adapter.local = {.Budget = kGiB, .CurrentUsage = 1};
  {
    KeptAdapter kept;
    EXPECT_TRUE(kept.Ask().heaps().empty());
    kept.Keep(&adapter);
    EXPECT_EQ(adapter.references, 2u);
    ASSERT_EQ(kept.Ask().heaps().size(), 1u);
    EXPECT_EQ(kept.Ask().heaps()[0].used_bytes, 1u);
    adapter.local.CurrentUsage = 2;
    EXPECT_EQ(kept.Ask().heaps()[0].used_bytes, 2u);
    EXPECT_EQ(adapter.references, 2u);
  }
  EXPECT_EQ(adapter.references, 1u);
}

TEST(KeptAdapter, AnUnknownLuidHasNoHeaps) {
  ASSERT_NE(LoadLibraryA("dxgi.dll"), nullptr);
  KeptAdapter kept;
  kept.Find(0x12345678u, 0x0abcdef0);
  EXPECT_TRUE(kept.Ask().heaps().empty());
}

}  // namespace
}  // namespace cairn
