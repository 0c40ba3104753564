// SPDX-License-Identifier: Apache-2.0
//
// The wrapper of command queues. Submissions are noted before the real call, so that what the GPU then
// does can be told, whatever happens in between; values of fences that the queue signals or waits for
// are noted with the fence.
#ifndef CAIRN_APP_D3D12_COMMAND_QUEUE_H_
#define CAIRN_APP_D3D12_COMMAND_QUEUE_H_

#include <cstdint>
#include <mutex>
#include <string_view>

#include "app/annotations/runtime.h"
#include "app/d3d12/device.h"
#include "d3d12gen/thin.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class WrappedID3D12CommandQueue final : public ThinID3D12CommandQueue {
 public:
  WrappedID3D12CommandQueue(WrappedID3D12Device& device, void* real);

  void STDMETHODCALLTYPE ExecuteCommandLists(UINT count, ID3D12CommandList* const* lists) override;
  void STDMETHODCALLTYPE BeginEvent(UINT metadata, const void* data, UINT size) override;
  void STDMETHODCALLTYPE EndEvent() override;
  void STDMETHODCALLTYPE SetMarker(UINT metadata, const void* data, UINT size) override;
  HRESULT STDMETHODCALLTYPE Signal(ID3D12Fence* fence, UINT64 value) override;
  HRESULT STDMETHODCALLTYPE Wait(ID3D12Fence* fence, UINT64 value) override;
  void STDMETHODCALLTYPE UpdateTileMappings(ID3D12Resource* resource, UINT region_count,
                                            const D3D12_TILED_RESOURCE_COORDINATE* region_starts,
                                            const D3D12_TILE_REGION_SIZE* region_sizes,
                                            ID3D12Heap* heap, UINT range_count,
                                            const D3D12_TILE_RANGE_FLAGS* range_flags,
                                            const UINT* heap_offsets, const UINT* tile_counts,
                                            D3D12_TILE_MAPPING_FLAGS flags) override;
  void STDMETHODCALLTYPE CopyTileMappings(ID3D12Resource* to,
                                          const D3D12_TILED_RESOURCE_COORDINATE* to_start,
                                          ID3D12Resource* from,
                                          const D3D12_TILED_RESOURCE_COORDINATE* from_start,
                                          const D3D12_TILE_REGION_SIZE* size,
                                          D3D12_TILE_MAPPING_FLAGS flags) override;

  // vkd3d_queue_signal_on_cpu: layer.h.
  HRESULT SignalOnCpu(ID3D12Fence* fence, UINT64 value,
                      int32_t (*next)(void* queue, void* fence, uint64_t value));

  // Used by CaptureLock.
  std::mutex& capture_mutex() { return capture_mutex_; }

 protected:
  AnnotatedChild* annotated() override { return &annotations_; }
  void OnNamed(std::string_view name) override;
  void OnEnd() override;
  void OnWoken() override;

 private:
  using Thin = ThinID3D12CommandQueue;

  // Registers the queue, so that its submissions are recorded in the device's block.
  void Register(const WrappedID3D12Device& device);

  // Returns the fence's index in the block's table; ObjectTable::kNone if it is not there.
  uint32_t FenceIndex(ID3D12Fence* fence) const;
  void NoteSubmission(UINT count, ID3D12CommandList* const* lists);
  // For the capture of the device: what the lists will copy, and what they did to resources.
  void NoteCopies(UINT count, ID3D12CommandList* const* lists);
  void NoteExecuted(UINT count, ID3D12CommandList* const* lists);
  // A signal of the queue: before the call, whether the fence's value will say that what the queue was given
  // is done; after it, that it will.
  bool SaysWorkIsDone(ID3D12Fence* fence, uint64_t value);
  void NoteSignalled(ID3D12Fence* fence, uint64_t value, uint64_t submission);

  const CairnQueueType type_;
  AnnotatedQueue annotations_;
  std::mutex capture_mutex_;  // CaptureLock
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_COMMAND_QUEUE_H_
