// SPDX-License-Identifier: Apache-2.0
#include "d3d12abi/fake_device.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "d3d12abi/com_ptr.h"
#include "d3d12abi/fake_stubs.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

std::atomic<int> object_count{0};

constexpr uint64_t kMostBufferBytes = uint64_t{64} << 20;

bool IsSame(REFIID a, REFIID b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

// As a GPU copies: others may look at whole words meanwhile. Everything here is a multiple of 4.
void CopyWords(std::byte* to, const std::byte* from, uint64_t size) {
  for (uint64_t i = 0; i + sizeof(uint32_t) <= size; i += sizeof(uint32_t)) {
    uint32_t word;
    std::memcpy(&word, from + i, sizeof(word));
    std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(to + i))
        .store(word, std::memory_order_relaxed);
  }
}

// IUnknown of an object that answers to `Interface` and IUnknown. Children hold their device.
template <typename Base, typename Interface>
class Fake : public Base {
 public:
  explicit Fake(ID3D12Device* device) : device_(device) {
    object_count.fetch_add(1);
    if (device_ != nullptr) device_->AddRef();
  }
  virtual ~Fake() {
    object_count.fetch_sub(1);
    if (device_ != nullptr) device_->Release();
  }

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    if (object == nullptr) return E_POINTER;
    *object = nullptr;
    if (!IsSame(riid, __uuidof(Interface)) && !IsSame(riid, __uuidof(IUnknown))) {
      return E_NOINTERFACE;
    }
    this->AddRef();
    *object = static_cast<Interface*>(this);
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return references_.fetch_add(1) + 1; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = references_.fetch_sub(1) - 1;
    if (left == 0) delete this;
    return left;
  }

 protected:
  ID3D12Device* device() const { return device_; }

 private:
  ID3D12Device* const device_;
  std::atomic<ULONG> references_{1};
};

// Gives the caller interface `riid` of a new object, in place of the creator's reference.
template <typename T>
HRESULT GiveOut(T* object, REFIID riid, void** out) {
  const HRESULT result = object->QueryInterface(riid, out);
  object->Release();
  return result;
}

class FakeBuffer final : public Fake<NoResource, ID3D12Resource> {
 public:
  FakeBuffer(ID3D12Device* device, const D3D12_RESOURCE_DESC& desc)
      : Fake(device), desc_(desc), bytes_(desc.Width) {}

  HRESULT STDMETHODCALLTYPE Map(UINT, const D3D12_RANGE*, void** data) override {
    if (data != nullptr) *data = bytes_.data();
    return S_OK;
  }
  D3D12_RESOURCE_DESC* STDMETHODCALLTYPE GetDesc(D3D12_RESOURCE_DESC* result) override {
    *result = desc_;
    return result;
  }
  D3D12_GPU_VIRTUAL_ADDRESS STDMETHODCALLTYPE GetGPUVirtualAddress() override {
    return reinterpret_cast<uintptr_t>(bytes_.data());
  }
  std::byte* bytes() { return bytes_.data(); }
  uint64_t size() const { return bytes_.size(); }

 private:
  const D3D12_RESOURCE_DESC desc_;
  std::vector<std::byte> bytes_;
};

class FakeAllocator final : public Fake<NoAllocator, ID3D12CommandAllocator> {
 public:
  using Fake::Fake;
  HRESULT STDMETHODCALLTYPE Reset() override { return S_OK; }
};

class FakeFence final : public Fake<NoFence, ID3D12Fence> {
 public:
  FakeFence(ID3D12Device* device, uint64_t value) : Fake(device), value_(value) {}
  UINT64 STDMETHODCALLTYPE GetCompletedValue() override { return value_.load(); }
  HRESULT STDMETHODCALLTYPE Signal(UINT64 value) override {
    value_.store(value);
    return S_OK;
  }

 private:
  std::atomic<uint64_t> value_;
};

class FakeList final : public Fake<NoCommandList, ID3D12GraphicsCommandList> {
 public:
  FakeList(ID3D12Device* device, D3D12_COMMAND_LIST_TYPE type) : Fake(device), type_(type) {}

  D3D12_COMMAND_LIST_TYPE STDMETHODCALLTYPE GetType() override { return type_; }
  HRESULT STDMETHODCALLTYPE Close() override { return std::exchange(open_, false) ? S_OK : E_FAIL; }
  HRESULT STDMETHODCALLTYPE Reset(ID3D12CommandAllocator*, ID3D12PipelineState*) override {
    if (std::exchange(open_, true)) return E_FAIL;
    commands_.clear();
    return S_OK;
  }
  void STDMETHODCALLTYPE CopyBufferRegion(ID3D12Resource* to, UINT64 to_offset,
                                          ID3D12Resource* from, UINT64 from_offset,
                                          UINT64 size) override {
    auto* const target = static_cast<FakeBuffer*>(to);
    auto* const source = static_cast<FakeBuffer*>(from);
    // Arguments that arrived in other places show here, and not as a crash.
    if (size > target->size() || to_offset > target->size() - size) return;
    if (size > source->size() || from_offset > source->size() - size) return;
    // Whole words only, as CopyWords needs them.
    if ((to_offset | from_offset) % sizeof(uint32_t) != 0) return;
    // Held by the list: programs that end a buffer too early do no harm here.
    commands_.push_back(
        [=, to_held = ComPtr<ID3D12Resource>(to), from_held = ComPtr<ID3D12Resource>(from)] {
          CopyWords(target->bytes() + to_offset, source->bytes() + from_offset, size);
        });
  }
  bool Execute() {
    if (open_) return false;
    for (const auto& command : commands_) command();
    return true;
  }

