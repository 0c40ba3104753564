// SPDX-License-Identifier: Apache-2.0
#include "d3d12abi/testing/fake_device.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "d3d12abi/com_ptr.h"
#include "d3d12abi/testing/fake_base.h"
#include "d3d12abi/testing/fake_names.h"
#include "d3d12abi/testing/fake_objects.h"
#include "d3d12abi/testing/fake_programs.h"
#include "d3d12abi/testing/fake_stubs.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

// The limit for heaps of all devices together. It is low, because a trace may ask for any size.
constexpr uint64_t kMemoryBytes = uint64_t{16} << 20;
std::atomic<uint64_t> taken_bytes{0};
std::atomic<uint64_t> more_bytes_asked{0};
std::atomic<uint64_t> alignment_asked{65536};
std::atomic<uint64_t> scratch_asked{0};

bool TakeMemory(uint64_t bytes) {
  if (bytes > kMemoryBytes) return false;
  if (taken_bytes.fetch_add(bytes) <= kMemoryBytes - bytes) return true;
  taken_bytes.fetch_sub(bytes);
  return false;
}

// Copies like a GPU: other threads may read whole words meanwhile. All sizes here are multiples of
// 4.
void CopyWords(std::byte* to, const std::byte* from, uint64_t size) {
  for (uint64_t i = 0; i + sizeof(uint32_t) <= size; i += sizeof(uint32_t)) {
    uint32_t word;
    std::memcpy(&word, from + i, sizeof(word));
    std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(to + i))
        .store(word, std::memory_order_relaxed);
  }
}

// Returns true for memory that the CPU can write. It is not zero at first, since no device promises
// that.
bool IsCpuMemory(const D3D12_HEAP_PROPERTIES& heap) {
  constexpr auto kGpuUpload = static_cast<D3D12_HEAP_TYPE>(5);  // newer than the headers
  return heap.Type == D3D12_HEAP_TYPE_UPLOAD || heap.Type == D3D12_HEAP_TYPE_CUSTOM ||
         heap.Type == kGpuUpload;
}

class FakeHeap final : public Fake<NoHeap, ID3D12Heap> {
 public:
  // The memory is taken already, as that of a descriptor heap.
  FakeHeap(ID3D12Device* device, const D3D12_HEAP_DESC& desc)
      : Fake(device),
        desc_(desc),
        bytes_(desc.SizeInBytes, IsCpuMemory(desc.Properties) ? std::byte{0xCD} : std::byte{0}) {}
  // A heap of the program's memory, which is not owned.
  FakeHeap(ID3D12Device* device, const D3D12_HEAP_DESC& desc, std::byte* imported)
      : Fake(device), desc_(desc), imported_(imported) {}
  ~FakeHeap() override { taken_bytes.fetch_sub(bytes_.size()); }

  D3D12_HEAP_DESC* STDMETHODCALLTYPE GetDesc(D3D12_HEAP_DESC* result) override {
    *result = desc_;
    return result;
  }
  std::byte* bytes() { return imported_ != nullptr ? imported_ : bytes_.data(); }
  uint64_t size() const { return desc_.SizeInBytes; }
  const D3D12_HEAP_DESC& desc() const { return desc_; }

 private:
  const D3D12_HEAP_DESC desc_;
  std::vector<std::byte> bytes_;
  std::byte* const imported_ = nullptr;
};

// Buffers, in a heap of their own or placed in one; textures without any memory.
class FakeResource final : public Fake<NoResource, ID3D12Resource> {
 public:
  // `heap`: null for textures, and for what is reserved only.
  FakeResource(ID3D12Device* device, const D3D12_RESOURCE_DESC& desc, FakeHeap* heap,
               uint64_t offset_bytes)
      : Fake(device), desc_(desc), heap_(heap), offset_bytes_(offset_bytes) {
    if (heap_ != nullptr) heap_->Keep();
  }
  ~FakeResource() override {
    if (heap_ != nullptr) heap_->LetGo();
  }

  HRESULT STDMETHODCALLTYPE Map(UINT, const D3D12_RANGE*, void** data) override {
    if (heap_ == nullptr) return E_INVALIDARG;
    if (data != nullptr) *data = bytes();
    return S_OK;
  }
  D3D12_RESOURCE_DESC* STDMETHODCALLTYPE GetDesc(D3D12_RESOURCE_DESC* result) override {
    *result = desc_;
    return result;
  }
  D3D12_GPU_VIRTUAL_ADDRESS STDMETHODCALLTYPE GetGPUVirtualAddress() override {
    return reinterpret_cast<uintptr_t>(bytes());
  }
  HRESULT STDMETHODCALLTYPE GetHeapProperties(D3D12_HEAP_PROPERTIES* properties,
                                              D3D12_HEAP_FLAGS* flags) override {
    if (heap_ == nullptr) return E_INVALIDARG;
    if (properties != nullptr) *properties = heap_->desc().Properties;
    if (flags != nullptr) *flags = heap_->desc().Flags;
    return S_OK;
  }
  std::byte* bytes() { return heap_ == nullptr ? nullptr : heap_->bytes() + offset_bytes_; }
  uint64_t size() const { return heap_ == nullptr ? 0 : desc_.Width; }

