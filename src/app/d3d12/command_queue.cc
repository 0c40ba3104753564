// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/command_queue.h"

#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "app/breadcrumbs/context.h"
#include "app/d3d12/capture/device_capture.h"
#include "app/d3d12/capture/memory_capture.h"
#include "app/d3d12/graphics_command_list.h"
#include "app/d3d12/objects.h"
#include "app/d3d12/scratch.h"
#include "app/d3d12/work.h"
#include "app/recorder/block_writer.h"
#include "d3d12abi/aggregates.h"
#include "format/pix/pix_event.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// A marker whose text is "cairn:frame", in whichever format.
bool MarksFrame(UINT metadata, const void* data, UINT size) {
  constexpr UINT kLargestMark = 256;
  if (data == nullptr || size > kLargestMark) return false;
  try {
    return PixText(metadata, {static_cast<const std::byte*>(data), size}) == "cairn:frame";
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// Returns a capture's data of the graphics lists among these.
template <auto kPart>
auto PartsOf(UINT count, ID3D12CommandList* const* lists, Scratch* scratch) {
  using Part = std::remove_reference_t<decltype(std::declval<const ListCapture&>().*kPart)>;
  auto** const parts = lists == nullptr ? nullptr : scratch->Allocate<Part*>(count);
  size_t known = 0;
  for (UINT i = 0; i < count && parts != nullptr; ++i) {
    Wrapper* const wrapper = AsWrapper(lists[i]);
    if (wrapper == nullptr || wrapper->chain() != Chain::kID3D12GraphicsCommandList) continue;
    const ListCapture* const list =
        static_cast<WrappedID3D12GraphicsCommandList*>(wrapper)->captured();
    if (list != nullptr) parts[known++] = &(list->*kPart);
  }
  return std::span<Part* const>(parts, known);
}

}  // namespace

void BeforePresent(ID3D12CommandQueue* queue) {
  FlushStandIns();
  Wrapper* const wrapper = AsWrapper(queue);
  if (wrapper == nullptr || wrapper->device()->capture() == nullptr) return;
  wrapper->device()->capture()->BeforePresent();
}

void AfterPresent(ID3D12CommandQueue* queue, HRESULT result, const char* function) {
  Wrapper* const wrapper = AsWrapper(queue);
  if (wrapper != nullptr) wrapper->device()->NoteResult(result, function);
}

uint32_t WrappedID3D12CommandQueue::FenceIndex(ID3D12Fence* fence) const {
  const Wrapper* const wrapper = AsWrapper(fence);
  if (wrapper == nullptr || device()->block() == nullptr) return ObjectTable::kNone;
  return wrapper->object_index();
}

WrappedID3D12CommandQueue::WrappedID3D12CommandQueue(WrappedID3D12Device& device, void* real)
    : Thin(real),
      type_(QueueTypeOf(cairn::GetDesc(Thin::real()).Type)),
      annotations_(device.annotations(), real, interface_pointer()) {
  Register(device);
  Join(device);
  if (device.capture() != nullptr) device.capture()->AddQueue(this);
}

void WrappedID3D12CommandQueue::Register(const WrappedID3D12Device& device) {
  Context* const context = device.context();
  // Without room in the table its submissions are not noted; everything else works.
  if (context != nullptr) {
    static_cast<void>(context->RegisterQueue(interface_pointer(), type_, nullptr).ok());
  }
}

void WrappedID3D12CommandQueue::OnWoken() {
  Register(*device());
  if (device()->capture() != nullptr) device()->capture()->AddQueue(this);
}

void WrappedID3D12CommandQueue::OnNamed(std::string_view name) {
  if (Context* const context = device()->context(); context != nullptr) {
    const std::string text(name);
    static_cast<void>(context->RegisterQueue(interface_pointer(), type_, text.c_str()).ok());
  }
}

void WrappedID3D12CommandQueue::OnEnd() {
  if (device()->capture() != nullptr) device()->capture()->RemoveQueue(this);
  if (Context* const context = device()->context(); context != nullptr) {
    device()->submission_fences().ForgetQueue(interface_pointer());
    context->ForgetQueue(interface_pointer());
  }
}

void WrappedID3D12CommandQueue::NoteSubmission(UINT count, ID3D12CommandList* const* lists) {
  Context* const context = device()->context();
  if (context == nullptr || lists == nullptr) return;
  Scratch scratch;
  auto** const recordings = scratch.Allocate<CommandList*>(count);
  if (recordings == nullptr) return;
  uint32_t recorded = 0;
  for (UINT i = 0; i < count; ++i) {
    const Wrapper* const wrapper = AsWrapper(lists[i]);
    if (wrapper == nullptr || wrapper->breadcrumbs() == nullptr) continue;
    CommandList* const recording = wrapper->breadcrumbs()->recording();
    if (recording != nullptr && recording->context() == context) recordings[recorded++] = recording;
  }
  if (recorded == 0) return;
  try {
    if (!context->NotifySubmit(interface_pointer(), recordings, recorded).ok()) return;
    uint64_t number = 0;
    if (context->LastSubmission(interface_pointer(), &number).ok()) annotations_.OnSubmit(number);
  } catch (const std::bad_alloc&) {
    // The lists run all the same; the report does not know of it.
  }
}

void WrappedID3D12CommandQueue::NoteCopies(UINT count, ID3D12CommandList* const* lists) {
  DeviceCapture* const capture = device()->capture();
  if (capture == nullptr) return;
  Scratch scratch;
  capture->readbacks().BeforeExecute(PartsOf<&ListCapture::copies>(count, lists, &scratch),
                                     capture_number());
}

void WrappedID3D12CommandQueue::NoteExecuted(UINT count, ID3D12CommandList* const* lists) {
  DeviceCapture* const capture = device()->capture();
  if (capture == nullptr || lists == nullptr || count == 0) return;
  Scratch scratch;
  capture->Executed(PartsOf<&ListCapture::states>(count, lists, &scratch),
                    type_ == CAIRN_QUEUE_COPY, capture_number());
  capture->structures().Executed(PartsOf<&ListCapture::structures>(count, lists, &scratch), real());
}

void WrappedID3D12CommandQueue::ExecuteCommandLists(UINT count, ID3D12CommandList* const* lists) {
  if (device()->capture() != nullptr) [[unlikely]] {
    device()->capture()->StartIfPending();
  }
  {
    const CaptureLock lock(capture_mutex_);
    FlushMappedMemory(lock.capture());
    NoteSubmission(count, lists);
    if (lock.capture() != nullptr) [[unlikely]] {
      NoteCopies(count, lists);
    }
    Thin::ExecuteCommandLists(count, lists);
    if (lock.capture() != nullptr) [[unlikely]] {
      NoteExecuted(count, lists);
    }
  }
  if (count != 0) device()->CountSubmission();
  if (device()->capture() != nullptr) [[unlikely]] {
    device()->capture()->Submitted();
  }
}

void WrappedID3D12CommandQueue::BeginEvent(UINT metadata, const void* data, UINT size) {
  annotations_.BeginEvent(metadata, data, size);
  Thin::BeginEvent(metadata, data, size);
}

void WrappedID3D12CommandQueue::EndEvent() {
  Thin::EndEvent();
  annotations_.EndEvent();
}

void WrappedID3D12CommandQueue::SetMarker(UINT metadata, const void* data, UINT size) {
  annotations_.SetMarker(metadata, data, size);
  Thin::SetMarker(metadata, data, size);
  if (device()->capture() != nullptr && MarksFrame(metadata, data, size)) [[unlikely]] {
    device()->capture()->EndFrame(FrameEndKind::kMarker);
  }
}

HRESULT WrappedID3D12CommandQueue::Signal(ID3D12Fence* fence, UINT64 value) {
  const uint32_t noted = FenceIndex(fence);
  const CaptureLock lock(capture_mutex_);
  // Another queue may wait for this.
  FlushStandIns();
  const bool says_done = SaysWorkIsDone(fence, value);
  uint64_t submission = 0;
  if (Context* const context = device()->context(); context != nullptr && says_done) {
    static_cast<void>(context->LastSubmission(interface_pointer(), &submission).ok());
  }
  const HRESULT result = Thin::Signal(fence, value);
  if (SUCCEEDED(result) && noted != ObjectTable::kNone) {
    device()->block()->objects().NoteSignalled(noted, value);
  }
  if (SUCCEEDED(result) && says_done) NoteSignalled(fence, value, submission);
  device()->NoteResult(result, "ID3D12CommandQueue::Signal");
  return result;
}

HRESULT WrappedID3D12CommandQueue::SignalOnCpu(ID3D12Fence* fence, UINT64 value,
                                               int32_t (*next)(void* queue, void* fence,
                                                               uint64_t value)) {
  const uint32_t noted = FenceIndex(fence);
  const CaptureLock lock(capture_mutex_);
  FlushMappedMemory(lock.capture());
  // The value says nothing of what the GPU has done.
  if (SaysWorkIsDone(fence, value))
    static_cast<WrappedID3D12Fence&>(*AsWrapper(fence)).ForgetSignals();
  CallScope call(*this, Method::ID3D12CommandQueue_Signal, fence, value);
  const HRESULT result = next(real_pointer(), Unwrap(fence), value);
  if (SUCCEEDED(result) && noted != ObjectTable::kNone) {
    device()->block()->objects().NoteSignalled(noted, value);
  }
  device()->NoteResult(result, "vkd3d_queue_signal_on_cpu");
  return call.Returns(result, fence, value);
}

HRESULT SignalOnCpu(ID3D12CommandQueue* queue, ID3D12Fence* fence, UINT64 value,
                    int32_t (*next)(void* queue, void* fence, uint64_t value)) {
  Wrapper* const wrapper = AsWrapper(queue);
  if (wrapper == nullptr) return next(queue, Unwrap(fence), value);
  return static_cast<WrappedID3D12CommandQueue*>(wrapper)->SignalOnCpu(fence, value, next);
}

HRESULT WrappedID3D12CommandQueue::Wait(ID3D12Fence* fence, UINT64 value) {
  // Before the call: a queue that waits forever is the very thing that a report must show.
  if (const uint32_t noted = FenceIndex(fence); noted != ObjectTable::kNone) {
    device()->block()->objects().NoteWaited(noted, value);
  }
  const CaptureLock lock(capture_mutex_);
  const HRESULT result = Thin::Wait(fence, value);
  device()->NoteResult(result, "ID3D12CommandQueue::Wait");
  return result;
}

bool WrappedID3D12CommandQueue::SaysWorkIsDone(ID3D12Fence* fence, uint64_t value) {
  Wrapper* const wrapper = AsWrapper(fence);
  if (wrapper == nullptr || wrapper->device() != device()) return false;
  auto& signalled = static_cast<WrappedID3D12Fence&>(*wrapper);
  if (signalled.SignalsFor(capture_number(), value)) return true;
  signalled.ForgetSignals();
  return false;
}

void WrappedID3D12CommandQueue::NoteSignalled(ID3D12Fence* fence, uint64_t value,
                                              uint64_t submission) {
  const Wrapper& wrapper = *AsWrapper(fence);
  if (submission != 0) {
    device()->submission_fences().Add({static_cast<ID3D12Fence*>(wrapper.real_pointer()),
                                       wrapper.object_index(), value, interface_pointer(),
                                       submission});
  }
  if (device()->capture() == nullptr) [[likely]]
    return;
  device()->capture()->readbacks().Signalled(capture_number(), wrapper, value);
}

void WrappedID3D12CommandQueue::UpdateTileMappings(
    ID3D12Resource* resource, UINT region_count,
    const D3D12_TILED_RESOURCE_COORDINATE* region_starts,
    const D3D12_TILE_REGION_SIZE* region_sizes, ID3D12Heap* heap, UINT range_count,
    const D3D12_TILE_RANGE_FLAGS* range_flags, const UINT* heap_offsets, const UINT* tile_counts,
    D3D12_TILE_MAPPING_FLAGS flags) {
  const CaptureLock lock(capture_mutex_);
  Thin::UpdateTileMappings(resource, region_count, region_starts, region_sizes, heap, range_count,
                           range_flags, heap_offsets, tile_counts, flags);
}

void WrappedID3D12CommandQueue::CopyTileMappings(ID3D12Resource* to,
                                                 const D3D12_TILED_RESOURCE_COORDINATE* to_start,
                                                 ID3D12Resource* from,
                                                 const D3D12_TILED_RESOURCE_COORDINATE* from_start,
                                                 const D3D12_TILE_REGION_SIZE* size,
                                                 D3D12_TILE_MAPPING_FLAGS flags) {
  const CaptureLock lock(capture_mutex_);
  Thin::CopyTileMappings(to, to_start, from, from_start, size, flags);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