 private:
  const D3D12_COMMAND_LIST_TYPE type_;
  bool open_ = true;
  std::vector<std::function<void()>> commands_;
};

class FakeQueue final : public Fake<NoQueue, ID3D12CommandQueue> {
 public:
  FakeQueue(ID3D12Device* device, const D3D12_COMMAND_QUEUE_DESC& desc)
      : Fake(device), desc_(desc) {}

  void STDMETHODCALLTYPE ExecuteCommandLists(UINT count, ID3D12CommandList* const* lists) override {
    for (UINT i = 0; i < count; ++i) {
      static_cast<FakeList*>(static_cast<ID3D12GraphicsCommandList*>(lists[i]))->Execute();
    }
  }
  HRESULT STDMETHODCALLTYPE Signal(ID3D12Fence* fence, UINT64 value) override {
    return fence->Signal(value);
  }
  HRESULT STDMETHODCALLTYPE Wait(ID3D12Fence*, UINT64) override { return S_OK; }
  HRESULT STDMETHODCALLTYPE GetTimestampFrequency(UINT64* frequency) override {
    *frequency = 1000000000;
    return S_OK;
  }
  D3D12_COMMAND_QUEUE_DESC* STDMETHODCALLTYPE GetDesc(D3D12_COMMAND_QUEUE_DESC* result) override {
    *result = desc_;
    return result;
  }

 private:
  const D3D12_COMMAND_QUEUE_DESC desc_;
};

class FakeDevice final : public Fake<NoDevice, ID3D12Device> {
 public:
  FakeDevice() : Fake(nullptr) {}

  UINT STDMETHODCALLTYPE GetNodeCount() override { return 1; }
  HRESULT STDMETHODCALLTYPE CreateCommandQueue(const D3D12_COMMAND_QUEUE_DESC* desc, REFIID riid,
                                               void** queue) override {
    return GiveOut(new FakeQueue(this, *desc), riid, queue);
  }
  HRESULT STDMETHODCALLTYPE CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE, REFIID riid,
                                                   void** allocator) override {
    return GiveOut(new FakeAllocator(this), riid, allocator);
  }
  HRESULT STDMETHODCALLTYPE CreateCommandList(UINT, D3D12_COMMAND_LIST_TYPE type,
                                              ID3D12CommandAllocator*, ID3D12PipelineState*,
                                              REFIID riid, void** list) override {
    return GiveOut(new FakeList(this, type), riid, list);
  }
  HRESULT STDMETHODCALLTYPE CheckFeatureSupport(D3D12_FEATURE feature, void* data,
                                                UINT size) override {
    if (feature != D3D12_FEATURE_FEATURE_LEVELS) return E_INVALIDARG;
    if (size != sizeof(D3D12_FEATURE_DATA_FEATURE_LEVELS)) return E_INVALIDARG;
    static_cast<D3D12_FEATURE_DATA_FEATURE_LEVELS*>(data)->MaxSupportedFeatureLevel =
        D3D_FEATURE_LEVEL_12_0;
    return S_OK;
  }
  UINT STDMETHODCALLTYPE
  GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE type) override {
    return 32 + static_cast<UINT>(type);
  }
  D3D12_RESOURCE_ALLOCATION_INFO* STDMETHODCALLTYPE
  GetResourceAllocationInfo(D3D12_RESOURCE_ALLOCATION_INFO* result, UINT, UINT count,
                            const D3D12_RESOURCE_DESC* descs) override {
    *result = {};
    for (UINT i = 0; i < count; ++i) result->SizeInBytes += descs[i].Width;
    result->Alignment = 65536;
    return result;
  }
  D3D12_HEAP_PROPERTIES* STDMETHODCALLTYPE GetCustomHeapProperties(D3D12_HEAP_PROPERTIES* result,
                                                                   UINT,
                                                                   D3D12_HEAP_TYPE type) override {
    *result = {};
    result->Type = D3D12_HEAP_TYPE_CUSTOM;
    result->CPUPageProperty = type == D3D12_HEAP_TYPE_DEFAULT
                                  ? D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE
                                  : D3D12_CPU_PAGE_PROPERTY_WRITE_BACK;
    return result;
  }
  HRESULT STDMETHODCALLTYPE CreateCommittedResource(const D3D12_HEAP_PROPERTIES*, D3D12_HEAP_FLAGS,
                                                    const D3D12_RESOURCE_DESC* desc,
                                                    D3D12_RESOURCE_STATES, const D3D12_CLEAR_VALUE*,
                                                    REFIID riid, void** resource) override {
    if (desc->Dimension != D3D12_RESOURCE_DIMENSION_BUFFER) return E_INVALIDARG;
    if (desc->Width > kMostBufferBytes) return E_OUTOFMEMORY;
    return GiveOut(new FakeBuffer(this, *desc), riid, resource);
  }
  HRESULT STDMETHODCALLTYPE CreateFence(UINT64 value, D3D12_FENCE_FLAGS, REFIID riid,
                                        void** fence) override {
    return GiveOut(new FakeFence(this, value), riid, fence);
  }
  HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() override { return S_OK; }
  LUID* STDMETHODCALLTYPE GetAdapterLuid(LUID* result) override {
    result->LowPart = kFakeLuidLow;
    result->HighPart = kFakeLuidHigh;
    return result;
  }
};

}  // namespace

ID3D12Device* CreateFakeDevice() {
  return new FakeDevice;
}

int FakeObjectCount() {
  return object_count.load();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