 private:
  const D3D12_RESOURCE_DESC desc_;
  FakeHeap* const heap_;
  const uint64_t offset_bytes_;
};

class FakeDescriptorHeap final : public Fake<NoDescriptorHeap, ID3D12DescriptorHeap> {
 public:
  FakeDescriptorHeap(ID3D12Device* device, const D3D12_DESCRIPTOR_HEAP_DESC& desc, uint64_t bytes)
      : Fake(device), desc_(desc), bytes_(bytes) {}
  ~FakeDescriptorHeap() override { taken_bytes.fetch_sub(bytes_.size()); }

  HRESULT STDMETHODCALLTYPE GetDevice(REFIID riid, void** result) override {
    return device()->QueryInterface(riid, result);
  }
  D3D12_DESCRIPTOR_HEAP_DESC* STDMETHODCALLTYPE
  GetDesc(D3D12_DESCRIPTOR_HEAP_DESC* result) override {
    *result = desc_;
    return result;
  }
  D3D12_CPU_DESCRIPTOR_HANDLE* STDMETHODCALLTYPE
  GetCPUDescriptorHandleForHeapStart(D3D12_CPU_DESCRIPTOR_HANDLE* result) override {
    result->ptr = reinterpret_cast<uintptr_t>(bytes_.data());
    return result;
  }
  D3D12_GPU_DESCRIPTOR_HANDLE* STDMETHODCALLTYPE
  GetGPUDescriptorHandleForHeapStart(D3D12_GPU_DESCRIPTOR_HANDLE* result) override {
    result->ptr = reinterpret_cast<uintptr_t>(bytes_.data());
    return result;
  }

 private:
  const D3D12_DESCRIPTOR_HEAP_DESC desc_;
  std::vector<std::byte> bytes_;
};

class FakeAllocator final : public Fake<NoAllocator, ID3D12CommandAllocator> {
 public:
  using Fake::Fake;
  HRESULT STDMETHODCALLTYPE Reset() override { return S_OK; }
};

// The name that a fence was given last, from whichever thread.
std::mutex last_name_mutex;
std::string last_name;

class FakeFence final : public Fake<NoFence, ID3D12Fence, ID3D12Fence1> {
 public:
  FakeFence(ID3D12Device* device, uint64_t value, D3D12_FENCE_FLAGS flags)
      : Fake(device), value_(value), flags_(flags) {}
  D3D12_FENCE_FLAGS STDMETHODCALLTYPE GetCreationFlags() override { return flags_; }
  HRESULT STDMETHODCALLTYPE SetName(LPCWSTR name) override {
    const std::lock_guard lock(last_name_mutex);
    last_name = NarrowName(name);
    return S_OK;
  }
  UINT64 STDMETHODCALLTYPE GetCompletedValue() override { return value_.load(); }
  // Sets no event.
  HRESULT STDMETHODCALLTYPE SetEventOnCompletion(UINT64, HANDLE) override { return S_OK; }
  HRESULT STDMETHODCALLTYPE Signal(UINT64 value) override {
    value_.store(value);
    return S_OK;
  }

 private:
  std::atomic<uint64_t> value_;
  const D3D12_FENCE_FLAGS flags_;
};

// Signals of queues that are held.
std::mutex signals_mutex;
bool signals_held = false;
std::vector<std::pair<ComPtr<ID3D12Fence>, uint64_t>> held_signals;

HRESULT SignalOrHold(ID3D12Fence* fence, uint64_t value) {
  const std::lock_guard lock(signals_mutex);
  if (!signals_held) return fence->Signal(value);
  held_signals.emplace_back(fence, value);
  return S_OK;
}

// The last arguments that a list was given, by any thread.
std::atomic<uint64_t> last_root_view{0};
std::atomic<bool> last_indices_null{false};
std::atomic<bool> last_vertices_null{false};
std::atomic<uint64_t> last_indirect_word{0};
std::atomic<uint32_t> last_indirect_count{0};
std::atomic<uint64_t> executions{0};
std::atomic<uint64_t> global_barriers{0};
std::atomic<uint32_t> last_heap_flags{0};
std::atomic<int> heaps_made{0};
std::atomic<uint64_t> last_structure_view{0};
std::atomic<uint64_t> structure_views{0};
std::atomic<uint64_t> last_structure_question{0};
std::mutex structure_view_mutex;
std::map<uint64_t, uint64_t> structure_view_places;
std::mutex last_structure_mutex;
FakeStructure last_structure;
std::atomic<const void*> maps_tiles{nullptr};  // a queue, until its next signal
std::atomic<uint64_t> overtaken_mappings{0};

