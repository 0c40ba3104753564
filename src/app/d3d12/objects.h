// SPDX-License-Identifier: Apache-2.0
//
// Wrappers of device children that note something about their objects. Lists and queues have files of
// their own.
#ifndef CAIRN_APP_D3D12_OBJECTS_H_
#define CAIRN_APP_D3D12_OBJECTS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "cairn/breadcrumbs.h"

#include "app/annotations/marker_arena.h"
#include "app/d3d12/capture/import_capture.h"
#include "app/d3d12/capture/memory_capture.h"
#include "app/d3d12/device_child.h"
#include "app/d3d12/work.h"
#include "d3d12gen/thin.h"

namespace cairn {

class Context;

inline namespace CAIRN_D3D12_NAMESPACE {

// Buffers have their address and size in the object table; heaps their size.
class WrappedID3D12Resource final : public AnnotatedObject<ThinID3D12Resource> {
 public:
  WrappedID3D12Resource(WrappedID3D12Device& device, void* real, const Creation& creation);

  HRESULT STDMETHODCALLTYPE Map(UINT subresource, const D3D12_RANGE* read_range,
                                void** data) override;
  void STDMETHODCALLTYPE Unmap(UINT subresource, const D3D12_RANGE* written_range) override;
  HRESULT STDMETHODCALLTYPE WriteToSubresource(UINT subresource, const D3D12_BOX* box,
                                               const void* data, UINT row_pitch,
                                               UINT slice_pitch) override;
  HRESULT STDMETHODCALLTYPE ReadFromSubresource(void* data, UINT row_pitch, UINT slice_pitch,
                                                UINT subresource, const D3D12_BOX* box) override;

  MappingCapture& mappings() { return mappings_; }
  const MappingCapture& mappings() const { return mappings_; }

 protected:
  void OnEnd() override;
  void OnWoken() override { mappings_.FollowImportAgain(*this); }

 private:
  MappingCapture mappings_;
};

class WrappedID3D12Heap final : public AnnotatedObject<ThinID3D12Heap> {
 public:
  WrappedID3D12Heap(WrappedID3D12Device& device, void* real);

  // Returns the way in which the program opened it; nullopt for a heap that was made.
  const std::optional<Import>& import() const { return import_; }

 private:
  const std::optional<Import> import_ = ImportScope::Current();
};

// Keeps the markers of the lists that record with it, until it is reset.
class WrappedID3D12CommandAllocator final : public AnnotatedObject<ThinID3D12CommandAllocator> {
 public:
  WrappedID3D12CommandAllocator(WrappedID3D12Device& device, void* real);

  HRESULT STDMETHODCALLTYPE Reset() override;

  const std::shared_ptr<MarkerArena>& arena() const { return arena_; }

 private:
  std::shared_ptr<MarkerArena> arena_;
};

// Stores in the object table: the value that the fence was told to signal, the awaited one, and the
// completed one.
class WrappedID3D12Fence final : public AnnotatedObject<ThinID3D12Fence> {
 public:
  WrappedID3D12Fence(WrappedID3D12Device& device, void* real);

  UINT64 STDMETHODCALLTYPE GetCompletedValue() override;
  HRESULT STDMETHODCALLTYPE SetEventOnCompletion(UINT64 value, HANDLE event) override;
  HRESULT STDMETHODCALLTYPE Signal(UINT64 value) override;

  // Call it before a queue signals the fence. Returns false if the value is no evidence about this
  // queue: the fence may have had it before, or get it from another queue.
  bool SignalsFor(uint64_t queue, uint64_t value);
  // From now on the fence's value is no evidence for earlier signals of queues.
  void ForgetSignals();
  // Others may signal the fence unseen: a handle was made for them, or the fence came from one.
  // This is assumed only once it has a value that no queue here was told to signal.
  void MayBeShared() { shared_.store(true, std::memory_order_relaxed); }
  // Call it when the fence was opened in a second place: it is no longer known who brings it to a
  // value.
  void IsShared();

 protected:
  void OnEnd() override;

 private:
  // Checks copies that the CPU reads after the fence's state may have changed.
  void LookAtReadbacks();
  void LookForOthers();

  std::mutex capture_mutex_;        // CaptureLock
  std::atomic<uint64_t> raised_;    // the highest that it was told to come to
  std::atomic<uint64_t> queue_{0};  // the first that was told to signal it
  std::atomic<bool> shared_{false};
};

// Forgets its descriptors when it ends.
class WrappedID3D12DescriptorHeap final : public AnnotatedObject<ThinID3D12DescriptorHeap> {
 public:
  WrappedID3D12DescriptorHeap(WrappedID3D12Device& device, void* real);

 protected:
  void OnEnd() override;
};

// Keeps the note that lists use of a pipeline: a state, or a state object. The pipeline's present
// name is found by its pointer.
template <typename Thin>
class NotedPipeline : public AnnotatedObject<Thin> {
 public:
  PipelineNote& note() { return note_; }

 protected:
  NotedPipeline(WrappedID3D12Device& device, void* real) : AnnotatedObject<Thin>(device, real) {}

  void OnEnd() override {
    if (Context* const context = this->device()->context(); context != nullptr) note_.End(*context);
  }

 private:
  PipelineNote note_;
};

class WrappedID3D12PipelineState final : public NotedPipeline<ThinID3D12PipelineState> {
 public:
  WrappedID3D12PipelineState(WrappedID3D12Device& device, void* real);
};

class WrappedID3D12StateObject final : public NotedPipeline<ThinID3D12StateObject> {
 public:
  WrappedID3D12StateObject(WrappedID3D12Device& device, void* real);
};

class WrappedID3D12PipelineLibrary final : public AnnotatedObject<ThinID3D12PipelineLibrary> {
 public:
  WrappedID3D12PipelineLibrary(WrappedID3D12Device& device, void* real);

  // Record the shaders of pipelines.
  HRESULT STDMETHODCALLTYPE LoadGraphicsPipeline(const WCHAR* name,
                                                 const D3D12_GRAPHICS_PIPELINE_STATE_DESC* desc,
                                                 REFIID riid, void** pipeline) override;
  HRESULT STDMETHODCALLTYPE LoadComputePipeline(const WCHAR* name,
                                                const D3D12_COMPUTE_PIPELINE_STATE_DESC* desc,
                                                REFIID riid, void** pipeline) override;
  HRESULT STDMETHODCALLTYPE LoadPipeline(const WCHAR* name,
                                         const D3D12_PIPELINE_STATE_STREAM_DESC* desc, REFIID riid,
                                         void** pipeline) override;

 private:
  using Thin = AnnotatedObject<ThinID3D12PipelineLibrary>;
};

// Returns the marker arena of an allocator. Null for null and for allocators without a wrapper.
std::shared_ptr<MarkerArena> ArenaOf(ID3D12CommandAllocator* allocator);
// `pipeline`: a pipeline state or a state object; 0 for any other object.
CairnPipeline UsePipeline(Context& context, Wrapper& pipeline);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_OBJECTS_H_
