// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/objects.h"

#include <algorithm>
#include <string>

#include "app/breadcrumbs/context.h"
#include "app/capture/mapped_memory.h"
#include "app/d3d12/capture/device_capture.h"
#include "app/d3d12/pipeline_stages.h"
#include "app/recorder/block_writer.h"
#include "d3d12abi/aggregates.h"
#include "d3d12abi/com_ptr.h"
#include "format/block/object_description.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

ObjectDescription DescriptionOf(const D3D12_RESOURCE_DESC& desc) {
  ObjectDescription description;
  switch (desc.Dimension) {
    case D3D12_RESOURCE_DIMENSION_BUFFER: description.shape = ObjectShape::kBuffer; break;
    case D3D12_RESOURCE_DIMENSION_TEXTURE1D: description.shape = ObjectShape::kTexture1D; break;
    case D3D12_RESOURCE_DIMENSION_TEXTURE2D: description.shape = ObjectShape::kTexture2D; break;
    case D3D12_RESOURCE_DIMENSION_TEXTURE3D: description.shape = ObjectShape::kTexture3D; break;
    default: return description;
  }
  if ((desc.Flags & D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS) != 0) {
    description.uses |= kUsedAsStorage;
  }
  if (description.shape == ObjectShape::kBuffer) return description;
  if ((desc.Flags & D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET) != 0) {
    description.uses |= kUsedAsTarget;
  }
  if ((desc.Flags & D3D12_RESOURCE_FLAG_ALLOW_DEPTH_STENCIL) != 0) description.uses |= kUsedAsDepth;
  description.format = static_cast<uint32_t>(desc.Format);
  description.width = static_cast<uint32_t>(std::min<UINT64>(desc.Width, UINT32_MAX));
  description.height = desc.Height;
  description.layers = desc.DepthOrArraySize;
  return description;
}

ObjectTable::Object FactsOf(ID3D12Resource* real) {
  ObjectTable::Object facts;
  const D3D12_RESOURCE_DESC desc = GetDesc(real);
  if (desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER) {
    facts.gpu_address = real->GetGPUVirtualAddress();
    facts.size_bytes = desc.Width;
  }
  facts.description = PackDescription(DescriptionOf(desc));
  return facts;
}

ObjectTable::Object FactsOf(ID3D12Heap* real) {
  const D3D12_HEAP_DESC desc = cairn::GetDesc(real);
  ObjectDescription description;
  description.shape = ObjectShape::kHeap;
  if (desc.Properties.Type == D3D12_HEAP_TYPE_UPLOAD) description.uses = kUsedAsUpload;
  if (desc.Properties.Type == D3D12_HEAP_TYPE_READBACK) description.uses = kUsedAsReadback;
  ObjectTable::Object facts;
  facts.size_bytes = desc.SizeInBytes;
  facts.description = PackDescription(description);
  return facts;
}

// Returns the range of handles of a heap's descriptors. Heaps that are not shader-visible have
// none.
ObjectTable::Object FactsOf(ID3D12DescriptorHeap* real, ID3D12Device* device) {
  ObjectTable::Object facts;
  const D3D12_DESCRIPTOR_HEAP_DESC desc = cairn::GetDesc(real);
  ObjectDescription description;
  description.shape = ObjectShape::kDescriptorHeap;
  description.format = static_cast<uint32_t>(desc.Type);
  description.width = desc.NumDescriptors & 0xFFFF;
  description.height = desc.NumDescriptors >> 16;
  description.layers = (desc.Flags & D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE) != 0 ? 1 : 0;
  facts.description = PackDescription(description);
  if ((desc.Flags & D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE) == 0) return facts;
  facts.gpu_address = GetGpuStart(real).ptr;
  facts.size_bytes =
      uint64_t{desc.NumDescriptors} * device->GetDescriptorHandleIncrementSize(desc.Type);
  return facts;
}

}  // namespace

WrappedID3D12Resource::WrappedID3D12Resource(WrappedID3D12Device& device, void* real,
                                             const Creation& creation)
    : AnnotatedObject(device, real), mappings_(creation) {
  Join(device, FactsOf(this->real()), creation);
  mappings_.FollowImport(*this);
}

HRESULT WrappedID3D12Resource::Map(UINT subresource, const D3D12_RANGE* read_range, void** data) {
  const HRESULT result = ThinID3D12Resource::Map(subresource, read_range, data);
  if (SUCCEEDED(result) && (Capture::Active() != nullptr || MappedMemory::Get().has_stand_ins()))
      [[unlikely]] {
    void* const given = mappings_.Mapped(*this, subresource, data == nullptr ? nullptr : *data);
    if (data != nullptr) *data = given;
    const bool reads = read_range == nullptr || read_range->Begin < read_range->End;
    if (reads && device()->capture() != nullptr) {
      device()->capture()->readbacks().LookAt(capture_number());
    }
  }
  return result;
}