// The interfaces of a device and its lists: ID3D12Device1; ID3D12Device5 and ID3D12GraphicsCommandList4; the same, and
// ID3D12GraphicsCommandList10.
enum class Generation { kOld, kNewer, kPrograms };

class FakeList final : public Fake<NoNewestCommandList, ID3D12GraphicsCommandList> {
 public:
  FakeList(ID3D12Device* device, D3D12_COMMAND_LIST_TYPE type, Generation generation)
      : Fake(device), type_(type), generation_(generation) {}

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    const bool is_newer = IsSame(riid, __uuidof(ID3D12GraphicsCommandList1)) ||
                          IsSame(riid, __uuidof(ID3D12GraphicsCommandList2)) ||
                          IsSame(riid, __uuidof(ID3D12GraphicsCommandList3)) ||
                          IsSame(riid, __uuidof(ID3D12GraphicsCommandList4));
    const bool is_newest = IsSame(riid, __uuidof(ID3D12GraphicsCommandList10));
    const bool is_there = (is_newer && generation_ != Generation::kOld) ||
                          (is_newest && generation_ == Generation::kPrograms);
    return Fake::QueryInterface(is_there ? __uuidof(ID3D12GraphicsCommandList) : riid, object);
  }
  void STDMETHODCALLTYPE
  SetComputeRootUnorderedAccessView(UINT, D3D12_GPU_VIRTUAL_ADDRESS address) override {
    programs_.SetRootView(address);
  }
  void STDMETHODCALLTYPE SetProgram(const D3D12_SET_PROGRAM_DESC* desc) override {
    programs_.Set(device(), *desc, &commands_);
  }
  void STDMETHODCALLTYPE Dispatch(UINT, UINT, UINT) override { programs_.Dispatch(&commands_); }
  void STDMETHODCALLTYPE DispatchGraph(const D3D12_DISPATCH_GRAPH_DESC* desc) override {
    programs_.DispatchGraph(*desc, &commands_);
  }
  void STDMETHODCALLTYPE ExecuteMetaCommand(ID3D12MetaCommand*, const void* parameters,
                                            SIZE_T size) override {
    if (parameters == nullptr || size != sizeof(FakeCopy)) return;
    FakeCopy copy;
    std::memcpy(&copy, parameters, sizeof(copy));
    commands_.emplace_back([copy] {
      CopyWords(reinterpret_cast<std::byte*>(copy.to), reinterpret_cast<std::byte*>(copy.from),
                copy.size_bytes);
    });
  }

  // A structure here is a word: of its first vertex or box, or of the address in its first instance.
  void STDMETHODCALLTYPE BuildRaytracingAccelerationStructure(
      const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC* desc, UINT,
      const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC*) override {
    const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS& inputs = desc->Inputs;
    if (inputs.NumDescs == 0 || inputs.DescsLayout != D3D12_ELEMENTS_LAYOUT_ARRAY) return;
    D3D12_GPU_VIRTUAL_ADDRESS from =
        inputs.InstanceDescs + offsetof(D3D12_RAYTRACING_INSTANCE_DESC, AccelerationStructure);
    if (inputs.Type != D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL) {
      const D3D12_RAYTRACING_GEOMETRY_DESC& first = *inputs.pGeometryDescs;
      from = first.Type == D3D12_RAYTRACING_GEOMETRY_TYPE_TRIANGLES
                 ? first.Triangles.VertexBuffer.StartAddress
                 : first.AABBs.AABBs.StartAddress;
    }
    CopyStructure(desc->DestAccelerationStructureData, from,
                  desc->ScratchAccelerationStructureData);
  }
  void STDMETHODCALLTYPE
  CopyRaytracingAccelerationStructure(D3D12_GPU_VIRTUAL_ADDRESS to, D3D12_GPU_VIRTUAL_ADDRESS from,
                                      D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE) override {
    CopyStructure(to, from, 0);
  }
  void STDMETHODCALLTYPE ResourceBarrier(UINT count,
                                         const D3D12_RESOURCE_BARRIER* barriers) override {
    for (UINT i = 0; i < count; ++i) {
      uint32_t type = 0;
      std::memcpy(&type, &barriers[i].Type, sizeof(type));
      if (type != D3D12_RESOURCE_BARRIER_TYPE_UAV || barriers[i].UAV.pResource != nullptr) continue;
      commands_.emplace_back([] { global_barriers.fetch_add(1); });
    }
  }

  void STDMETHODCALLTYPE EmitRaytracingAccelerationStructurePostbuildInfo(
      const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC*, UINT count,
      const D3D12_GPU_VIRTUAL_ADDRESS* structures) override {
    if (count != 0) last_structure_question.store(structures[count - 1]);
  }
  void STDMETHODCALLTYPE
  SetComputeRootShaderResourceView(UINT, D3D12_GPU_VIRTUAL_ADDRESS address) override {
    last_root_view.store(address);
  }
  void STDMETHODCALLTYPE
  SetComputeRootConstantBufferView(UINT, D3D12_GPU_VIRTUAL_ADDRESS address) override {
    last_root_view.store(address);
  }
  void STDMETHODCALLTYPE IASetIndexBuffer(const D3D12_INDEX_BUFFER_VIEW* view) override {
    last_indices_null.store(view == nullptr);
  }
  void STDMETHODCALLTYPE IASetVertexBuffers(UINT, UINT,
                                            const D3D12_VERTEX_BUFFER_VIEW* views) override {
    last_vertices_null.store(views == nullptr);
  }
  D3D12_COMMAND_LIST_TYPE STDMETHODCALLTYPE GetType() override { return type_; }
  HRESULT STDMETHODCALLTYPE Close() override { return std::exchange(open_, false) ? S_OK : E_FAIL; }
  HRESULT STDMETHODCALLTYPE Reset(ID3D12CommandAllocator*, ID3D12PipelineState*) override {
    if (std::exchange(open_, true)) return E_FAIL;
    commands_.clear();
    programs_ = {};
    return S_OK;
  }
  void STDMETHODCALLTYPE CopyBufferRegion(ID3D12Resource* to, UINT64 to_offset,
                                          ID3D12Resource* from, UINT64 from_offset,
                                          UINT64 size) override {
    auto* const target = static_cast<FakeResource*>(to);
    auto* const source = static_cast<FakeResource*>(from);
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
  void STDMETHODCALLTYPE ExecuteIndirect(ID3D12CommandSignature*, UINT count,
                                         ID3D12Resource* arguments, UINT64 offset, ID3D12Resource*,
                                         UINT64) override {
    auto* const source = static_cast<FakeResource*>(arguments);
    uint64_t word = 0;
    if (source->size() < sizeof(word) || offset > source->size() - sizeof(word)) return;
    commands_.push_back([=, held = ComPtr<ID3D12Resource>(arguments)]() mutable {
      std::memcpy(&word, source->bytes() + offset, sizeof(word));
      last_indirect_word.store(word);
      last_indirect_count.store(count);
    });
  }
  void STDMETHODCALLTYPE WriteBufferImmediate(UINT count,
                                              const D3D12_WRITEBUFFERIMMEDIATE_PARAMETER* writes,
                                              const D3D12_WRITEBUFFERIMMEDIATE_MODE*) override {
    for (UINT i = 0; i < count; ++i) {
      commands_.emplace_back([write = writes[i]] {
        CopyWords(reinterpret_cast<std::byte*>(write.Dest),
                  reinterpret_cast<const std::byte*>(&write.Value), sizeof(write.Value));
      });
    }
  }
  void STDMETHODCALLTYPE ExecuteBundle(ID3D12GraphicsCommandList* list) override {
    const auto* const bundle = static_cast<const FakeList*>(list);
    if (bundle == nullptr || bundle->type_ != D3D12_COMMAND_LIST_TYPE_BUNDLE) return;
    if (type_ == D3D12_COMMAND_LIST_TYPE_BUNDLE) return;
    commands_.insert(commands_.end(), bundle->commands_.begin(), bundle->commands_.end());
  }
  bool Execute() {
    if (open_) return false;
    for (const auto& command : commands_) command();
    return true;
  }

 private:
  void CopyStructure(D3D12_GPU_VIRTUAL_ADDRESS to, D3D12_GPU_VIRTUAL_ADDRESS from,
                     D3D12_GPU_VIRTUAL_ADDRESS scratch) {
    commands_.emplace_back([=] {
      CopyWords(reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from),
                sizeof(uint32_t));
      const std::lock_guard lock(last_structure_mutex);
      last_structure = {to, scratch, 0};
      std::memcpy(&last_structure.word, reinterpret_cast<const std::byte*>(to), sizeof(uint32_t));
    });
  }

  const D3D12_COMMAND_LIST_TYPE type_;
  const Generation generation_;
  bool open_ = true;
  FakeCommands commands_;
  FakePrograms programs_;
};

// Both sides of a call say how much they have, and this device goes by what one of them says.
void ExpectAsMany(uint64_t one, uint64_t other) {
  if (one != other) std::abort();
}

// `sizes`: null: one each.
uint64_t SumOf(UINT count, const UINT* sizes) {
  return sizes == nullptr ? count : std::accumulate(sizes, sizes + count, uint64_t{0});
}

class FakeQueue final : public Fake<NoQueue, ID3D12CommandQueue> {
 public:
  FakeQueue(ID3D12Device* device, const D3D12_COMMAND_QUEUE_DESC& desc)
      : Fake(device), desc_(desc) {}

  void STDMETHODCALLTYPE UpdateTileMappings(ID3D12Resource*, UINT region_count,
                                            const D3D12_TILED_RESOURCE_COORDINATE*,
                                            const D3D12_TILE_REGION_SIZE* sizes, ID3D12Heap*,
                                            UINT range_count, const D3D12_TILE_RANGE_FLAGS*,
                                            const UINT*, const UINT* counts,
                                            D3D12_TILE_MAPPING_FLAGS) override {
    maps_tiles = this;
    if (sizes == nullptr || counts == nullptr) return;
    uint64_t tiles = 0;
    for (UINT i = 0; i < region_count; ++i) tiles += sizes[i].NumTiles;
    ExpectAsMany(tiles, SumOf(range_count, counts));
  }