void WrappedID3D12Resource::Unmap(UINT subresource, const D3D12_RANGE* written_range) {
  if (Capture::Active() != nullptr || MappedMemory::Get().mapped_bytes() != 0) [[unlikely]] {
    if (device()->capture() != nullptr) device()->capture()->readbacks().LookAt(capture_number());
    mappings_.Unmapping(*this, subresource);
  }
  ThinID3D12Resource::Unmap(subresource, written_range);
}

HRESULT WrappedID3D12Resource::WriteToSubresource(UINT subresource, const D3D12_BOX* box,
                                                  const void* data, UINT row_pitch,
                                                  UINT slice_pitch) {
  FlushStandIns();
  const HRESULT result =
      ThinID3D12Resource::WriteToSubresource(subresource, box, data, row_pitch, slice_pitch);
  if (MappedMemory::Get().has_stand_ins()) [[unlikely]] {
    MappedMemory::Get().Refresh(capture_number());
  }
  return result;
}

HRESULT WrappedID3D12Resource::ReadFromSubresource(void* data, UINT row_pitch, UINT slice_pitch,
                                                   UINT subresource, const D3D12_BOX* box) {
  FlushStandIns();
  return ThinID3D12Resource::ReadFromSubresource(data, row_pitch, slice_pitch, subresource, box);
}

void WrappedID3D12Resource::OnEnd() {
  // The resource's pages may still be protected, even after the capture has ended.
  ForgetMappedMemory(Capture::Active(), *this);
  mappings_.Ends(*this);
}

WrappedID3D12Heap::WrappedID3D12Heap(WrappedID3D12Device& device, void* real)
    : AnnotatedObject(device, real) {
  Join(device, FactsOf(this->real()));
}

// ---- Command allocators --------------------------------------------------------------------------

WrappedID3D12CommandAllocator::WrappedID3D12CommandAllocator(WrappedID3D12Device& device,
                                                             void* real)
    : AnnotatedObject(device, real), arena_(device.annotations().NewAllocatorArena(real)) {
  Join(device);
}

HRESULT WrappedID3D12CommandAllocator::Reset() {
  const HRESULT result = ThinID3D12CommandAllocator::Reset();
  if (SUCCEEDED(result) && arena_ != nullptr) arena_->Reset();
  return result;
}

std::shared_ptr<MarkerArena> ArenaOf(ID3D12CommandAllocator* allocator) {
  Wrapper* const wrapper = AsWrapper(allocator);
  if (wrapper == nullptr) return nullptr;
  return static_cast<WrappedID3D12CommandAllocator*>(wrapper)->arena();
}

// ---- Fences --------------------------------------------------------------------------------------

// A value that is no object's number.
constexpr uint64_t kSeveralQueues = kForeignObject;

WrappedID3D12Fence::WrappedID3D12Fence(WrappedID3D12Device& device, void* real)
    : AnnotatedObject(device, real) {
  ObjectTable::Object facts;
  facts.initial_completed = this->real()->GetCompletedValue();
  raised_.store(facts.initial_completed, std::memory_order_relaxed);
  Join(device, facts);
}

void WrappedID3D12Fence::OnEnd() {
  device()->submission_fences().Forget(real());
}

bool WrappedID3D12Fence::SignalsFor(uint64_t queue, uint64_t value) {
  uint64_t first = 0;
  if (!queue_.compare_exchange_strong(first, queue) && first != queue) {
    queue_.store(kSeveralQueues);
    return false;
  }
  uint64_t before = raised_.load(std::memory_order_relaxed);
  while (before < value && !raised_.compare_exchange_weak(before, value)) {
  }
  return before < value;
}

void WrappedID3D12Fence::ForgetSignals() {
  device()->submission_fences().Forget(real());
  if (DeviceCapture* const capture = device()->capture(); capture != nullptr) [[unlikely]] {
    capture->readbacks().ForgetFence(capture_number());
  }
}

void WrappedID3D12Fence::IsShared() {
  queue_.store(kSeveralQueues);
  device()->submission_fences().Distrust(real());
  if (DeviceCapture* const capture = device()->capture(); capture != nullptr) [[unlikely]] {
    capture->readbacks().DistrustFence(capture_number());
  }
}

// Finds out that others signal the fence: a value that no queue here was told to signal comes from
// another process, device or API, and earlier values may come from there, too.
void WrappedID3D12Fence::LookForOthers() {
  if (!shared_.load(std::memory_order_relaxed)) [[likely]]
    return;
  const UINT64 value = real()->GetCompletedValue();
  if (value == UINT64_MAX || value <= raised_.load()) return;
  IsShared();
}

void WrappedID3D12Fence::LookAtReadbacks() {
  RefreshStandIns();
  if (DeviceCapture* const capture = device()->capture(); capture != nullptr) [[unlikely]] {
    capture->readbacks().Look();
  }
}

UINT64 WrappedID3D12Fence::GetCompletedValue() {
  const UINT64 value = ThinID3D12Fence::GetCompletedValue();
  // All ones is what a lost device answers.
  if (BlockWriter* const block = ProcessBlock(); block != nullptr && value != UINT64_MAX) {
    block->objects().NoteCompleted(object_index(), value);
  }
  LookForOthers();
  device()->submission_fences().Reached(real(), value);
  LookAtReadbacks();
  return value;
}