  void STDMETHODCALLTYPE ExecuteCommandLists(UINT count, ID3D12CommandList* const* lists) override {
    executions.fetch_add(1);
    if (maps_tiles != nullptr && maps_tiles != this) overtaken_mappings.fetch_add(1);
    for (UINT i = 0; i < count; ++i) {
      static_cast<FakeList*>(static_cast<ID3D12GraphicsCommandList*>(lists[i]))->Execute();
    }
  }
  HRESULT STDMETHODCALLTYPE Signal(ID3D12Fence* fence, UINT64 value) override {
    if (maps_tiles == this) maps_tiles = nullptr;
    return SignalOrHold(fence, value);
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

class FakeDevice final : public Fake<NoDevice, ID3D12Device, ID3D12Device1> {
 public:
  explicit FakeDevice(Generation generation) : Fake(nullptr), generation_(generation) {}

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    const bool is_newer =
        IsSame(riid, __uuidof(ID3D12Device2)) || IsSame(riid, __uuidof(ID3D12Device3)) ||
        IsSame(riid, __uuidof(ID3D12Device4)) || IsSame(riid, __uuidof(ID3D12Device5));
    const bool is_there = is_newer && generation_ != Generation::kOld;
    return Fake::QueryInterface(is_there ? __uuidof(ID3D12Device) : riid, object);
  }
  // Does not know how much memory there is.
  HRESULT STDMETHODCALLTYPE OpenExistingHeapFromAddress(const void* address, REFIID riid,
                                                        void** heap) override {
    constexpr uintptr_t kPageMask = 4095;
    if (address == nullptr || (reinterpret_cast<uintptr_t>(address) & kPageMask) != 0) {
      return E_INVALIDARG;
    }
    D3D12_HEAP_DESC desc = {};
    desc.SizeInBytes = kFakeImportedBytes;
    desc.Properties.Type = D3D12_HEAP_TYPE_CUSTOM;
    desc.Properties.CPUPageProperty = D3D12_CPU_PAGE_PROPERTY_WRITE_BACK;
    desc.Properties.MemoryPoolPreference = D3D12_MEMORY_POOL_L0;
    desc.Flags = D3D12_HEAP_FLAG_SHARED | D3D12_HEAP_FLAG_SHARED_CROSS_ADAPTER |
                 D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS;
    auto* const memory = static_cast<std::byte*>(const_cast<void*>(address));
    return GiveOut(new FakeHeap(this, desc, memory), riid, heap);
  }
  // A mapping is the memory itself.
  HRESULT STDMETHODCALLTYPE OpenExistingHeapFromFileMapping(HANDLE mapping, REFIID riid,
                                                            void** heap) override {
    const void* memory = nullptr;
    std::memcpy(&memory, &mapping, sizeof(mapping));
    return OpenExistingHeapFromAddress(memory, riid, heap);
  }
  // 256 bytes for each geometry or instance.
  void STDMETHODCALLTYPE GetRaytracingAccelerationStructurePrebuildInfo(
      const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS* inputs,
      D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO* info) override {
    *info = {};
    info->ResultDataMaxSizeInBytes = uint64_t{inputs->NumDescs} * 256 + more_bytes_asked;
    info->ScratchDataSizeInBytes = info->UpdateScratchDataSizeInBytes = scratch_asked;
  }
  void STDMETHODCALLTYPE CreateShaderResourceView(ID3D12Resource*,
                                                  const D3D12_SHADER_RESOURCE_VIEW_DESC* desc,
                                                  D3D12_CPU_DESCRIPTOR_HANDLE place) override {
    if (desc == nullptr) return;
    uint32_t dimension = 0;
    std::memcpy(&dimension, &desc->ViewDimension, sizeof(dimension));
    if (dimension == D3D12_SRV_DIMENSION_RAYTRACING_ACCELERATION_STRUCTURE) {
      last_structure_view.store(desc->RaytracingAccelerationStructure.Location);
      structure_views.fetch_add(1);
      const std::lock_guard lock(structure_view_mutex);
      structure_view_places[place.ptr] = desc->RaytracingAccelerationStructure.Location;
    }
  }
  void STDMETHODCALLTYPE RemoveDevice() override { removed_.store(true); }
  HRESULT STDMETHODCALLTYPE EnumerateMetaCommandParameters(
      REFGUID command, D3D12_META_COMMAND_PARAMETER_STAGE stage, UINT* total_bytes, UINT* count,
      D3D12_META_COMMAND_PARAMETER_DESC* descs) override {
    constexpr auto kAddress = D3D12_META_COMMAND_PARAMETER_TYPE_GPU_VIRTUAL_ADDRESS;
    constexpr D3D12_META_COMMAND_PARAMETER_DESC kAll[] = {
        {nullptr, kAddress, {}, {}, offsetof(FakeCopy, from)},
        {nullptr, D3D12_META_COMMAND_PARAMETER_TYPE_UINT64, {}, {}, offsetof(FakeCopy, size_bytes)},
        {nullptr, kAddress, {}, {}, offsetof(FakeCopy, to)},
    };
    if (!IsSame(command, kFakeMetaCommand)) return E_INVALIDARG;
    const bool executes = stage == D3D12_META_COMMAND_PARAMETER_STAGE_EXECUTION;
    const UINT known = executes ? static_cast<UINT>(std::size(kAll)) : 0;
    if (total_bytes != nullptr) *total_bytes = executes ? sizeof(FakeCopy) : 0;
    for (UINT i = 0; descs != nullptr && i < std::min(*count, known); ++i) descs[i] = kAll[i];
    *count = known;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE CreateStateObject(const D3D12_STATE_OBJECT_DESC* desc, REFIID riid,
                                              void** object) override {
    if (generation_ != Generation::kPrograms) return E_NOTIMPL;
    return CreateFakeStateObject(this, *desc, riid, object);
  }
  HRESULT STDMETHODCALLTYPE CreateMetaCommand(REFGUID command, UINT, const void*, SIZE_T,
                                              REFIID riid, void** made) override {
    if (!IsSame(command, kFakeMetaCommand)) return E_INVALIDARG;
    return GiveOut(new Fake<NoMetaCommand, ID3D12MetaCommand>(this), riid, made);
  }

  void STDMETHODCALLTYPE CopyDescriptors(UINT to_count, const D3D12_CPU_DESCRIPTOR_HANDLE*,
                                         const UINT* to_sizes, UINT from_count,
                                         const D3D12_CPU_DESCRIPTOR_HANDLE*, const UINT* from_sizes,
                                         D3D12_DESCRIPTOR_HEAP_TYPE) override {
    ExpectAsMany(SumOf(to_count, to_sizes), SumOf(from_count, from_sizes));
  }

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
    return GiveOut(new FakeList(this, type, generation_), riid, list);
  }
  HRESULT STDMETHODCALLTYPE CheckFeatureSupport(D3D12_FEATURE feature, void* data,
                                                UINT size) override {
    if (feature == D3D12_FEATURE_D3D12_OPTIONS5 && generation_ != Generation::kOld) {
      if (size != sizeof(D3D12_FEATURE_DATA_D3D12_OPTIONS5)) return E_INVALIDARG;
      static_cast<D3D12_FEATURE_DATA_D3D12_OPTIONS5*>(data)->RaytracingTier =
          D3D12_RAYTRACING_TIER_1_0;
      return S_OK;
    }
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
    for (UINT i = 0; i < count; ++i) result->SizeInBytes += descs[i].Width + more_bytes_asked;
    result->Alignment = alignment_asked;
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
  HRESULT STDMETHODCALLTYPE CreateCommittedResource(const D3D12_HEAP_PROPERTIES* heap,
                                                    D3D12_HEAP_FLAGS flags,
                                                    const D3D12_RESOURCE_DESC* desc,
                                                    D3D12_RESOURCE_STATES, const D3D12_CLEAR_VALUE*,
                                                    REFIID riid, void** resource) override {
    if (desc->Dimension != D3D12_RESOURCE_DIMENSION_BUFFER)
      return Give(*desc, nullptr, 0, riid, resource);
    if (!TakeMemory(desc->Width)) return E_OUTOFMEMORY;
    D3D12_HEAP_DESC own = {};
    own.SizeInBytes = desc->Width;
    own.Properties = *heap;
    own.Flags = flags;
    ComPtr<ID3D12Heap> made;
    *made.Receive() = new FakeHeap(this, own);
    return Give(*desc, static_cast<FakeHeap*>(made.get()), 0, riid, resource);
  }
  HRESULT STDMETHODCALLTYPE CreateHeap(const D3D12_HEAP_DESC* desc, REFIID riid,
                                       void** heap) override {
    if ((desc->Flags & D3D12_HEAP_FLAG_SHARED_CROSS_ADAPTER) != 0) return E_NOTIMPL;
    if (!TakeMemory(desc->SizeInBytes)) return E_OUTOFMEMORY;
    last_heap_flags.store(static_cast<uint32_t>(desc->Flags));
    heaps_made.fetch_add(1);
    return GiveOut(new FakeHeap(this, *desc), riid, heap);
  }
  HRESULT STDMETHODCALLTYPE CreatePlacedResource(ID3D12Heap* heap, UINT64 offset_bytes,
                                                 const D3D12_RESOURCE_DESC* desc,
                                                 D3D12_RESOURCE_STATES, const D3D12_CLEAR_VALUE*,
                                                 REFIID riid, void** resource) override {
    auto* const place = static_cast<FakeHeap*>(heap);
    if (desc->Dimension != D3D12_RESOURCE_DIMENSION_BUFFER)
      return Give(*desc, nullptr, 0, riid, resource);
    const uint64_t size = desc->Width + more_bytes_asked;
    if (offset_bytes > place->size() || size > place->size() - offset_bytes) return E_INVALIDARG;
    // Newer devices take smaller alignments than they ask for at first.
    if (alignment_asked > 65536 && offset_bytes % alignment_asked != 0) return E_INVALIDARG;
    const bool crosses = (desc->Flags & D3D12_RESOURCE_FLAG_ALLOW_CROSS_ADAPTER) != 0;
    if (crosses && (place->desc().Flags & D3D12_HEAP_FLAG_SHARED_CROSS_ADAPTER) == 0) {
      return E_INVALIDARG;
    }
    return Give(*desc, place, offset_bytes, riid, resource);
  }
  HRESULT STDMETHODCALLTYPE CreateReservedResource(const D3D12_RESOURCE_DESC* desc,
                                                   D3D12_RESOURCE_STATES, const D3D12_CLEAR_VALUE*,
                                                   REFIID riid, void** resource) override {
    return Give(*desc, nullptr, 0, riid, resource);
  }
  // Tiles of 128 x 128 texels: of textures with one mip and 4 bytes a texel.
  void STDMETHODCALLTYPE GetResourceTiling(ID3D12Resource* resource, UINT* count,
                                           D3D12_PACKED_MIP_INFO* packed, D3D12_TILE_SHAPE* shape,
                                           UINT* subresource_count, UINT first,
                                           D3D12_SUBRESOURCE_TILING* subresources) override {
    constexpr UINT kEdge = 128;
    D3D12_RESOURCE_DESC desc = {};
    resource->GetDesc(&desc);
    const UINT width = static_cast<UINT>((desc.Width + kEdge - 1) / kEdge);
    const UINT height = (desc.Height + kEdge - 1) / kEdge;
    const UINT slices = desc.DepthOrArraySize;
    if (count != nullptr) *count = width * height * slices;
    if (packed != nullptr) *packed = {static_cast<UINT8>(desc.MipLevels), 0, 0, 0};
    if (shape != nullptr) *shape = {kEdge, kEdge, 1};
    if (subresource_count == nullptr) return;
    *subresource_count = first >= slices ? 0 : std::min(*subresource_count, slices - first);
    for (UINT i = 0; i < *subresource_count; ++i) {
      subresources[i] = {width, static_cast<UINT16>(height), 1, (first + i) * width * height};
    }
  }
  HRESULT STDMETHODCALLTYPE CreateDescriptorHeap(const D3D12_DESCRIPTOR_HEAP_DESC* desc,
                                                 REFIID riid, void** heap) override {
    if (static_cast<UINT>(desc->Type) >= D3D12_DESCRIPTOR_HEAP_TYPE_NUM_TYPES) return E_INVALIDARG;
    const uint64_t bytes =
        uint64_t{desc->NumDescriptors} * GetDescriptorHandleIncrementSize(desc->Type);
    if (!TakeMemory(bytes)) return E_OUTOFMEMORY;
    return GiveOut(new FakeDescriptorHeap(this, *desc, bytes), riid, heap);
  }
  HRESULT STDMETHODCALLTYPE CreateRootSignature(UINT, const void*, SIZE_T, REFIID riid,
                                                void** signature) override {
    return GiveOut(new Fake<NoChild<ID3D12RootSignature>, ID3D12RootSignature>(this), riid,
                   signature);
  }
  HRESULT STDMETHODCALLTYPE CreateComputePipelineState(
      const D3D12_COMPUTE_PIPELINE_STATE_DESC* desc, REFIID riid, void** pipeline) override {
    if (desc->NodeMask > 1) return E_INVALIDARG;
    return GiveOut(new Fake<NoPipeline, ID3D12PipelineState>(this), riid, pipeline);
  }
  HRESULT STDMETHODCALLTYPE CreatePipelineLibrary(const void*, SIZE_T, REFIID riid,
                                                  void** library) override {
    return GiveOut(new Fake<NoPipelineLibrary, ID3D12PipelineLibrary>(this), riid, library);
  }
  HRESULT STDMETHODCALLTYPE CreateQueryHeap(const D3D12_QUERY_HEAP_DESC*, REFIID riid,
                                            void** heap) override {
    return GiveOut(new Fake<NoChild<ID3D12QueryHeap>, ID3D12QueryHeap>(this), riid, heap);
  }
  HRESULT STDMETHODCALLTYPE CreateCommandSignature(const D3D12_COMMAND_SIGNATURE_DESC*,
                                                   ID3D12RootSignature*, REFIID riid,
                                                   void** signature) override {
    return GiveOut(new Fake<NoChild<ID3D12CommandSignature>, ID3D12CommandSignature>(this), riid,
                   signature);
  }
  HRESULT STDMETHODCALLTYPE CreateFence(UINT64 value, D3D12_FENCE_FLAGS flags, REFIID riid,
                                        void** fence) override {
    return GiveOut(new FakeFence(this, value, flags), riid, fence);
  }
  // A handle is the object, which it does not keep alive. A queue has none.
  HRESULT STDMETHODCALLTYPE CreateSharedHandle(ID3D12DeviceChild* object,
                                               const SECURITY_ATTRIBUTES*, DWORD, const WCHAR*,
                                               HANDLE* handle) override {
    ComPtr<ID3D12CommandQueue> queue;
    if (SUCCEEDED(object->QueryInterface(__uuidof(ID3D12CommandQueue),
                                         reinterpret_cast<void**>(queue.Receive())))) {
      return E_INVALIDARG;
    }
    std::memcpy(handle, &object, sizeof(*handle));
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE OpenSharedHandle(HANDLE handle, REFIID riid, void** object) override {
    ID3D12DeviceChild* shared = nullptr;
    std::memcpy(&shared, &handle, sizeof(handle));
    return shared == nullptr ? E_INVALIDARG : shared->QueryInterface(riid, object);
  }
  // Sets no event.
  HRESULT STDMETHODCALLTYPE SetEventOnMultipleFenceCompletion(ID3D12Fence* const*, const UINT64*,
                                                              UINT, D3D12_MULTIPLE_FENCE_WAIT_FLAGS,
                                                              HANDLE) override {
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() override {
    return removed_.load() ? DXGI_ERROR_DEVICE_REMOVED : S_OK;
  }
  LUID* STDMETHODCALLTYPE GetAdapterLuid(LUID* result) override {
    result->LowPart = kFakeLuidLow;
    result->HighPart = kFakeLuidHigh;
    return result;
  }

 private:
  HRESULT Give(const D3D12_RESOURCE_DESC& desc, FakeHeap* heap, uint64_t offset_bytes, REFIID riid,
               void** resource) {
    return GiveOut(new FakeResource(this, desc, heap, offset_bytes), riid, resource);
  }

  const Generation generation_;
  std::atomic<bool> removed_{false};
};

}  // namespace

ID3D12Device* CreateFakeDevice() {
  return new FakeDevice(Generation::kOld);
}

ID3D12Device* CreateNewerFakeDevice() {
  return new FakeDevice(Generation::kNewer);
}

ID3D12Device* CreateFakeDeviceWithPrograms() {
  return new FakeDevice(Generation::kPrograms);
}

void SetFakeSizes(uint64_t more_bytes, uint64_t alignment) {
  more_bytes_asked.store(more_bytes);
  alignment_asked.store(alignment);
}

void SetFakeScratch(uint64_t bytes) {
  scratch_asked.store(bytes);
}

FakeStructure LastFakeStructure() {
  const std::lock_guard lock(last_structure_mutex);
  return last_structure;
}

uint64_t LastFakeStructureView() {
  return last_structure_view.load();
}

std::map<uint64_t, uint64_t> TakeFakeStructureViews() {
  const std::lock_guard lock(structure_view_mutex);
  return std::exchange(structure_view_places, {});
}

uint64_t LastFakeStructureQuestion() {
  return last_structure_question.load();
}

uint64_t FakeStructureViews() {
  return structure_views.load();
}

uint32_t LastFakeHeapFlags() {
  return last_heap_flags.load();
}

int FakeHeapsMade() {
  return heaps_made.load();
}

uint64_t FakeGlobalBarriers() {
  return global_barriers.load();
}

void HoldFakeSignals(bool held) {
  std::vector<std::pair<ComPtr<ID3D12Fence>, uint64_t>> signals;
  {
    const std::lock_guard lock(signals_mutex);
    signals_held = held;
    if (!held) signals.swap(held_signals);
  }
  for (const auto& [fence, value] : signals) fence->Signal(value);
}

std::string LastFakeName() {
  const std::lock_guard lock(last_name_mutex);
  return last_name;
}

uint64_t LastFakeRootView() {
  return last_root_view.load();
}

bool LastFakeIndexViewWasNull() {
  return last_indices_null.load();
}

bool LastFakeVertexViewsWereNull() {
  return last_vertices_null.load();
}

uint64_t LastFakeIndirectWord() {
  return last_indirect_word.load();
}

uint32_t LastFakeIndirectCount() {
  return last_indirect_count.load();
}

uint64_t FakeExecutions() {
  return executions.load();
}

uint64_t FakeOvertakenMappings() {
  return overtaken_mappings.load();
}

int FakeObjectCount() {
  return fake_object_count.load();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