HRESULT WrappedID3D12Fence::SetEventOnCompletion(UINT64 value, HANDLE event) {
  // Before the call: without an event it waits, maybe forever.
  if (BlockWriter* const block = ProcessBlock(); block != nullptr) {
    block->objects().NoteWaited(object_index(), value);
  }
  const HRESULT result = ThinID3D12Fence::SetEventOnCompletion(value, event);
  // The value may have been reached meanwhile: without an event the call has waited for it.
  LookForOthers();
  device()->submission_fences().Look(real());
  device()->NoteResult(result, "ID3D12Fence::SetEventOnCompletion");
  LookAtReadbacks();
  return result;
}

HRESULT WrappedID3D12Fence::Signal(UINT64 value) {
  const CaptureLock lock(capture_mutex_);
  // A queue may wait for this to read what the CPU wrote.
  FlushMappedMemory(lock.capture());
  ForgetSignals();
  // Before the call: another thread may see the value before the call returns.
  const uint64_t before = raised_.exchange(std::max(raised_.load(), value));
  const HRESULT result = ThinID3D12Fence::Signal(value);
  raised_.store(SUCCEEDED(result) ? value : before, std::memory_order_relaxed);
  if (BlockWriter* const block = ProcessBlock(); block != nullptr && SUCCEEDED(result)) {
    block->objects().NoteSignalled(object_index(), value);
    block->objects().NoteCompleted(object_index(), value);
  }
  return result;
}

// ---- Descriptor heaps ----------------------------------------------------------------------------

WrappedID3D12DescriptorHeap::WrappedID3D12DescriptorHeap(WrappedID3D12Device& device, void* real)
    : AnnotatedObject(device, real) {
  Join(device, FactsOf(this->real(), static_cast<ID3D12Device*>(device.real_pointer())));
}

void WrappedID3D12DescriptorHeap::OnEnd() {
  const D3D12_DESCRIPTOR_HEAP_DESC desc = cairn::GetDesc(real());
  uint32_t increment = 0;
  if (desc.Type == D3D12_DESCRIPTOR_HEAP_TYPE_RTV) increment = device()->render_target_increment();
  if (desc.Type == D3D12_DESCRIPTOR_HEAP_TYPE_DSV) increment = device()->depth_stencil_increment();
  if (increment == 0) return;
  const auto forget = [&](DescriptorShadow& shadow) {
    shadow.Forget(GetCpuStart(real()).ptr, increment, desc.NumDescriptors);
  };
  forget(device()->descriptor_shadow());
  if (device()->capture() != nullptr) device()->capture()->ForTargets(forget);
}

// ---- Pipelines -----------------------------------------------------------------------------------

WrappedID3D12PipelineState::WrappedID3D12PipelineState(WrappedID3D12Device& device, void* real)
    : NotedPipeline(device, real) {
  Join(device);
}

WrappedID3D12StateObject::WrappedID3D12StateObject(WrappedID3D12Device& device, void* real)
    : NotedPipeline(device, real) {
  Join(device);
}

WrappedID3D12PipelineLibrary::WrappedID3D12PipelineLibrary(WrappedID3D12Device& device, void* real)
    : AnnotatedObject(device, real) {
  Join(device);
}

HRESULT WrappedID3D12PipelineLibrary::LoadGraphicsPipeline(
    const WCHAR* name, const D3D12_GRAPHICS_PIPELINE_STATE_DESC* desc, REFIID riid,
    void** pipeline) {
  return CreateWithStages(desc, pipeline, [&](void** out) {
    return Thin::LoadGraphicsPipeline(name, desc, riid, out);
  });
}

HRESULT WrappedID3D12PipelineLibrary::LoadComputePipeline(
    const WCHAR* name, const D3D12_COMPUTE_PIPELINE_STATE_DESC* desc, REFIID riid,
    void** pipeline) {
  return CreateWithStages(
      desc, pipeline, [&](void** out) { return Thin::LoadComputePipeline(name, desc, riid, out); });
}

HRESULT WrappedID3D12PipelineLibrary::LoadPipeline(const WCHAR* name,
                                                   const D3D12_PIPELINE_STATE_STREAM_DESC* desc,
                                                   REFIID riid, void** pipeline) {
  return CreateWithStages(desc, pipeline,
                          [&](void** out) { return Thin::LoadPipeline(name, desc, riid, out); });
}

CairnPipeline UsePipeline(Context& context, Wrapper& pipeline) {
  PipelineNote* note = nullptr;
  switch (pipeline.chain()) {
    case Chain::kID3D12PipelineState:
      note = &static_cast<WrappedID3D12PipelineState&>(pipeline).note();
      break;
    case Chain::kID3D12StateObject:
      note = &static_cast<WrappedID3D12StateObject&>(pipeline).note();
      break;
    default: return 0;
  }
  if (const CairnPipeline known = note->number(); known != 0) return known;
  return note->Register(context, pipeline.interface_pointer(), pipeline.Name().c_str());
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
